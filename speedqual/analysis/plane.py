"""Candidates in the plane of speed (or cost) and quality, with their draws: who is on the front, and its shape."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from speedqual.analysis import pareto
from speedqual.analysis.draws import Draws, percentile_bounds, simultaneous_factor
from speedqual.analysis.intervals import Interval, quantile_interval
from speedqual.analysis.measures import Measure
from speedqual.analysis.tidy import Table

__all__ = ["Plane"]

Array = NDArray[np.float64]
_BAND_POINTS = 120


@dataclass(frozen=True, eq=False)
class Plane:
    """``measures``: the axes beside quality, the first of them drawn; ``drawn``: joint draws of all of them."""

    table: Table
    measures: list[Measure]
    drawn: Draws
    level: float = 0.95

    @property
    def known_n(self) -> bool:
        """Whether anything can be resampled: two clusters of items, or counts behind the rates."""
        if self.table.rows is None:
            return bool(self.table.summary["n"].notna().any())
        return len(set(self.table.clusters(self.table.matrix().index))) > 1

    def costs(self) -> Array:
        """Axes as lower-is-better, shape [candidates, axes]."""
        signs = [-1.0 if m.higher_is_better else 1.0 for m in self.measures]
        values = self.table.summary[[m.name for m in self.measures]].to_numpy(float)
        signed: Array = values * np.array(signs)
        return signed

    def draws_of_costs(self) -> Array:
        parts = [self.drawn.x[m.name] * (-1.0 if m.higher_is_better else 1.0) for m in self.measures]
        return np.stack(parts, axis=-1)

    def in_order(self, on: NDArray[np.bool_]) -> list[str]:
        first = self.costs()[:, 0]
        quality = self.table.summary["quality"].to_numpy(float)
        order = np.lexsort((-quality, first))
        return [self.table.names[i] for i in order if on[i]]

    def over_draws(self) -> tuple[pd.DataFrame, Array, Array]:
        """Dominance shares, P(on the front) and mean regret."""
        wins, on, gap = self._judged
        names = self.table.names
        unknown = np.isnan(self.costs()).any(axis=1)
        p_on = np.where(unknown, np.nan, on.mean(axis=0)) if self.known_n else np.full(len(names), np.nan)
        return pd.DataFrame(wins, index=names, columns=names), p_on, gap

    @cached_property
    def _judged(self) -> tuple[Array, NDArray[np.bool_], Array]:
        """Shares of dominance [c, c], who is on the front in each draw [draws, c], mean regret [c]."""
        costs, quality = self.draws_of_costs(), self.drawn.quality
        c = quality.shape[1]
        wins, gap, on = np.zeros((c, c)), np.zeros(c), np.zeros(quality.shape, dtype=bool)
        step = max(1, 1_000_000 // (c * c))
        for start in range(0, len(quality), step):
            part = slice(start, start + step)
            dominates, on[part], regret = pareto.judge(costs[part], quality[part])
            wins += dominates.sum(axis=0)
            gap += regret.sum(axis=0)
        return wins / len(quality), on, gap / len(quality)

    def bounds_of(self, m: Measure) -> tuple[Array, Array]:
        rows = self.table.rows
        if rows is None or m.name not in rows or m.stat == "mean":
            drawn = self.drawn.x[m.name]
            moving = (drawn != drawn[:1]).any(axis=0)
            lo, hi = percentile_bounds(drawn, self.level)
            return np.where(moving, lo, np.nan), np.where(moving, hi, np.nan)
        grouped = rows.groupby("candidate", observed=True)[m.name]
        each = [quantile_interval(grouped.get_group(name), 0.5, self.level) for name in self.table.names]
        return np.array([i.lo for i in each], float), np.array([i.hi for i in each], float)

    def band(self) -> pd.DataFrame:
        """Attainment of the front: its quality at each cost, with the central band over the draws."""
        m = self.measures[0]
        cost = self.draws_of_costs()[..., 0]
        known = np.isfinite(self.costs()[:, 0])
        values = np.abs(self.costs()[known, 0])
        values = values[values > 0]
        if values.size < 2 or not self.known_n:
            return pd.DataFrame(columns=["x", "lo", "mid", "hi"])
        grid = np.geomspace(values.min(), values.max(), _BAND_POINTS)
        signed = -grid if m.higher_is_better else grid
        heights = pareto.staircase(cost[:1000, known], self.drawn.quality[:1000, known], signed)
        reached = np.isfinite(heights).mean(axis=0) >= 0.5
        if not reached.any():
            return pd.DataFrame(columns=["x", "lo", "mid", "hi"])
        tail = 0.5 - self.level / 2
        lo, mid, hi = np.nanquantile(heights[:, reached], [tail, 0.5, 1 - tail], axis=0)
        return pd.DataFrame({"x": grid[reached], "lo": lo, "mid": mid, "hi": hi})

    def hypervolume(
        self, worst_x: float | None, worst_quality: float
    ) -> tuple[Interval | None, tuple[float, float] | None]:
        """Area under the front over the first axis, with its interval; None for a rate or several axes."""
        values = self.costs()[:, 0]
        ok = np.isfinite(values) & (values > 0)
        if len(self.measures) > 1 or self.measures[0].higher_is_better or not ok.any():
            return None, None
        worst = worst_x or float(values[ok].max())
        quality = self.table.summary["quality"].to_numpy(float)
        value = float(pareto.hypervolume(values[ok], quality[ok], worst, worst_quality))
        drawn = pareto.hypervolume(self.draws_of_costs()[:, ok, 0], self.drawn.quality[:, ok], worst, worst_quality)
        tail = 0.5 - self.level / 2
        lo, hi = (float(v) for v in np.quantile(drawn, [tail, 1 - tail])) if self.known_n else (None, None)
        return Interval(value, lo, hi, "joint draws", int(ok.sum()), self.level), (worst, worst_quality)

    def drops(self, front: list[str]) -> pd.DataFrame:
        """Between neighbours on the front, slow to fast: points lost, simultaneous lower bound, loss per doubling."""
        columns = ["slower", "faster", "drop", "drop_lo", "per_doubling", "p_both_on_front"]
        index = [self.table.names.index(name) for name in reversed(front)]
        if len(index) < 2:
            return pd.DataFrame(columns=columns)
        before, after = np.array(index[:-1]), np.array(index[1:])
        drawn = self.drawn.quality[:, before] - self.drawn.quality[:, after]
        quality = self.table.summary["quality"].to_numpy(float)
        drop = quality[before] - quality[after]
        half = simultaneous_factor(drawn, self.level) * drawn.std(axis=0)
        speeds = np.abs(self.costs()[:, 0])
        with np.errstate(divide="ignore", invalid="ignore"):
            doublings = np.abs(np.log2(speeds[before] / speeds[after]))
            slope = np.where((doublings > 0) & np.isfinite(doublings), drop / doublings, np.nan)
        both = self.both_on_front(before, after)
        names = np.array(self.table.names, dtype=object)
        lower = drop - half if self.known_n else np.full(len(drop), np.nan)
        return pd.DataFrame(dict(zip(columns, (names[before], names[after], drop, lower, slope, both), strict=True)))

    def both_on_front(self, before: NDArray[Any], after: NDArray[Any]) -> Array:
        on = self._judged[1]
        both: Array = (on[:, before] & on[:, after]).mean(axis=0)
        return both if self.known_n else np.full(len(before), np.nan)
