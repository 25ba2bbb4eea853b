"""Reading a program as it streams: which functions are closed after which character, and the source up to there.

A Python function or class is closed by the first line at or left of its own indentation, by the end of its fence or by
the end of the answer; one in braces by its last brace. Whether the source up to there compiles is for the caller to
ask: no prefix tells of another, so each has to be tried.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from speedqual.grading.code.extraction_python import is_program
from speedqual.grading.code.fences import Fence, code_before_mark, fences
from speedqual.grading.code.found import canonical_language
from speedqual.grading.code.python_text import ANCHOR, STATEMENT, Scan

__all__ = ["BRACED", "Piece", "closed_pieces"]


@dataclass(frozen=True, slots=True)
class Piece:
    """``source``: the program up to the end of this function; ``named``: characters after which its name was there."""

    name: str
    source: str
    end: int
    named: int


BRACED = {
    "javascript": r"\bfunction\b\s*(?P<f>\w*)|\b(?P<c>\w+)\s*=\s*(?:async\b\s*)?[^=;{}]*=>|\bclass\s+(?P<k>\w+)",
    "typescript": r"\bfunction\b\s*(?P<f>\w*)|\b(?P<c>\w+)[^=;{}]*=\s*(?:async\b\s*)?[^=;{}]*=>|\bclass\s+(?P<k>\w+)",
    "c": r"(?P<f>\w+)\s*\([^;{}]*\)[^;{}=]*\{",
    "c++": r"(?P<f>[\w:~]+)\s*\([^;{}]*\)[^;{}=]*\{|\b(?:class|struct)\s+(?P<k>\w+)",
    "glsl": r"(?P<f>\w+)\s*\([^;{}]*\)\s*\{",
    "rust": r"\bfn\s+(?P<f>\w+)",
    "go": r"\bfunc\s+(?:\([^)]*\)\s*)?(?P<f>\w+)",
    "java": r"\b(?:class|interface|enum|record)\s+(?P<k>\w+)",
    "css": r"(?P<f>[^{}@;]+?)\s*\{",
}
"""Languages whose functions end with a brace, and what such a function looks like."""
_QUOTED = r"\"(?:\\.|[^\"\\\n])*\"|//[^\n]*|/\*.*?(?:\*/|\Z)"
_TOKENS = {
    "rust": re.compile(rf"{_QUOTED}|'(?:\\.[^'\n]*|[^'\\\n])'|[{{}}()\[\]]", re.DOTALL),
    "css": re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|/\*.*?(?:\*/|\Z)|[{}()\[\]]", re.DOTALL),
    "": re.compile(rf"{_QUOTED}|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|[{{}}()\[\]]", re.DOTALL),
}


def closed_pieces(text: str, language: str, *, ended: bool) -> Iterator[Piece]:
    """The functions of an answer in the order in which they were closed; ``ended``: no limit cut the answer off."""
    starts = _line_starts(text)
    for block in _blocks(text, language):
        if language == "python":
            yield from _python(text, block, starts, ended=ended)
        elif language in BRACED:
            yield from _braced(text, block, starts, language)


def _line_starts(text: str) -> list[int]:
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts


def _blocks(text: str, language: str) -> list[Fence]:
    """Fences of the language or of none; without any fence the whole text."""
    whole = language == "python" and is_program(text)
    every = [] if whole else fences(text, Scan if language == "python" else None)
    if not every:
        return [Fence("", text, -1, text.count("\n") + 1, closed=False)]
    tagged = [block for block in every if canonical_language(block.language) == language]
    return tagged or [block for block in every if not block.language]


# ---------------------------------------------------------------------------------------------------- Python

_HEAD = re.compile(r"(?P<indent>[ \t]*)(?:async[ \t]+)?(?:def|class)[ \t]+(?P<name>\w+)")


def _python(text: str, block: Fence, starts: list[int], *, ended: bool) -> Iterator[Piece]:
    lines = _lines_of(text, block)
    scan, begun, head = Scan(), None, None
    edge = min((_indent(line) for line in lines if ANCHOR.match(line)), default=0)
    for at, line in enumerate(lines):
        outer = bool(line.strip()) and not scan.open and _indent(line) <= edge
        if outer and head is not None and begun is not None:
            yield _piece(lines, begun, head, at, starts[block.first_line + 1 + at] + _indent(line) + 1, starts, block)
            head = None
        if outer and ANCHOR.match(line):
            begun = at if begun is None else begun
            head = at if _HEAD.match(line) else head
        elif outer and begun is not None and not STATEMENT.match(line[edge:]):
            begun = None  # prose: what follows is another program
        scan.feed(line)
    if head is not None and begun is not None and (block.closed or ended):
        last = _end_of(text, block, starts)
        yield _piece(lines, begun, head, len(lines), last, starts, block)


def _lines_of(text: str, block: Fence) -> list[str]:
    """The block's lines as they stand in the text, without the fence's own."""
    if block.first_line == block.last_line:
        return [block.body]
    lines = text.split("\n")
    if not block.closed:
        return lines[block.first_line + 1 :]
    rest = code_before_mark(lines[block.last_line])
    return [*lines[block.first_line + 1 : block.last_line], *([rest] if rest else [])]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _end_of(text: str, block: Fence, starts: list[int]) -> int:
    """Characters that had come when the block was closed: with its closing marks, else with the last character."""
    if not block.closed:
        return len(text.rstrip())
    line = text.split("\n")[block.last_line]
    return starts[block.last_line] + len(line.rstrip())


def _piece(lines: list[str], begun: int, head: int, end: int, known: int, starts: list[int], block: Fence) -> Piece:
    edge = _indent(lines[head])
    source = "\n".join(line[edge:] if line[:edge].isspace() else line for line in lines[begun:end])
    found = _HEAD.match(lines[head])
    inline = block.first_line == block.last_line
    first = starts[block.first_line + (0 if inline else 1 + head)]
    return Piece(found["name"] if found else "", source.rstrip() + "\n", known, first + (found.end() if found else 0))


# ---------------------------------------------------------------------------------------------------- braces


def _braced(text: str, block: Fence, starts: list[int], language: str) -> Iterator[Piece]:
    """Pieces between braces of depth 0. Strings and comments hold no braces."""
    if block.first_line == block.last_line:
        return
    offset = starts[block.first_line + 1]
    body = text[offset : starts[block.last_line] if block.closed else len(text)]
    tokens, looks = _TOKENS.get(language, _TOKENS[""]), re.compile(BRACED[language], re.DOTALL)
    begun = _begin(body, language)
    depth, since = 0, begun
    for token in tokens.finditer(body, begun):
        mark = token[0]
        if mark in ("{", "(", "["):
            depth += 1
        elif mark in ("}", ")", "]"):
            depth = max(0, depth - 1)
            if mark == "}" and depth == 0:
                found = looks.search(body, since, token.end())
                since = token.end()
                if found is not None:
                    name = next((group for group in found.groups() if group), "")
                    yield Piece(name.strip(), body[begun:since], offset + since, offset + found.end())


_BEGIN = re.compile(
    r"^[ \t]*(?:#|//|/\*|[@:.\w*\[\"'][^\n]*(?:[{;(,]|=>|=)[ \t]*$|(?:import|use|package|func|fn|pub|class)\b)", re.M
)


def _begin(body: str, language: str) -> int:
    """Where the program begins when prose stands before it."""
    found = _BEGIN.search(body)
    return found.start() if found is not None and language != "css" else 0
