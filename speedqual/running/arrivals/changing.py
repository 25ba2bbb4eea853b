"""Open loops whose rate changes: a Poisson process of unit rate, drawn out along the integral of the rate.

``spread`` "even" takes the expected arrivals themselves in its place, for an exact number of requests.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from speedqual.errors import UsageError
from speedqual.running.arrivals.base import Arrival
from speedqual.running.arrivals.points import even, exponential, positive, starts

__all__ = ["Ramp", "Spread", "Steps"]

Spread = Literal["poisson", "even"]


@dataclass(frozen=True, slots=True)
class Ramp:
    """From one rate to another in a straight line over the level's duration: (first + last) / 2 × duration requests."""

    first: float
    last: float
    spread: Spread = "poisson"

    def __post_init__(self) -> None:
        if min(self.first, self.last) < 0 or not 0 < max(self.first, self.last) < math.inf:
            what = f"the ramp goes from {self.first!r} to {self.last!r}"
            raise UsageError(what, where="arrivals", fix="Give two rates of 0 or more, one of them above 0: ramp:1-50")

    @property
    def text(self) -> str:
        return f"ramp:{self.first:.12g}-{self.last:.12g}{_suffix(self.spread)}"

    @property
    def rate(self) -> float:
        return (self.first + self.last) / 2

    def schedule(self, seed: int, duration_s: float) -> Iterator[Arrival]:
        slope = (self.last - self.first) / positive("the duration", duration_s, "30")
        n_end = self.rate * duration_s

        def seconds(n: float) -> float:
            return duration_s if n >= n_end else _ramped(n, self.first, slope)

        return starts(_points(self.spread, seed), seconds, duration_s)


@dataclass(frozen=True, slots=True)
class Steps:
    """One rate after the other, each for an equal part of the level's duration."""

    rates: tuple[float, ...]
    spread: Spread = "poisson"

    def __post_init__(self) -> None:
        for rate in self.rates:
            positive("a rate of the steps", rate, "5")
        if not self.rates:
            raise UsageError("the steps have no rate", where="arrivals", fix="Give some: step:5,10,20")

    @property
    def text(self) -> str:
        return f"step:{','.join(f'{rate:.12g}' for rate in self.rates)}{_suffix(self.spread)}"

    @property
    def rate(self) -> float:
        return sum(self.rates) / len(self.rates)

    def schedule(self, seed: int, duration_s: float) -> Iterator[Arrival]:
        part_s = duration_s / len(self.rates)
        return starts(_points(self.spread, seed), lambda n: _stepped(n, self.rates, part_s), duration_s)


def _ramped(n: float, first: float, slope: float) -> float:
    """The root of first·t + slope·t²/2 = n, in the form that stays exact for a small slope."""
    return 2 * n / (first + math.sqrt(max(0.0, first**2 + 2 * slope * n))) if n else 0.0


def _stepped(n: float, rates: Sequence[float], part_s: float) -> float:
    """When ``n`` arrivals are reached; the last step goes on."""
    reached = list(accumulate((rate * part_s for rate in rates), initial=0.0))
    step = min(sum(n >= bound for bound in reached[1:]), len(rates) - 1)
    return step * part_s + (n - reached[step]) / rates[step]


def _points(spread: Spread, seed: int) -> Iterator[float]:
    return even() if spread == "even" else exponential(seed)


def _suffix(spread: Spread) -> str:
    return ",even" if spread == "even" else ""
