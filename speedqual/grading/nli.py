"""Grade a reply statement by statement with an NLI model: an option, never the default, shown calibrated.

The source is the premise, cut into overlapping windows of sentences; a statement is supported when one window entails
it, contradicted when one contradicts it and none entails it. The model is anything that gives ``Probabilities`` for
``(premise, hypothesis)``; ``nlimodels.load`` makes one of a local folder or a hub id.

Options: ``model`` (folder or hub id), ``threshold`` (of entailment, 0.5; take it from ``calibrate``), ``source`` (the
column that the reply is held against).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from speedqual.errors import EvalSetError
from speedqual.grading.mentions import prepare
from speedqual.grading.nlimodels import Entailer, load
from speedqual.grading.options import options_of
from speedqual.grading.signals import Held, StatementVerdict, grade_statements, hold, source_of
from speedqual.records import Answer, EvalSet, Grade, Item

__all__ = ["VERSION", "NliGrader", "calibrate", "entailment", "make"]

VERSION = "1"
WINDOW, STEP = 5, 3
"""Sentences of one premise, and from one premise to the next: models read about 512 tokens."""
_loaded = cache(load)


def _windows(source: str) -> list[str]:
    parts = prepare(source)
    starts = range(0, max(1, len(parts) - (WINDOW - STEP)), STEP)
    return [" ".join(parts[at : at + WINDOW]) for at in starts] if parts else []


def entailment(model: Entailer, source: str, statement: str) -> tuple[float, float]:
    """The highest probability of entailment of any window, and of contradiction; (0, 0) without a source."""
    found = [model(premise, statement) for premise in _windows(source)]
    if not found:
        return 0.0, 0.0
    return max(p.entailment for p in found), max(p.contradiction for p in found)


def verdict_of(entailed: float, contradicted: float, threshold: float) -> StatementVerdict:
    """Supported at or above the threshold; otherwise contradicted when that is likelier than not."""
    return "supported" if entailed >= threshold else "contradicted" if contradicted > 0.5 else "not_in_text"


class NliGrader:
    """``(answer, item) -> Grade``. The model is loaded with the first reply."""

    name = "nli"

    def __init__(self, model: Entailer | str, *, threshold: float = 0.5, source: str = "") -> None:
        self._model, self.threshold, self.source = model, threshold, source

    def __call__(self, answer: Answer, item: Item) -> Grade:
        """Judge every sentence of one reply."""
        model = _loaded(self._model) if isinstance(self._model, str) else self._model
        source = source_of(item, self.source)

        def judge(statement: str) -> StatementVerdict:
            return verdict_of(*entailment(model, source, statement), self.threshold)

        return grade_statements(answer, source, judge, how="entailed by the source", version=VERSION)


def make(evalset: EvalSet) -> NliGrader:
    """The grader that the card declares. Raises EvalSetError without a model, or for a threshold beyond 0 to 1."""
    options, where = options_of(evalset, {"model", "threshold", "source"}), f"eval set {evalset.name}, grader"
    model: Any = options.get("model")
    if not isinstance(model, str) or not model:
        raise EvalSetError("no NLI model is named", where=f"{where}.model", fix="Give a folder or a hub id")
    threshold = options.get("threshold", 0.5)
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or not 0 <= threshold <= 1:
        fix = "Give a number from 0 to 1"
        raise EvalSetError(f"threshold is {threshold!r}", where=f"{where}.threshold", fix=fix)
    return NliGrader(model, threshold=float(threshold), source=str(options.get("source") or ""))


def calibrate(model: Entailer, rows: Iterable[tuple[str, str, bool]]) -> tuple[list[float], Held | None]:
    """Entailment of ``(source, claim, whether people call it supported)``, and how far it agrees with people."""
    table = list(rows)
    scores = [entailment(model, source, claim)[0] for source, claim, _ in table]
    return scores, hold(scores, [label for *_, label in table])
