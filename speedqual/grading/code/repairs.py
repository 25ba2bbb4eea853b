"""Repairs that lenient grading tries on a Python program, one at a time, each named. Strict grading never does."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from speedqual.grading.code.python_text import defines
from speedqual.records import Failure

__all__ = ["repaired"]

_PROMPT = re.compile(r"^[ \t]*(?:>>>|\.\.\.)(?: (?P<code>.*))?$")
_MAGIC = re.compile(r"^[ \t]*[!%][^\n]*$", re.MULTILINE)
_CLASS = re.compile(r"^class[ \t]+(\w+)", re.MULTILINE)
_FUNCTION = re.compile(r"^(?:async[ \t]+)?def[ \t]+(\w+)[ \t]*\(", re.MULTILINE)


def repaired(source: str, entry_point: str, failure: Failure) -> Iterator[tuple[str, str]]:
    """(name, program) of each repair that changes the program and could mend ``failure``."""
    if failure == "does_not_compile":
        for name, repair in _REPAIRS.items():
            changed = repair(source)
            if changed.strip() and changed != source:
                yield name, changed
    if failure == "wrong_format" and entry_point.isidentifier() and not defines(source, entry_point):
        functions, classes = sorted(set(_FUNCTION.findall(source))), sorted(set(_CLASS.findall(source)))
        method = re.search(rf"^[ \t]+def[ \t]+{entry_point}\b", source, re.MULTILINE)
        if len(functions) == 1:
            yield "name", f"{source}\n\n{entry_point} = {functions[0]}\n"
        elif not functions and len(classes) == 1 and method:
            yield "method", f"{source}\n\n{entry_point} = {classes[0]}().{entry_point}\n"


def _without_prompts(source: str) -> str:
    """The input of an interactive session, without its output."""
    matches = [_PROMPT.match(line) for line in source.split("\n")]
    if not any(matches):
        return source
    return "\n".join(match["code"] or "" for match in matches if match) + "\n"


def _without_magics(source: str) -> str:
    return _MAGIC.sub("", source)


def _plain_spaces(source: str) -> str:
    """Spaces of word processors and of Chinese keyboards."""
    return source.translate(dict.fromkeys(map(ord, "\u00a0\u3000\u2007\u202f"), " "))


def _first_indent(source: str) -> str:
    """A first line that lost its indent: the others are set back to its edge."""
    first, newline, rest = source.strip("\n").partition("\n")
    return first + newline + textwrap.dedent(rest) if not first[:1].isspace() else source


_REPAIRS = {
    "prompts": _without_prompts,
    "magics": _without_magics,
    "spaces": _plain_spaces,
    "indent": _first_indent,
}
