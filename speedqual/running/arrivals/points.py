"""Where arrivals fall when one is due in each unit of expected arrivals; a rate stretches them to seconds.

Draws go through ``random.Random(text).random`` and an inverse distribution function, whose results no release of
Python or NumPy changes.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from itertools import accumulate, takewhile

from speedqual.errors import UsageError
from speedqual.running.arrivals.base import Arrival

__all__ = ["even", "exponential", "gamma", "positive", "starts"]

Seconds = Callable[[float], float]
"""Expected number of arrivals so far → when that many are reached, seconds after the level's start."""


def even() -> Iterator[float]:
    """0, 1, 2, …"""
    number = 0
    while True:
        yield float(number)
        number += 1


def exponential(seed: int) -> Iterator[float]:
    """Gaps of a Poisson process of rate 1, summed."""
    return accumulate(-math.log1p(-u) for u in _uniform("exponential", seed))


def gamma(seed: int, cv: float) -> Iterator[float]:
    """Gaps of mean 1 and coefficient of variation ``cv`` (shape 1 / cv², scale cv²), summed."""
    from scipy.special import gammaincinv

    shape, scale = cv**-2, cv**2
    return accumulate(float(gammaincinv(shape, u)) * scale for u in _uniform("gamma", seed))


def _uniform(kind: str, seed: int) -> Iterator[float]:
    rng = random.Random(f"arrivals/{kind}/{seed}")
    while True:
        yield rng.random()


def starts(points: Iterator[float], seconds: Seconds, duration_s: float) -> Iterator[Arrival]:
    """The arrivals at ``points`` that fall before ``duration_s``."""
    end_ns = round(positive("the duration", duration_s, "30") * 1e9)
    return (Arrival(at) for at in takewhile(lambda at: at < end_ns, (round(seconds(p) * 1e9) for p in points)))


def positive(name: str, value: float, example: str) -> float:
    """``value``; UsageError unless it is a finite number above 0."""
    if not 0 < value < math.inf:
        raise UsageError(f"{name} is {value!r}", where="arrivals", fix=f"Give a number above 0, such as {example}")
    return value
