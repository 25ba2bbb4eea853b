"""Reading JSON as it streams: which fields are closed after which character, and where strict JSON breaks.

One pass, token by token, nothing is looked at twice. A field is a name with its value, both closed; of nested ones the
inner closes first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

__all__ = ["JsonField", "JsonScan", "scan_json"]

MAX_DEPTH = 100
"""Values nested deeper are not followed."""
MAX_STARTS = 50
"""Brackets of prose that are tried before the search for the value ends."""
_BRACKET = re.compile(r"[{\[]")
_MEANT = re.compile(r"\{\s*(?:['\"\u201c\u2018]|\w+\s*:|//|/\*)|\[\s*[{'\"]")
"""How a value begins, however it goes on."""
_SPACE = re.compile(r"[ \t\r\n]*")
_STRING_BODY = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_NUMBER_BEGUN = re.compile(r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE][+-]?[0-9]*)?)?")
_WORDS = {"t": "true", "f": "false", "n": "null"}
_ESCAPE_BEGUN = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")


@dataclass(frozen=True, slots=True)
class JsonField:
    """``path`` as in ``items[0].sku``; closed after ``end`` characters. ``value`` of an object or list: None."""

    path: str
    end: int
    top: str  # the outermost name around it
    value: Any = None
    is_leaf: bool = True


@dataclass(frozen=True, slots=True)
class JsonScan:
    """``broken``: characters after which the text was no strict JSON any more; None = never. ``begun``: a value was."""

    fields: tuple[JsonField, ...] = ()
    broken: int | None = None
    begun: bool = False


def scan_json(text: str, keys: Collection[str] = ()) -> JsonScan:
    """The first value of the text with a field of ``keys``; without one, the first that has any field.

    A bracket that breaks before any field has closed, and does not begin like a value, is prose. Where no value has a
    field, the first break of all stands.
    """
    first: JsonScan | None = None
    at = 0
    for _ in range(MAX_STARTS):
        start = _BRACKET.search(text, at)
        if start is None:
            break
        reader = _Reader(text, start.start())
        reader.read()
        found = JsonScan(tuple(reader.fields), reader.broken, begun=True)
        if any(not keys or one.top in keys for one in found.fields):
            return found
        if found.broken is not None and not found.fields and _MEANT.match(text, start.start()):
            return first if first is not None and first.fields else found
        first = found if first is None or (reader.fields and not first.fields) else first
        at = reader.at if reader.broken is None else max(reader.furthest, start.end())
    return first or JsonScan()


@dataclass(slots=True)
class _Open:
    """An object or list that is not closed yet."""

    is_object: bool
    path: str
    keys: set[str] = field(default_factory=set)
    key: str = ""
    n: int = 0
    after_comma: bool = False

    def inner_path(self) -> str:
        if not self.is_object:
            return f"{self.path}[{self.n}]"
        return f"{self.path}.{self.key}" if self.path else self.key


class _Break(Exception):
    """The grammar broke at this index."""


class _Ended(Exception):
    """The text came to its end inside the value."""


class _Reader:
    """Reads one value from a bracket on, without recursion."""

    def __init__(self, text: str, start: int) -> None:
        self.text, self.at, self.furthest = text, start, start
        self.fields: list[JsonField] = []
        self.broken: int | None = None
        self.open: list[_Open] = []

    def read(self) -> None:
        try:
            self.value("")
            while self.open:
                self.step(self.open[-1])
        except _Break:
            self.broken = min(self.at + 1, len(self.text))
        except _Ended:
            self.at = len(self.text)
        self.furthest = max(self.furthest, self.at)

    def step(self, inside: _Open) -> None:
        """One element or field of the innermost open value, or its end."""
        mark = self.peek()
        if mark == ("}" if inside.is_object else "]"):
            if inside.after_comma:
                raise _Break
            self.at += 1
            self.open.pop()
            self.close("", self.at)
            return
        if inside.n and not inside.after_comma:
            if mark != ",":
                raise _Break
            self.at += 1
            inside.after_comma = True
            return
        if inside.is_object:
            self.key(inside)
        inside.after_comma = False
        self.peek()
        self.value(inside.inner_path())

    def key(self, inside: _Open) -> None:
        if self.peek() != '"':
            raise _Break
        start = self.at
        self.string()
        inside.key = json.loads(self.text[start : self.at])
        if inside.key in inside.keys:
            self.at -= 1
            raise _Break
        inside.keys.add(inside.key)
        if self.peek() != ":":
            raise _Break
        self.at += 1

    def value(self, path: str) -> None:
        start, mark = self.at, self.text[self.at]
        if mark in "{[":
            if len(self.open) >= MAX_DEPTH:
                raise _Ended
            self.open.append(_Open(mark == "{", path))
            self.at += 1
            return
        if mark == '"':
            self.string()
        elif mark in _WORDS:
            self.word(_WORDS[mark])
        else:
            self.number()
        # a number is known to be closed only when what follows it is there
        self.close(self.text[start : self.at], self.at + (mark not in _WORDS and mark != '"'))

    def close(self, leaf: str, end: int) -> None:
        """A value has ended here: with its name it makes a field of the object around it."""
        if not self.open:
            return
        around = self.open[-1]
        if around.is_object:
            top = next(one.key for one in self.open if one.is_object)
            value = json.loads(leaf) if leaf else None
            self.fields.append(JsonField(around.inner_path(), end, top, value, bool(leaf)))
        around.n += 1

    def peek(self) -> str:
        space = _SPACE.match(self.text, self.at)
        self.at = space.end() if space else self.at
        if self.at >= len(self.text):
            raise _Ended
        return self.text[self.at]

    def string(self) -> None:
        body = _STRING_BODY.match(self.text, self.at)
        self.at = body.end() if body else self.at
        if self.at >= len(self.text) or _ESCAPE_BEGUN.match(self.text, self.at):
            raise _Ended
        if self.text[self.at] != '"':
            raise _Break
        self.at += 1

    def word(self, word: str) -> None:
        for letter in word:
            if self.at >= len(self.text):
                raise _Ended
            if self.text[self.at] != letter:
                raise _Break
            self.at += 1

    def number(self) -> None:
        """Closed only by what follows it."""
        whole, begun = _NUMBER.match(self.text, self.at), _NUMBER_BEGUN.match(self.text, self.at)
        self.at = begun.end() if begun else self.at
        if self.at >= len(self.text):
            raise _Ended
        if whole is None or whole.end() != self.at or self.text[self.at] not in " \t\r\n,]}":
            raise _Break
