"""What a reply says beyond its source."""

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

__all__ = ["Known", "known_of", "unsupported_claims"]

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
