"""Goodput: the share of everything sent that met every promise."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

__all__ = ["Goodput", "Slo", "goodput", "judge"]

Judgement = Literal["good", "bad", "undetermined"]
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Slo:
    """A promise about one request: ``Slo("ttft_ms", "<", 800)``."""

    metric: str
    op: Literal["<", "<=", ">", ">="]
    limit: float

    def met(self, value: float) -> bool:
        return _OPERATORS[self.op](value, self.limit)


def judge(outcome: str, metrics: Mapping[str, float | int | str | None], slos: Iterable[Slo]) -> Judgement:
    """One request: an outcome but ``ok`` is bad, so is a broken promise; a number that cannot exist decides nothing."""
    if outcome != "ok":
        return "bad"
    unknown = False
    for slo in slos:
        value = metrics.get(slo.metric)
        if not isinstance(value, (int, float)):
            unknown = True
        elif not slo.met(value):
            return "bad"
    return "undetermined" if unknown else "good"


@dataclass(frozen=True, slots=True)
class Goodput:
    """Counts over all that was sent. ``share`` keeps the undetermined in its denominator; None: nothing was sent."""

    sent: int
    good: int
    bad: int
    undetermined: int

    @property
    def share(self) -> float | None:
        return self.good / self.sent if self.sent else None


def goodput(requests: Iterable[tuple[str, Mapping[str, float | int | str | None]]], slos: Iterable[Slo]) -> Goodput:
    """Judge ``(outcome, metrics)`` of every request sent in the window, failures and cancellations included."""
    promises = tuple(slos)
    found = [judge(outcome, metrics, promises) for outcome, metrics in requests]
    return Goodput(len(found), *(found.count(kind) for kind in ("good", "bad", "undetermined")))
