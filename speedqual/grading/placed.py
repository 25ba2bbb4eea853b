"""Another thing in the place of a value: ``founded in Antwerp`` where the source says ``founded in Bruges``."""

from __future__ import annotations

import re

from speedqual.grading.text import fold
from speedqual.grading.wordforms import STOPWORDS, stem

__all__ = ["placed_instead"]

_PREPOSITIONS = r"in|at|by|from|to|on|for|near|with|into|towards?|under"
_NAME = r"[A-Z][\w'’-]*(?: (?:& |of |de |van |von )?[A-Z][\w'’-]*)*"
_BETWEEN = r"(?:(?:the|a|an|her|his|their|its|one|old|young|new|[a-z]{3,12}) ){0,3}"
_WORD = re.compile(r"[A-Za-z]{3,}")


def placed_instead(value: str, others: tuple[str, ...], source: str, question: str, parts: tuple[str, ...]) -> str:
    """The name that the reply has behind the preposition that stands before ``value`` in the source ("" = none).

    Only in sentences that speak of what was asked, and never a name that another fact asks for.
    """
    before = re.search(rf"\b(?P<word>{_PREPOSITIONS}) {_BETWEEN}{re.escape(value)}\b", source)
    if before is None:
        return ""
    asked = {stem(word) for word in _WORD.findall(question)} - STOPWORDS
    placed = re.compile(rf"\b{before['word']} {_BETWEEN}(?P<name>{_NAME})")
    for part in parts:
        if asked & {stem(word) for word in _WORD.findall(part)}:
            for match in placed.finditer(part):
                name = fold(match["name"])
                if fold(value) not in name and not any(name in other or other in name for other in others):
                    return match["name"]
    return ""
