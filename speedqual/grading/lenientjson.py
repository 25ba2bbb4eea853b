"""A second, forgiving reading of text that is almost JSON, with every kind of repair named.

Mended: trailing commas, other quotes, bare keys, ``None``/``True``/``False``, comments, raw line breaks in strings,
full-width punctuation. Never mended, because they would be guesses: ``012``, ``NaN``, a missing value, a missing end.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from speedqual.grading.normalise.numbers import ExactFloat

__all__ = ["CutOff", "Mended", "NotJson", "mend"]

MAX_DEPTH = 100
_CONSTANTS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?(?![\w.])")
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_GAP = re.compile(r"[ \t\r\n\u00a0\u3000]+")
_COMMENT = re.compile(r"//[^\n]*|#[^\n]*|/\*.*?\*/", re.DOTALL)
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "”": "”", "＂": "＂", "`": "`"}
_ESCAPES = {'"': '"', "'": "'", "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "`": "`"}


class NotJson(ValueError):
    """The text at ``args[0]`` is no value, even read kindly."""


class CutOff(ValueError):
    """All is well up to the end of the text, which comes too early. ``recovered``: what was complete."""

    def __init__(self, recovered: Any) -> None:
        super().__init__("cut off")
        self.recovered = recovered


class Mended(NamedTuple):
    """``repairs``: kind → how often. Empty = the text was JSON as it stood."""

    value: Any
    end: int
    repairs: dict[str, int]


def mend(text: str, start: int = 0) -> Mended:
    """The value that begins at ``start``. Raises NotJson, or CutOff with what could be saved."""
    reader = _Reader(text, start)
    value = reader.value(0)
    return Mended(value, reader.at, reader.repairs)


class _Reader:
    def __init__(self, text: str, at: int) -> None:
        self.text, self.at = text, at
        self.repairs: dict[str, int] = {}

    def note(self, kind: str) -> None:
        self.repairs[kind] = self.repairs.get(kind, 0) + 1

    def skip(self) -> None:
        """Past white space and comments."""
        while True:
            if gap := _GAP.match(self.text, self.at):
                if not gap.group().isascii():
                    self.note("white_space")
                self.at = gap.end()
            elif comment := _COMMENT.match(self.text, self.at):
                self.note("comment")
                self.at = comment.end()
            else:
                return

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def value(self, depth: int) -> Any:
        self.skip()
        char = self.peek()
        if not char:
            raise CutOff(None)
        if depth > MAX_DEPTH:
            raise NotJson(self.at)
        if char == "{":
            return self.object(depth)
        if char == "[":
            return self.array(depth)
        if char in _QUOTES:
            return self.string()
        return self.scalar()

    def object(self, depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        self.at += 1
        while True:
            self.skip()
            char = self.peek()
            if char == "}":
                return self.close(made)
            if not char:
                raise CutOff(made)
            try:
                key = self.key()
                self.skip()
                self.expect(":：", made)
                item = self.value(depth + 1)
            except CutOff as cut:
                raise CutOff(_with(made, locals().get("key"), cut.recovered)) from None
            if key in made:
                self.note("duplicate_key" if made[key] == item else "conflicting_key")
            made[key] = item
            if self.separator("}", made):
                return self.close(made)

    def array(self, depth: int) -> list[Any]:
        made: list[Any] = []
        self.at += 1
        while True:
            self.skip()
            if self.peek() == "]":
                self.at += 1
                return made
            try:
                made.append(self.value(depth + 1))
            except CutOff as cut:
                raise CutOff(made if cut.recovered in (None, {}, []) else [*made, cut.recovered]) from None
            if self.separator("]", made):
                self.at += 1
                return made

    def close(self, made: dict[str, Any]) -> dict[str, Any]:
        self.at += 1
        return made

    def separator(self, end: str, made: Any) -> bool:
        """Past a comma; True at the closing bracket, also after a trailing comma."""
        self.skip()
        char = self.peek()
        if char == end:
            return True
        if not char:
            raise CutOff(made)
        if char not in ",，":
            raise NotJson(self.at)
        if char == "，":
            self.note("punctuation")
        self.at += 1
        self.skip()
        if self.peek() == end:
            self.note("trailing_comma")
            return True
        return False

    def expect(self, allowed: str, made: Any) -> None:
        char = self.peek()
        if not char:
            raise CutOff(made)
        if char not in allowed:
            raise NotJson(self.at)
        if char != allowed[0]:
            self.note("punctuation")
        self.at += 1

    def key(self) -> str:
        if self.peek() in _QUOTES:
            return self.string()
        word = _WORD.match(self.text, self.at)
        if not word:
            raise NotJson(self.at)
        self.at = word.end()
        if self.at == len(self.text):
            raise CutOff(None)
        self.note("bare_key")
        return word.group()

    def scalar(self) -> Any:
        if number := _NUMBER.match(self.text, self.at):
            self.at = number.end()
            literal = number.group()
            return ExactFloat(literal) if number[1] or number[2] else _integer(literal, number.start())
        word = _WORD.match(self.text, self.at)
        if word and word.group() in _CONSTANTS:
            self.at = word.end()
            if word.group()[0].isupper():
                self.note("python_constant")
            return _CONSTANTS[word.group()]
        if word and word.end() == len(self.text) and any(c.startswith(word.group()) for c in _CONSTANTS):
            raise CutOff(None)
        raise NotJson(self.at)

    def string(self) -> str:
        opening = self.peek()
        closing = _QUOTES[opening]
        if opening != '"':
            self.note("quotes")
        self.at += 1
        plain = re.compile(rf"[^{re.escape(closing)}\\\x00-\x1f]+")
        parts: list[str] = []
        while True:
            if run := plain.match(self.text, self.at):
                parts.append(run.group())
                self.at = run.end()
            char = self.peek()
            if not char:
                raise CutOff("".join(parts))
            self.at += 1
            if char == closing:
                return "".join(parts)
            if char == "\\":
                parts.append(self.escape())
            else:
                self.note("raw_control_character")
                parts.append(char)

    def escape(self) -> str:
        char = self.peek()
        if not char:
            raise CutOff(None)
        self.at += 1
        if char in _ESCAPES:
            if char in "'`":
                self.note("escape")
            return _ESCAPES[char]
        if char == "u":
            return self.unicode()
        raise NotJson(self.at)

    def unicode(self) -> str:
        match = re.compile(r"(?:[0-9a-fA-F]{4}(?:\\u[dD][c-fC-F][0-9a-fA-F]{2})?)").match(self.text, self.at)
        if not match:
            raise NotJson(self.at)
        first = self.text[self.at : self.at + 4]
        pair = first[:2].lower() in ("d8", "d9", "da", "db") and len(match.group()) > 4
        self.at += 10 if pair else 4
        decoded: str = json.loads(f'"\\u{match.group() if pair else first}"')
        return decoded


def _integer(literal: str, at: int) -> int:
    try:
        return int(literal)
    except ValueError:
        raise NotJson(at) from None


def _with(made: dict[str, Any], key: Any, recovered: Any) -> dict[str, Any]:
    return made if key is None or recovered is None else {**made, key: recovered}
