"""A routing policy as data: who is asked first, for what, and when the other takes over. JSON in and out."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from speedqual.errors import ConfigError
from speedqual.records import Plain

__all__ = ["Policy"]

_FORMAT = 1
_FALL_BACK = 'Write {"when": ["failed", "deadline", "check"], "deadline_ms": 800}'
PERFECT = "perfect check"


@dataclass(frozen=True)
class Policy(Plain):
    """Ask ``fast`` first where the item's ``column`` is one of ``values`` (everywhere when ``column`` is empty), else
    ``strong``.

    ``strong`` takes over when the fast one fails, stalls past ``deadline_ms``, or, with ``check``, when its answer does
    not pass. ``deadline_ms`` None = the fast one's own deadlines.

    The check looks at the form of an answer, as a product can while it runs. ``perfect``: the grader checks instead; it
    knows the right answers, which no product does, so that such a route shows what a better check could bring at most.
    """

    fast: str
    strong: str
    column: str = ""
    values: tuple[str, ...] = ()
    check: bool = True
    deadline_ms: float | None = None
    perfect: bool = False

    def goes_fast(self, row: Mapping[str, Any]) -> bool:
        """True when an item with these columns is for the fast one.

        >>> Policy("a", "b", "difficulty", ("easy",)).goes_fast({"difficulty": "hard"})
        False
        """
        return not self.column or str(row.get(self.column, "")) in self.values

    def to_dict(self) -> dict[str, Any]:
        """The JSON form; ``from_dict`` reads it back."""
        when = ["failed", "deadline", *(["check"] if self.check else [])]
        assumes = {"assumes": PERFECT} if self.perfect else {}
        return {
            "kind": "route",
            "format": _FORMAT,
            "fast": self.fast,
            "strong": self.strong,
            "send_to_fast": {"column": self.column, "values": list(self.values)} if self.column else "all",
            "fall_back": {"when": when, "deadline_ms": self.deadline_ms, **assumes},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], where: str = "policy") -> Policy:
        """Read the JSON form. Raises ConfigError naming the field."""
        if data.get("kind") != "route" or data.get("format") != _FORMAT:
            raise ConfigError("this is no routing policy of format 1", where=where, fix="Write it with speedqual route")
        for name in ("fast", "strong"):
            if not isinstance(data.get(name), str) or not data[name]:
                raise ConfigError(f"{name} is missing", where=where, fix="Name a candidate")
        column, values = _sent_to_fast(data.get("send_to_fast", "all"), where)
        back = data.get("fall_back", {})
        if not isinstance(back, Mapping) or not isinstance(back.get("when", []), list):
            raise ConfigError("fall_back is no object with a list when", where=where, fix=_FALL_BACK)
        perfect = back.get("assumes")
        if perfect not in (None, PERFECT):
            fix = f"Write {PERFECT!r} or leave it out"
            raise ConfigError(f"{perfect!r} is nothing that a policy can assume", where=where, fix=fix)
        check, deadline_ms = "check" in back.get("when", []), _deadline(back.get("deadline_ms"), where)
        return cls(data["fast"], data["strong"], column, values, check, deadline_ms, perfect is not None)

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


def _sent_to_fast(send: Any, where: str) -> tuple[str, tuple[str, ...]]:
    """Column and values; empty = everything goes to the fast one."""
    if send == "all":
        return "", ()
    if not isinstance(send, Mapping) or not send.get("column") or not isinstance(send.get("values"), list):
        fix = 'Write "all", or {"column": "difficulty", "values": ["easy"]}'
        raise ConfigError("send_to_fast names no column with values", where=where, fix=fix)
    return str(send["column"]), tuple(str(value) for value in send["values"])


def _deadline(value: Any, where: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
        raise ConfigError(f"deadline_ms is {value!r}", where=where, fix="Give milliseconds above 0, or null")
    return float(value)
