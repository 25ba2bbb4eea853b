"""Repairs that lenient grading tries on a Python program, one at a time, each named. Strict grading never does."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from speedqual.grading.python_text import defines
from speedqual.records import Failure

__all__ = ["repaired"]

_PROMPT = re.compile(r"^[ \t]*(?:>>>|\.\.\.)(?: (?P<code>.*))?$")
_MAGIC = re.compile(r"^[ \t]*[!%][^\n]*$", re.MULTILINE)
_FUNCTION = re.compile(r"^(?:async[ \t]+)?def[ \t]+(\w+)[ \t]*\(", re.MULTILINE)


def repaired(source: str, entry_point: str, failure: Failure) -> Iterator[tuple[str, str]]:
    """(name, program) of each repair that changes the program and could mend ``failure``."""
    if failure == "does_not_compile":
        for name, repair in (("prompts", _without_prompts), ("magics", _without_magics), ("indent", _first_indent)):
            changed = repair(source)
            if changed.strip() and changed != source:
                yield name, changed
    if failure == "wrong_format" and entry_point and not defines(source, entry_point):
        functions = sorted(set(_FUNCTION.findall(source)))
        if len(functions) == 1 and "." not in entry_point:
            yield "name", f"{source}\n\n{entry_point} = {functions[0]}\n"


def _without_prompts(source: str) -> str:
    """The input of an interactive session, without its output."""
    matches = [_PROMPT.match(line) for line in source.split("\n")]
    if not any(matches):
        return source
    return "\n".join(match["code"] or "" for match in matches if match) + "\n"


def _without_magics(source: str) -> str:
    return _MAGIC.sub("", source)


def _first_indent(source: str) -> str:
    """A first line that lost its indent: the others are set back to its edge."""
    first, newline, rest = source.strip("\n").partition("\n")
    return first + newline + textwrap.dedent(rest) if not first[:1].isspace() else source
