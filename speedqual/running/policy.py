"""A routing policy as data: who is asked first, for what, and when the other takes over. JSON in and out."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from speedqual.errors import ConfigError

__all__ = ["Policy"]

_FORMAT = 1


@dataclass(frozen=True)
class Policy:
    """Ask ``fast`` first where the item's ``column`` is one of ``values`` (everywhere when ``column`` is empty), else
    ``strong``.

    ``strong`` takes over when the fast one fails, stalls past ``deadline_ms``, or, with ``check``, when its answer does
    not pass. ``deadline_ms`` None = the fast one's own deadlines.
    """

    fast: str
    strong: str
    column: str = ""
    values: tuple[str, ...] = ()
    check: bool = True
    deadline_ms: float | None = None

    def goes_fast(self, row: dict[str, Any]) -> bool:
        """True when an item with these columns is for the fast one.

        >>> Policy("a", "b", "difficulty", ("easy",)).goes_fast({"difficulty": "hard"})
        False
        """
        return not self.column or str(row.get(self.column, "")) in self.values

    def to_dict(self) -> dict[str, Any]:
        """The JSON form; ``from_dict`` reads it back."""
        when = ["failed", "deadline", *(["check"] if self.check else [])]
        return {
            "kind": "route",
            "format": _FORMAT,
            "fast": self.fast,
            "strong": self.strong,
            "send_to_fast": {"column": self.column, "values": list(self.values)} if self.column else "all",
            "fall_back": {"when": when, "deadline_ms": self.deadline_ms},
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any], where: str = "policy") -> Policy:
        """Read the JSON form. Raises ConfigError naming the field."""
        if data.get("kind") != "route" or data.get("format") != _FORMAT:
            raise ConfigError("this is no routing policy of format 1", where=where, fix="Write it with speedqual route")
        for name in ("fast", "strong"):
            if not isinstance(data.get(name), str) or not data[name]:
                raise ConfigError(f"{name} is missing", where=where, fix="Name a candidate")
        send, back = data.get("send_to_fast", "all"), data.get("fall_back", {})
        column = "" if send == "all" else str(send["column"])
        values = () if send == "all" else tuple(str(v) for v in send["values"])
        check = "check" in back.get("when", [])
        return cls(data["fast"], data["strong"], column, values, check, back.get("deadline_ms"))

    def save(self, path: str | Path) -> Path:
        """Write it as JSON."""
        path = Path(path)
        path.write_text(json.dumps(self.to_dict(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        return path

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Read a saved policy. Raises ConfigError when it is none."""
        path = Path(path)
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as fault:
            raise ConfigError(f"cannot be read ({fault})", where=path.name, fix="Give a policy's JSON") from fault
        return cls.from_dict(data if isinstance(data, dict) else {}, path.name)
