"""Replies that only say again what was given: the source, or the question."""

from __future__ import annotations

from speedqual.grading.refusals import sentences
from speedqual.grading.text import fold

__all__ = ["echoes", "is_copied", "is_part_of", "without_echo"]


def echoes(parts: tuple[str, ...], question: str) -> bool:
    """Whether every sentence of the reply is the question, or a question made of a piece of it."""
    asked = _letters(question)
    return bool(asked) and all(_is_echo(part, asked) for part in parts)


def _is_echo(part: str, asked: str) -> bool:
    said = _letters(part)
    if not said or said not in asked:
        return False
    return part.rstrip(" \"'”）)").endswith(("?", "？", "吗", "呢")) or said == asked


def without_echo(parts: tuple[str, ...], question: str) -> tuple[str, ...]:
    """The sentences behind the question, where the reply begins with saying it again."""
    asked = _letters(question)
    while len(parts) > 1 and asked and _is_echo(parts[0], asked):
        parts = parts[1:]
    return parts


def is_part_of(part: str, source: str) -> bool:
    """Whether a sentence stands in the source as it is."""
    return _letters(part) in _letters(source)


def is_copied(reply: str, source: str) -> bool:
    """Whether the reply is the source again: a common run of at least 80 % of it, and little else.

    To say a source of one sentence again is to answer in a whole sentence.
    """
    if len(sentences(source)) < 2:
        return False
    ours, theirs = _letters(reply), _letters(source)
    if len(theirs) < 30 or not 0.8 <= len(ours) / len(theirs) <= 3.0:
        return False
    return _longest_run(ours, theirs) >= 0.8 * len(theirs)


def _letters(text: str) -> str:
    return "".join(c for c in fold(text[:20_000]) if c.isalnum())


def _longest_run(ours: str, theirs: str) -> int:
    """Length of the common run around the middle of ``theirs``, 0 when its middle is not there."""
    size = max(8, len(theirs) // 4)
    middle = theirs[len(theirs) // 2 - size // 2 : len(theirs) // 2 - size // 2 + size]
    at = ours.find(middle)
    if at < 0:
        return 0
    left = len(theirs) // 2 - size // 2
    start, end = at, at + size
    a, b = left, left + size
    while start > 0 and a > 0 and ours[start - 1] == theirs[a - 1]:
        start, a = start - 1, a - 1
    while end < len(ours) and b < len(theirs) and ours[end] == theirs[b]:
        end, b = end + 1, b + 1
    return b - a
