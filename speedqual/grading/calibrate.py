"""How far a factual signal agrees with people: a threshold from one half of the labelled rows, scored on the other.

The rule-based signal for free text is weak by nature (77 % balanced accuracy is about the best that judges reach), so
it decides nothing in a grade; it is calibrated here, as an NLI model or a judge would be, and shown with its interval.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from speedqual.grading.text import fold
from speedqual.grading.wordforms import STOPWORDS, stem

__all__ = ["Calibration", "calibrate", "corrected_rate", "support_signal"]

SENTENCES = 3
"""Evidence is looked for in this many sentences together: most claims draw on no more."""
_WORD = re.compile(r"[A-Za-zÀ-ÿ0-9][\w'’-]*|[\u3400-\u9fff]{2}")
_NAME = re.compile(r"(?<![.!?] )\b[A-Z][\w'’-]+")
_NUMBER = re.compile(r"\d[\d,.]*\d|\d")


def support_signal(claim: str, evidence: Sequence[str]) -> float:
    """From 0 to 1: the mean of three shares of the claim that the evidence (sentences) holds.

    Content words in the three sentences that hold most of them together; names anywhere; numbers anywhere, as written.
    A claim without names (or numbers) has 1 for that share.
    """
    text = " ".join(evidence)
    folded = fold(text)
    names = [fold(n).removesuffix("'s") for n in _NAME.findall(claim)]
    return (
        _covered(_stems(claim), [_stems(s) for s in evidence])
        + _share([n in folded for n in names])
        + _share([n in text for n in _NUMBER.findall(claim)])
    ) / 3


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(w) for w in _WORD.findall(text) if w.lower() not in STOPWORDS)


def _share(hits: list[bool]) -> float:
    return sum(hits) / len(hits) if hits else 1.0


def _covered(words: frozenset[str], sentences: list[frozenset[str]]) -> float:
    """The share of ``words`` in the sentences that are best together, chosen one after the other."""
    found: frozenset[str] = frozenset()
    for _ in range(min(SENTENCES, len(sentences))):
        found |= max((s & words for s in sentences), key=lambda hit: len(hit - found))
    return len(found) / len(words) if words else 1.0


@dataclass(frozen=True, slots=True)
class Calibration:
    """``sensitivity``: true called true; ``specificity``: false called false; both on the rows not used to choose."""

    threshold: float
    sensitivity: float
    specificity: float
    n_true: int
    n_false: int

    @property
    def balanced_accuracy(self) -> float:
        """The mean of sensitivity and specificity; 0.5 = chance."""
        return (self.sensitivity + self.specificity) / 2

    @property
    def interval(self) -> tuple[float, float]:
        """95 %: the Wilson intervals of both shares put together by the method of variance estimates recovery."""
        low_a, high_a = _wilson(self.sensitivity, self.n_true)
        low_b, high_b = _wilson(self.specificity, self.n_false)
        centre = self.balanced_accuracy
        below = math.hypot(self.sensitivity - low_a, self.specificity - low_b) / 2
        above = math.hypot(high_a - self.sensitivity, high_b - self.specificity) / 2
        return max(0.0, centre - below), min(1.0, centre + above)


def _wilson(share: float, n: int, z: float = 1.959964) -> tuple[float, float]:
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return centre - half, centre + half


def calibrate(scores: Sequence[float], labels: Sequence[bool]) -> Calibration | None:
    """Choose the threshold with the best balanced accuracy on the even rows (the highest on a tie), score the odd ones.

    None when one half lacks a class.
    """
    train, test = _split(scores, labels, 0), _split(scores, labels, 1)
    if not all((*train, *test)):
        return None
    threshold = max(sorted({*train[0], *train[1]}), key=lambda t: (sum(_rates(train, t)), t))
    sensitivity, specificity = _rates(test, threshold)
    return Calibration(threshold, sensitivity, specificity, len(test[0]), len(test[1]))


_Halves = tuple[list[float], list[float]]


def _split(scores: Sequence[float], labels: Sequence[bool], start: int) -> _Halves:
    """Scores of the true and of the false rows of one half."""
    rows = list(zip(scores, labels, strict=True))[start::2]
    return [s for s, true in rows if true], [s for s, true in rows if not true]


def _rates(halves: _Halves, threshold: float) -> tuple[float, float]:
    true, false = halves
    return sum(s >= threshold for s in true) / len(true), sum(s < threshold for s in false) / len(false)


def corrected_rate(raw: float, calibration: Calibration) -> float | None:
    """The rate behind a raw one (Rogan and Gladen): (raw + specificity - 1) / (sensitivity + specificity - 1).

    Kept within 0 and 1; None when the instrument is no better than chance.
    """
    power = calibration.sensitivity + calibration.specificity - 1
    return min(1.0, max(0.0, (raw + calibration.specificity - 1) / power)) if power > 0 else None
