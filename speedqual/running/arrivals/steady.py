"""Open loops of one rate: at even distances, at random, in bursts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from speedqual.running.arrivals.base import Arrival
from speedqual.running.arrivals.points import even, exponential, gamma, positive, starts

__all__ = ["Constant", "GammaBursts", "Poisson"]


@dataclass(frozen=True, slots=True)
class Constant:
    """The k-th request at k / ``rate`` seconds, the first one at once."""

    rate: float

    def __post_init__(self) -> None:
        positive("the rate", self.rate, "20")

    @property
    def text(self) -> str:
        return f"constant:{self.rate:.12g}"

    def schedule(self, seed: int, duration_s: float) -> Iterator[Arrival]:
        return starts(even(), lambda n: n / self.rate, duration_s)


@dataclass(frozen=True, slots=True)
class Poisson:
    """Requests that know nothing of each other: exponential gaps of mean 1 / ``rate``."""

    rate: float

    def __post_init__(self) -> None:
        positive("the rate", self.rate, "20")

    @property
    def text(self) -> str:
        return f"poisson:{self.rate:.12g}"

    def schedule(self, seed: int, duration_s: float) -> Iterator[Arrival]:
        return starts(exponential(seed), lambda n: n / self.rate, duration_s)


@dataclass(frozen=True, slots=True)
class GammaBursts:
    """Gamma gaps of mean 1 / ``rate``; ``cv`` above 1 makes bursts with pauses between them, 1 is Poisson."""

    rate: float
    cv: float

    def __post_init__(self) -> None:
        positive("the rate", self.rate, "20")
        positive("cv", self.cv, "2")

    @property
    def text(self) -> str:
        return f"gamma:{self.rate:.12g},cv={self.cv:.12g}"

    def schedule(self, seed: int, duration_s: float) -> Iterator[Arrival]:
        return starts(gamma(seed, self.cv), lambda n: n / self.rate, duration_s)
