"""What a reply says beyond its source, and whether it is nothing but the source."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from speedqual.grading.mentions import numbers_in, prepare
from speedqual.grading.normalise import Settings
from speedqual.grading.polarity import negations
from speedqual.grading.text import fold
from speedqual.grading.wordforms import STOPWORDS, stem

__all__ = ["Known", "is_copied", "known_of", "unsupported_claims"]

_SETTINGS = Settings(locale="en")
_CLAUSE = re.compile(r"[;:()—；：，]|,\s+|\s+(?:and|but|while|whereas)\s+|而且|并且")
_WORD = re.compile(r"[A-Za-zÀ-ÿ][\w'’-]*")
_HAN_PAIR = re.compile(r"(?=([\u3400-\u9fff]{2}))")
_TALK = frozenset(
    map(
        stem,
        [
            "think",
            "believe",
            "guess",
            "suppose",
            "answer",
            "mention",
            "give",
            "provide",
            "total",
            "sure",
            "know",
            "text",
            "source",
            "well",
            "yes",
            "approximately",
            "roughly",
            "about",
        ],
    )
)


@dataclass(frozen=True, slots=True)
class Known:
    """The words, numbers and pairs of characters that a reply may use without saying something new."""

    text: str
    stems: frozenset[str]
    numbers: frozenset[Decimal]
    pairs: frozenset[str]


@lru_cache(maxsize=1024)
def known_of(text: str) -> Known:
    """Read the source, the question and the facts once."""
    stems = frozenset(stem(w) for w in _WORD.findall(text))
    numbers = frozenset(m.value for s in prepare(text) for m in numbers_in(s, _SETTINGS))
    return Known(fold(text), stems, numbers, frozenset(_HAN_PAIR.findall(text)))


def unsupported_claims(parts: tuple[str, ...], known: Known) -> tuple[int, list[str]]:
    """How many clauses claim something, and those with a number or mostly words that the source does not hold."""
    count, strange = 0, []
    for sentence in parts:
        for clause in _CLAUSE.split(sentence):
            verdict = _is_strange(clause.strip(), known)
            if verdict is not None:
                count += 1
                if verdict:
                    strange.append(clause.strip()[:120])
    return count, strange


def _is_strange(clause: str, known: Known) -> bool | None:
    """None = the clause claims nothing, or only denies."""
    numbers = numbers_in(clause, _SETTINGS)
    counted = {word for m in numbers for word in m.text.lower().split()}
    words = {stem(w) for w in _WORD.findall(clause) if w.lower() not in counted and w.lower() not in STOPWORDS} - _TALK
    pairs = _HAN_PAIR.findall(clause)
    if not numbers and len(words) + len(pairs) < 2:
        return None
    if negations(clause) % 2:
        return None
    if any(m.value not in known.numbers and m.digits not in known.numbers for m in numbers if not m.text.isalpha()):
        return True
    new = sum(w not in known.stems for w in words) + sum(p not in known.pairs for p in pairs)
    return new * 2 > len(words) + len(pairs) and new >= 2


def is_copied(reply: str, source: str) -> bool:
    """Whether the reply is the source again: a common run of at least 80 % of it, and little else."""
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
