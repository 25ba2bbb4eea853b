"""Regular expressions that others wrote, run only where they can't take for ever.

Python's ``re`` has no time limit, and both the pattern (of a set) and the text (of a model) are hostile. So a pattern
is read first: a repeat inside a repeat, a choice inside a repeat and a back-reference are refused, and so are more than
``MAX_REPEATS`` repeats without end. What is left takes at most a power of the length of the text, which is cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from speedqual.errors import EvalSetError

__all__ = ["MAX_CHARS", "compiled", "found"]

MAX_PATTERN = 1_000
MAX_REPEATS = 3
MAX_CHARS = {0: 200_000, 1: 10_000, 2: 2_000, 3: 500}
"""Repeats without end in a pattern → how much of a reply it is run on: both its beginning and its end."""

_MANY = 64  # a repeat of up to so many counts as one without end


def compiled(pattern: Any, where: str) -> tuple[re.Pattern[str], int]:
    """The pattern, and how many repeats without end it has. Raises EvalSetError if it may take for ever."""
    if not isinstance(pattern, str) or len(pattern) > MAX_PATTERN:
        raise EvalSetError(
            f"the pattern is not text of at most {MAX_PATTERN} characters", where=where, fix="Shorten it"
        )
    try:
        tree = re._parser.parse(pattern)  # type: ignore[attr-defined]
        made = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as fault:
        raise EvalSetError(f"the pattern is wrong: {fault}", where=where, fix="Mend it") from None
    n_repeats = _repeats(tree, where, inside=False)
    if n_repeats > MAX_REPEATS:
        what = f"the pattern has {n_repeats} repeats without end, more than {MAX_REPEATS}"
        raise EvalSetError(what, where=where, fix="Use contains, or bound the repeats, such as [0-9]{1,9}")
    return made, n_repeats


def found(pattern: re.Pattern[str], n_repeats: int, text: str) -> bool:
    """Whether the pattern is somewhere in the text, or in its beginning or end when the text is long."""
    limit = MAX_CHARS[n_repeats]
    parts = [text] if len(text) <= 2 * limit else [text[:limit], text[-limit:]]
    return any(pattern.search(part) is not None for part in parts)


def _repeats(tree: Any, where: str, *, inside: bool) -> int:
    """How many repeats without end stand in the parsed pattern."""
    count = 0
    for operator, argument in tree:
        name = str(operator)
        if name in {"GROUPREF", "GROUPREF_EXISTS"}:
            raise EvalSetError("the pattern refers back to a group", where=where, fix="Write it out")
        is_repeat = name in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"} and argument[1] > 1
        if inside and (is_repeat or name == "BRANCH"):
            what = "the pattern has a repeat or a choice inside a repeat, which may take for ever"
            raise EvalSetError(what, where=where, fix="Use contains-any, or repeat a class such as [a-z]+")
        if is_repeat and argument[1] > _MANY:
            count += 1
        count += sum(_repeats(below, where, inside=inside or is_repeat) for below in _below(argument))
    return count


def _below(argument: Any) -> Iterable[Any]:
    """The parsed patterns inside an argument of the parser."""
    if isinstance(argument, re._parser.SubPattern):  # type: ignore[attr-defined]
        yield argument
    elif isinstance(argument, (tuple, list)):
        for one in argument:
            yield from _below(one)
