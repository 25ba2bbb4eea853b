"""Fenced blocks of a Markdown answer as people mean them: in lists and quotes, nested, unclosed, with stray closers."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

__all__ = ["Fence", "Scan", "code_before_mark", "fences", "language_of"]

_OPEN = re.compile(
    r"(?P<lead>(?:[ \t]*(?:>|(?:[-*+]|\d{1,3}[.)])[ \t]))*[ \t]*)(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*?)[ \t]*$"
)
_OPEN_AFTER_TEXT = re.compile(
    r"(?P<lead>)(?:[^`\n]*[:：][ \t]*(?=`{3,}[ \t]*$)|[^`\n]*[^`\s][ \t]*(?=`{3,}[A-Za-z][\w+#.-]*[ \t]*$))"
    r"(?P<mark>`{3,})(?P<info>[\w+#.-]*)[ \t]*$"
)
"""A fence that is opened at the end of a line of prose."""
_CLOSE_AFTER_CODE = re.compile(r"(?P<code>[^`\n]*[^`\s])[ \t]*(?P<mark>`{3,})[ \t]*$")
"""A fence that is closed at the end of a line of the program."""
_CLOSE = re.compile(r"(?:[ \t]*>)*[ \t]*(?P<mark>`{3,}|~{3,})[ \t]*$")
_ONE_LINE = re.compile(r"[ \t]*`{3}(?P<info>[A-Za-z][\w+#.-]*)[ \t]+(?P<body>[^`\n]+)`{3}[ \t]*$")
_MARKDOWN = frozenset({"markdown", "md", "mdx"})

LOOK_LINES = 200
"""How far the end of a string is looked for before a fence inside it is taken for the end of the block."""


class Scan(Protocol):
    """Reads a program line by line; ``string`` is not empty while a string that spans lines is open."""

    string: str

    def feed(self, line: str) -> None: ...


Scanner = Callable[[], Scan]


@dataclass(frozen=True, slots=True)
class Fence:
    """One block: its tag as a plain language word (``""`` = none), its text, and the lines it covers in the answer."""

    language: str
    body: str
    first_line: int
    last_line: int
    closed: bool


def language_of(info: str) -> str:
    """The language word of a fence's info string: ``{.python}`` → python, ``py title="a"`` → py, ``C++`` → c++."""
    word = info.strip().lstrip("{").strip().lstrip(".")
    found = re.match(r"[\w+#.\-/]+", word)
    return found[0].rstrip(".").lower() if found else ""


def fences(text: str, scanner: Scanner | None = None) -> list[Fence]:
    """All blocks in order. ``scanner`` follows strings that span lines: a fence in one is text of the program."""
    lines = text.split("\n")
    found: list[Fence] = []
    at = 0
    while at < len(lines):
        if (whole := _ONE_LINE.match(lines[at])) is not None:
            found.append(Fence(language_of(whole["info"]), whole["body"], at, at, closed=True))
            at += 1
            continue
        opening = _OPEN.match(lines[at]) or _OPEN_AFTER_TEXT.match(lines[at])
        if opening is None or not _may_open(opening):
            at += 1
            continue
        block = _read_block(lines, at, opening, scanner)
        if block.language in _MARKDOWN and any(_OPEN.match(line) for line in block.body.split("\n")):
            found += [_shifted(inner, at + 1) for inner in fences(block.body, scanner)]
        else:
            found.append(block)
        at = block.last_line + 1
    return found


def _may_open(opening: re.Match[str]) -> bool:
    """Backticks in the info string of a backtick fence make it inline code."""
    return not (opening["mark"][0] == "`" and "`" in opening["info"])


def _shifted(block: Fence, by: int) -> Fence:
    return Fence(block.language, block.body, block.first_line + by, block.last_line + by, block.closed)


def _read_block(lines: list[str], at: int, opening: re.Match[str], scanner: Scanner | None) -> Fence:
    language = language_of(opening["info"])
    quoted = ">" in opening["lead"]
    nested = language in _MARKDOWN
    end = _closing_line(lines, at + 1, opening["mark"], None if nested else scanner, nested=nested)
    last = len(lines) - 1 if end is None else end
    body = lines[at + 1 : len(lines) if end is None else end]
    if end is not None and (rest := code_before_mark(lines[end])):
        body.append(rest)
    if quoted:
        body = [re.sub(r"^[ \t]*>[ ]?", "", line) for line in body]
    return Fence(language, _without_indent(body, opening["lead"]), at, last, end is not None)


def _closing_line(lines: list[str], at: int, mark: str, scanner: Scanner | None, *, nested: bool) -> int | None:
    """The first line that closes; None = the block goes on to the end.

    One that lies within a string of the program does not, if that string ends within ``LOOK_LINES``. In a
    Markdown block, inner blocks are matched with their own closers first.
    """
    scan = scanner() if scanner else None
    depth, first = 0, None
    for number in range(at, len(lines)):
        line = lines[number]
        if _closes(line, mark) or (not nested and len(mark) == 3 and mark[0] == "`" and code_before_mark(line)):
            first = number if first is None else first
            if depth == 0 and not (scan and scan.string):
                return number
            depth -= depth > 0
        elif nested and (inner := _OPEN.match(line)) and inner["info"] and inner["mark"].startswith(mark):
            depth += 1
        if scan:
            scan.feed(line)
            if first is not None and number - first > LOOK_LINES:
                return first
    return first if scan else None


def code_before_mark(line: str) -> str:
    """What stands before the marks of a line that closes a block after code; empty when it is the marks alone."""
    found = None if _CLOSE.match(line) else _CLOSE_AFTER_CODE.match(line)
    return found["code"] if found else ""


def _closes(line: str, mark: str) -> bool:
    found = _CLOSE.match(line)
    return found is not None and found["mark"][0] == mark[0] and len(found["mark"]) >= len(mark)


def _without_indent(body: list[str], lead: str) -> str:
    """A block in a list item or set in as a whole loses what its opening line was set in by."""
    indent = len(lead.expandtabs(4)) if not lead.strip() else len(re.sub(r"[^ ]", " ", lead.replace(">", "")))
    if indent and all(line[:indent].isspace() or len(line.strip()) == 0 for line in body):
        body = [line[indent:] if line[:indent].isspace() else line.lstrip() for line in body]
    text = "\n".join(body)
    return textwrap.dedent(text) if indent else text
