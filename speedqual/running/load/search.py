"""The knee by search: the highest rate, or number of users, at which every SLO holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from speedqual.errors import UsageError
from speedqual.records import Plain
from speedqual.running.load.ladders import arrivals_level
from speedqual.running.load.levels import Level

__all__ = ["Search", "Tried", "next_x"]

Tried = dict[float, bool]
"""Coordinate → whether its level was shown to hold every SLO, or seemed to where its judge says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search(Plain):
    """Doubles from ``low`` until a level is not shown to hold, then halves the gap (as a ratio) until it is under
    ``within``; never above ``high``, never more than ``tries`` levels.

    ``level``: what is sent; in its ``arrivals`` and name stands the number of ``low``, which each try replaces. A slow
    rate is sent for longer than its duration says, until ``least_n`` requests can be judged.
    """

    level: Level
    high: float
    tries: int = 10
    within: float = 0.1
    least_n: int = 100

    @property
    def low(self) -> float:
        return self.level.x

    def __post_init__(self) -> None:
        fits = {
            "high": self.low <= self.high < float("inf"),
            "tries": self.tries >= 2,
            "within": 0 < self.within < 1,
        }
        for name, is_so in fits.items():
            if not is_so:
                fix = "Search from a low to a higher level, in two tries or more"
                raise UsageError(f"{name} is {getattr(self, name)!r}", where="search for the knee", fix=fix)
        if self.level.arrivals != self._arrivals(self.low):
            what = f"arrivals {self.level.arrivals!r} do not name {self.low:g} alone"
            fix = "Search over poisson:RATE, constant:RATE, gamma:RATE,cv=… or users:N"
            raise UsageError(what, where="search for the knee", fix=fix)

    def at(self, x: float) -> Level:
        """The level of this coordinate."""
        level = arrivals_level(self._arrivals(x), self.level)
        if level.unit != "req/s" or level.duration_s is None:
            return level
        cut_s = level.warmup_s + level.cooldown_s
        return replace(level, duration_s=max(level.duration_s, cut_s + self.least_n / x))

    def _arrivals(self, x: float) -> str:
        kind, _, rest = self.level.arrivals.partition(":")
        _, comma, options = rest.partition(",")
        return f"{kind}:{x:g}{comma}{options}"

    def next(self, tried: Tried) -> float | None:
        """The next coordinate, None when the knee is enclosed."""
        if len(tried) >= self.tries:
            return None
        return next_x(tried, self.low, self.high, self.within, whole=self.level.unit == "users")


def next_x(tried: Tried, low: float, high: float, within: float, *, whole: bool) -> float | None:
    """Where to look next.

    >>> next_x({}, 5, 100, 0.1, whole=False), next_x({5: True}, 5, 100, 0.1, whole=False)
    (5, 10)
    >>> next_x({5: True, 10: True, 20: False}, 5, 100, 0.1, whole=False)
    14.14
    """
    if not tried:
        return low
    fails = min((x for x, held in tried.items() if not held), default=None)
    holds = max((x for x, held in tried.items() if held and (fails is None or x < fails)), default=None)
    if holds is None:
        return None  # not even the lowest
    if fails is None:
        return None if holds >= high else min(2 * holds, high)
    return next(iter(_between(holds, fails, within, whole=whole)), None)


def _between(holds: float, fails: float, within: float, *, whole: bool) -> Iterator[float]:
    if fails / holds <= 1 + within:
        return
    middle = (holds * fails) ** 0.5
    x = float(round(middle)) if whole else float(f"{middle:.4g}")
    if holds < x < fails:
        yield x
