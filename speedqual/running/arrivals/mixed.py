"""Several classes of traffic at once, each with its own arrivals: the interactive beside the batch."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, replace

from speedqual.errors import UsageError
from speedqual.running.arrivals.base import Arrival, OpenLoop

__all__ = ["Mixed", "Traffic"]


@dataclass(frozen=True, slots=True)
class Traffic:
    """One class: what SLOs and figures call it, and when its requests start."""

    name: str
    arrivals: OpenLoop


@dataclass(frozen=True, slots=True)
class Mixed:
    """The classes merged into one schedule; each draws from a seed of its own."""

    classes: tuple[Traffic, ...]

    def __post_init__(self) -> None:
        names = [one.name for one in self.classes]
        if len(set(names)) < max(2, len(names)) or not all(names):
            fix = "Give two or more, each with a name of its own: interactive=poisson:15 + batch=constant:2"
            raise UsageError(f"the classes of a mix are {names}", where="arrivals", fix=fix)

    @property
    def text(self) -> str:
        return " + ".join(f"{one.name}={one.arrivals.text}" for one in self.classes)

    @property
    def rate(self) -> float:
        return sum(one.arrivals.rate for one in self.classes)

    def schedule(self, seed: int, duration_s: float) -> Iterator[Arrival]:
        each = (self._named(one, seed + 1_000_003 * number, duration_s) for number, one in enumerate(self.classes))
        return heapq.merge(*each, key=lambda arrival: arrival.at_ns)

    def _named(self, one: Traffic, seed: int, duration_s: float) -> Iterator[Arrival]:
        return (replace(arrival, traffic=one.name) for arrival in one.arrivals.schedule(seed, duration_s))
