"""The keys that may stand under ``speedqual:`` in a card, and what each may hold.

One small reader a key turns the YAML value into ours, or raises ``Wrong`` with what is wrong and how to mend it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from speedqual.evalsets.generators import NAMES as GENERATORS
from speedqual.evalsets.problems import nearest, quoted
from speedqual.records import Message

__all__ = ["KEYS", "ROLES", "Fewshot", "GraderKey", "Tiers", "Wrong", "suggest"]

ROLES = ("system", "user", "assistant", "tool")


class Wrong(ValueError):
    """A value that its key cannot hold. ``path`` leads from the key to the part that is wrong."""

    def __init__(self, what: str, fix: str, *path: str | int) -> None:
        super().__init__(what)
        self.what, self.fix, self.path = what, fix, path


@dataclass(frozen=True, slots=True)
class Fewshot:
    """Examples: the first ``n`` rows of ``<split>.jsonl``, shuffled by ``seed`` when there is one."""

    split: str = "fewshot"
    n: int = 0
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Tiers:
    """The column that says how hard an item is, and its values from easy to hard."""

    by: str = "tier"
    order: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GraderKey:
    """``grader:`` as written; the name is empty when only options stand there."""

    name: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise Wrong(f"must be text, not {_kind(value)}", "Put it in quotes")
    return value


def _filled(value: Any) -> str:
    if not _text(value).strip():
        raise Wrong("is empty", "Write it or remove the key")
    return _text(value)


def _label(value: Any) -> str:
    """Text or a number: versions and tiers are often written bare."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise Wrong(f"must be text, not {_kind(value)}", "Put it in quotes")
    return str(value)


def _labels(value: Any) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value]
    labels = []
    for index, one in enumerate(values):
        try:
            labels.append(_label(one))
        except Wrong as wrong:
            raise Wrong(wrong.what, wrong.fix, *([index] if isinstance(value, list) else [])) from None
    if len(set(labels)) != len(labels):
        raise Wrong("names a value twice", "Name each once")
    return tuple(labels)


def _stop(value: Any) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value]
    if not all(isinstance(one, str) and one for one in values):
        raise Wrong("must be text or a list of texts, none empty", 'Write stop: ["###"]')
    return tuple(values)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        shown = f"{value!r}" if isinstance(value, str) else _kind(value)
        raise Wrong(f"must be a number, not {shown}", _number_hint(value))
    return float(value)


def _number_hint(value: Any) -> str:
    text = value.strip() if isinstance(value, str) else ""
    if text.endswith("%") and text[:-1].strip().replace(".", "", 1).isdigit():
        return f"Write {float(text[:-1]) / 100:g}"
    if text.replace(",", "", 1).isdigit():
        return f"Write {text.replace(',', '.')}"
    return "Write a plain number without quotes or unit"


def _share(value: Any) -> float:
    number = _number(value)
    if not 0 <= number <= 1:
        hint = f"Write {number / 100:g} for {number:g} %" if 10 <= number <= 100 else "Write a share such as 0.9"
        raise Wrong(f"is {number:g}, outside 0 to 1", hint)
    return number


def _positive_share(value: Any) -> float:
    if _share(value) == 0:
        raise Wrong("is 0, so that every answer would be a success", "Write a share above 0, at most 1")
    return _share(value)


def _whole(value: Any) -> int:
    if _number(value) != int(value):
        raise Wrong(f"must be a whole number, not {value}", "Write it without a fraction")
    return int(value)


def _count(value: Any) -> int:
    if _whole(value) < 1:
        raise Wrong(f"is {value}, below 1", "Write a whole number from 1")
    return int(value)


def _seconds(value: Any) -> float:
    if _number(value) <= 0:
        raise Wrong(f"is {value}, not above 0", "Write seconds, such as 30")
    return float(value)


def _messages(value: Any) -> tuple[Message, ...]:
    if not isinstance(value, list) or not value:
        raise Wrong("must be a list of turns", "Write messages: [{role: user, content: …}]")
    return tuple(_message(turn, index) for index, turn in enumerate(value))


def _message(turn: Any, index: int) -> Message:
    if not isinstance(turn, dict) or set(turn) != {"role", "content"}:
        raise Wrong("turns have exactly a role and a content", "Write {role: user, content: …}", index)
    if turn["role"] not in ROLES:
        raise Wrong(f"{turn['role']!r} is no role", f"Use one of: {quoted(ROLES)}", index, "role")
    if not isinstance(turn["content"], str):
        raise Wrong("the content must be text", "Put it in quotes", index, "content")
    return Message(turn["role"], turn["content"])


def _grader(value: Any) -> GraderKey:
    if isinstance(value, str):
        return GraderKey(value)
    if not isinstance(value, dict):
        raise Wrong(f"must be a name or a table, not {_kind(value)}", "Write grader: {name: extraction}")
    name = value.get("name", "")
    if not isinstance(name, str):
        raise Wrong("must be text", "Name a grader", "name")
    return GraderKey(name, {key: option for key, option in value.items() if key != "name"})


def _tiers(value: Any) -> Tiers:
    if isinstance(value, list):
        return Tiers(order=_labels(value))
    readers: dict[str, Callable[[Any], Any]] = {"by": _filled, "order": _labels}
    return Tiers(**_table(value, readers, "Write tiers: {by: tier, order: [easy, hard]}"))


def _fewshot(value: Any) -> Fewshot:
    if isinstance(value, int) and not isinstance(value, bool):
        value = {"n": value}
    readers = {"split": _filled, "n": _shots, "seed": _whole}
    return Fewshot(**_table(value, readers, "Write fewshot: {split: fewshot, n: 2}"))


def _generator(value: Any) -> str:
    if _filled(value) not in GENERATORS:
        raise Wrong(f"names no generator: {value!r}", f"Use one of: {quoted(GENERATORS)}, or remove the key")
    return str(value)


def _shots(value: Any) -> int:
    if _whole(value) < 0:
        raise Wrong(f"is {value}, below 0", "Write how many examples stand in a prompt")
    return int(value)


def _table(value: Any, readers: Mapping[str, Callable[[Any], Any]], example: str) -> dict[str, Any]:
    """Read a small table of known keys."""
    if not isinstance(value, dict):
        raise Wrong(f"must be a table, not {_kind(value)}", example)
    read: dict[str, Any] = {}
    for key, one in value.items():
        if key not in readers:
            raise Wrong("is no known key", suggest(key, readers), key)
        try:
            read[key] = readers[key](one)
        except Wrong as wrong:
            raise Wrong(wrong.what, wrong.fix, key, *wrong.path) from None
    return read


def suggest(key: str, known: Mapping[str, Any] | tuple[str, ...]) -> str:
    """The fix for an unknown key: the nearest known one, or all of them."""
    near = nearest(key, known)
    return f"Write {near}" if near else f"Use one of: {', '.join(known)}"


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    names: dict[type, str] = {str: "text", int: "a number", float: "a number", list: "a list", dict: "a table"}
    return names.get(type(value), "empty")


KEYS: dict[str, Callable[[Any], Any]] = {
    "task": _filled,
    "prompt": _filled,
    "messages": _messages,
    "system": _text,
    "grader": _grader,
    "floor": _share,
    "success_at": _positive_share,
    "tiers": _tiers,
    "cluster": _filled,
    "fewshot": _fewshot,
    "max_tokens": _count,
    "stop": _stop,
    "repeats": _count,
    "timeout": _seconds,
    "version": _label,
    "languages": _labels,
    "generator": _generator,
}
"""Every key under ``speedqual:`` and its reader."""
