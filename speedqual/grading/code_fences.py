"""Fenced blocks of a Markdown answer, read as people mean them: in lists and quotes, nested, unclosed, with stray closers."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Fence", "fences", "language_of"]

_OPEN = re.compile(
    r"(?P<lead>(?:[ \t]*(?:>|(?:[-*+]|\d{1,3}[.)])[ \t]))*[ \t]*)(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*?)[ \t]*$"
)
_CLOSE = re.compile(r"(?:[ \t]*>)*[ \t]*(?P<mark>`{3,}|~{3,})[ \t]*$")
_MARKDOWN = frozenset({"markdown", "md", "mdx"})

Inside = Callable[[list[str]], list[bool]]
"""For the lines of a block: whether each begins inside a string that spans lines, where no fence can close."""


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


def fences(text: str, inside: Inside | None = None) -> list[Fence]:
    """All blocks in order. ``inside`` finds lines within multi-line strings: a fence there is text of the program."""
    lines = text.split("\n")
    found: list[Fence] = []
    at = 0
    while at < len(lines):
        opening = _OPEN.match(lines[at])
        if opening is None or not _may_open(opening):
            at += 1
            continue
        block = _read_block(lines, at, opening, inside)
        if block.language in _MARKDOWN and any(_OPEN.match(line) for line in block.body.split("\n")):
            found += [_shifted(inner, at + 1) for inner in fences(block.body, inside)]
        else:
            found.append(block)
        at = block.last_line + 1
    return found


def _may_open(opening: re.Match[str]) -> bool:
    """Backticks in the info string of a backtick fence make it inline code."""
    return not (opening["mark"][0] == "`" and "`" in opening["info"])


def _shifted(block: Fence, by: int) -> Fence:
    return Fence(block.language, block.body, block.first_line + by, block.last_line + by, block.closed)


def _read_block(lines: list[str], at: int, opening: re.Match[str], inside: Inside | None) -> Fence:
    language = language_of(opening["info"])
    quoted = ">" in opening["lead"]
    body_lines = [re.sub(r"^[ \t]*>[ ]?", "", line) if quoted else line for line in lines[at + 1 :]]
    end = _closing_line(body_lines, opening["mark"], language, inside)
    body = body_lines[: len(body_lines) if end is None else end]
    last = len(lines) - 1 if end is None else at + 1 + end
    return Fence(language, _without_indent(body, opening["lead"]), at, last, end is not None)


def _closing_line(lines: list[str], mark: str, language: str, inside: Inside | None) -> int | None:
    """The first line that closes; one that lies within a string of the program does not.

    In a Markdown block of the same mark, inner blocks are matched with their own closers first.
    """
    closers = [at for at, line in enumerate(lines) if _closes(line, mark)]
    if not closers:
        return None
    if language in _MARKDOWN:
        return _closer_of_nested(lines, mark)
    if inside is not None:
        within = inside(lines[: closers[-1] + 1])
        free = [at for at in closers if not within[at]]
        if free:
            return free[0]
    return closers[0]


def _closes(line: str, mark: str) -> bool:
    found = _CLOSE.match(line)
    return found is not None and found["mark"][0] == mark[0] and len(found["mark"]) >= len(mark)


def _closer_of_nested(lines: list[str], mark: str) -> int | None:
    depth = 0
    for at, line in enumerate(lines):
        if _closes(line, mark):
            if depth == 0:
                return at
            depth -= 1
        elif (inner := _OPEN.match(line)) and inner["info"] and inner["mark"].startswith(mark):
            depth += 1
    return None


def _without_indent(body: list[str], lead: str) -> str:
    """A block in a list item or set in as a whole loses what its opening line was set in by."""
    indent = len(lead.expandtabs(4)) if not lead.strip() else len(re.sub(r"[^ ]", " ", lead.replace(">", "")))
    if indent and all(line[:indent].isspace() or len(line.strip()) == 0 for line in body):
        body = [line[indent:] if line[:indent].isspace() else line.lstrip() for line in body]
    text = "\n".join(body)
    return textwrap.dedent(text) if indent else text
