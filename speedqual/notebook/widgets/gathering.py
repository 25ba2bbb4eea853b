"""Where candidates stand in the plane while a run goes on: light sums of its events, no table, no draws."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from speedqual.analysis.intervals import Interval, mean_interval, quantile_interval
from speedqual.analysis.measures import Measure
from speedqual.analysis.pareto import on_front
from speedqual.records import GRADED_OUTCOMES, Grade, Trial
from speedqual.running.watching import Graded, RunEvent, Started, TrialFinished

__all__ = ["Gathering", "Point"]

Key = tuple[str, str]  # eval set and item


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A candidate in the plane; None = not known. ``n``: items behind its quality."""

    name: str
    x: float | None = None
    x_lo: float | None = None
    x_hi: float | None = None
    y: float | None = None
    y_lo: float | None = None
    y_hi: float | None = None
    n: int = 0
    front: bool = False


@dataclass
class _Candidate:
    """Per item the values and the scores of its repeats, which count once."""

    values: defaultdict[Key, list[float]] = field(default_factory=lambda: defaultdict(list))
    scores: defaultdict[Key, list[float]] = field(default_factory=lambda: defaultdict(list))

    def point(self, name: str, measure: Measure) -> Point:
        x = _middle(_means(self.values), measure)
        y = mean_interval(_means(self.scores))
        return Point(name=name, x=x.value, x_lo=x.lo, x_hi=x.hi, y=y.value, y_lo=y.lo, y_hi=y.hi, n=y.n)


class Gathering:
    """Takes events, gives points and rows.

    Quality counts a failure of the endpoint as 0, as everywhere; while answers are being graded one counts from where
    the grading has come to, so that nobody looks bad for having failed early. Items are taken as independent: the
    clusters of an eval set are known to the finished run.
    """

    def __init__(self, measure: Measure) -> None:
        self.measure = measure
        self.n_ended = self.n_graded = self.n_to_grade = 0
        self._candidates: dict[str, _Candidate] = {}
        self._rows: dict[str, dict[str, Any]] = {}
        self._order: dict[str, int] = {}
        self._failed: defaultdict[str, deque[Trial]] = defaultdict(deque)

    def take(self, event: RunEvent) -> None:
        """Count one event."""
        match event:
            case Started():
                self._candidates |= {name: _Candidate() for name in event.candidates if name not in self._candidates}
            case TrialFinished(trial=trial) if trial.phase == "main":
                self._end(trial, event.outcome, event.metrics)
            case Graded():
                self.n_graded, self.n_to_grade = event.n_graded, event.n_to_grade
                self._grade(event.trial, event.grade)
            case _:
                pass

    def settle(self) -> None:
        """No grade will come any more: what failed counts, wherever the grading ended."""
        if self.n_graded:
            for evalset in list(self._failed):
                self._fail_until(evalset, self.n_ended)

    def points(self) -> list[Point]:
        """One a candidate in the order of the run; the front is only known where some quality is."""
        points = [each.point(name, self.measure) for name, each in self._candidates.items()]
        sign = -1.0 if self.measure.higher_is_better else 1.0
        costs = np.array([[sign * _number(point.x)] for point in points]).reshape(-1, 1)
        front = on_front(costs, np.array([_number(point.y) for point in points]))
        return [replace(point, front=bool(on)) for point, on in zip(points, front, strict=True)]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One a finished trial: candidate, eval set, item, repeat, outcome, score, verdict, failure and metrics."""
        return list(self._rows.values())

    def _end(self, trial: Trial, outcome: str, metrics: Mapping[str, Any]) -> None:
        self.n_ended += 1
        self._order[trial.key] = self.n_ended
        who = self._candidates.setdefault(trial.candidate, _Candidate())
        value = metrics.get(self.measure.name)
        if isinstance(value, (int, float)):
            who.values[trial.evalset, trial.item].append(float(value))
        if outcome not in GRADED_OUTCOMES:
            self._failed[trial.evalset].append(trial)
        what = {"candidate": trial.candidate, "evalset": trial.evalset, "item": trial.item, "repeat": trial.repeat}
        self._rows[trial.key] = {**what, "outcome": outcome, "score": None, "verdict": "", "failure": "", **metrics}

    def _grade(self, trial: Trial, grade: Grade) -> None:
        self._fail_until(trial.evalset, self._order.get(trial.key, 0))
        if grade.score is not None:
            who = self._candidates.setdefault(trial.candidate, _Candidate())
            who.scores[trial.evalset, trial.item].append(grade.score)
        if trial.key in self._rows:
            self._rows[trial.key] |= {"score": grade.score, "verdict": grade.verdict, "failure": grade.failure}

    def _fail_until(self, evalset: str, order: int) -> None:
        waiting = self._failed[evalset]
        while waiting and self._order[waiting[0].key] <= order:
            trial = waiting.popleft()
            self._candidates[trial.candidate].scores[trial.evalset, trial.item].append(0.0)


def _means(of_items: Mapping[Key, list[float]]) -> list[float]:
    return [sum(repeats) / len(repeats) for repeats in of_items.values()]


def _middle(values: list[float], measure: Measure) -> Interval:
    """The median with its order-statistic interval; a mean (money, tokens) without one until the run is over."""
    if measure.stat == "median":
        return quantile_interval(values, 0.5)
    mean = float(np.mean(values)) if values else None
    return Interval(mean, None, None, "mean", len(values))


def _number(value: float | None) -> float:
    return float("nan") if value is None else value
