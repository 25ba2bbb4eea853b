"""What analyses say in English, in the page's language: the catalogue's table ``phrase`` holds each saying twice.

An English entry is a pattern, its blanks are what stands there; a blank's own words are looked up as well. Whatever no
entry matches stays as it is.
"""

from __future__ import annotations

import re
from functools import cache

from speedqual.report.words import Words

__all__ = ["translated"]

_PREFIX = "phrase."
_BLANK = re.compile(r"\\\{(\w+)\\\}")


def translated(text: str | None, words: Words) -> str:
    """``text`` in the language of ``words``; parts joined by semicolons are taken one by one."""
    if not text or words.lang == "en":
        return text or ""
    whole = _known(text, words)
    if whole is not None or "; " not in text:
        return whole or text
    return "；".join(_known(part, words) or part for part in text.split("; "))


def _known(text: str, words: Words) -> str | None:
    for key, pattern in _patterns():
        found = pattern.fullmatch(text)
        if found:
            return words(key, **{name: _known(part, words) or part for name, part in found.groupdict().items()})
    return None


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The English sayings, the most particular first."""
    sayings = {key: text for key, text in Words.load("en").texts.items() if key.startswith(_PREFIX)}
    order = sorted(sayings, key=lambda key: -len(re.sub(r"\{\w+\}", "", sayings[key])))
    return tuple((key, re.compile(_BLANK.sub(r"(?P<\1>.+?)", re.escape(sayings[key])), re.DOTALL)) for key in order)
