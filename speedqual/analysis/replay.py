"""Recorded items of two candidates, and what each policy would have made of them: score, time and cost per item."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from speedqual.analysis.draws import multinomial_weights
from speedqual.analysis.intervals import cluster_sums
from speedqual.analysis.tidy import Table
from speedqual.errors import UsageError

__all__ = ["TIMES", "Outcome", "Replay"]

Array = NDArray[np.float64]
TIMES = ("e2e_user_ms", "e2e_ms", "seconds")

Outcome = tuple[str, Array, Array | None, Array | None, Array, str]
"""A policy's name; its score, time and cost per item; which items ask the strong one; what it assumes."""


@dataclass(eq=False)
class Replay:
    """Both candidates on their common items. ``y``: scores, shape [items, 2], fast then strong; ``time`` and ``cost``
    the same shape, None = unknown."""

    table: Table
    fast: str
    strong: str
    check_seconds: float = 0.0
    check_usd: float = 0.0
    hedge_at: float = 0.9
    draws: int = 2000
    seed: int = 0
    items: pd.Index[Any] = field(init=False)
    y: Array = field(init=False)
    time: Array | None = field(init=False)
    cost: Array | None = field(init=False)
    clusters: NDArray[Any] = field(init=False)
    time_name: str = field(init=False)

    def __post_init__(self) -> None:
        wide = self.table.matrix()[[self.fast, self.strong]]
        wide = wide[wide.notna().all(axis=1)]
        if len(wide) < 2:
            raise UsageError(f"{self.fast} and {self.strong} have no items in common")
        self.items, self.y = wide.index, wide.to_numpy(float)
        self.clusters = self.table.clusters(self.items)
        self.time_name = next((m for m in TIMES if self.table.rows is not None and m in self.table.rows), "")
        self.time, self.cost = self._pair_of(self.time_name), self._pair_of("cost_usd")

    def _pair_of(self, column: str) -> Array | None:
        """Both candidates' values per item; None when unknown for more than a tenth of them (rare gaps: the mean)."""
        if self.table.rows is None or not column or column not in self.table.rows:
            return None
        both = self.table.matrix(column).reindex(self.items)[[self.fast, self.strong]]
        if (both.notna().mean() < 0.9).any():
            return None
        values: Array = both.fillna(both.mean()).to_numpy(float)
        return values

    @property
    def unit(self) -> str:
        return "s" if self.time_name == "seconds" else "ms" if self.time_name else ""

    @property
    def facts(self) -> pd.DataFrame:
        """The columns of the common items, one row an item."""
        assert self.table.rows is not None
        return self.table.rows.drop_duplicates("item").set_index("item").reindex(self.items)

    def routed(self, name: str, strong: NDArray[np.bool_], assumes: str) -> Outcome:
        pick, at = strong.astype(int), np.arange(len(strong))
        time = None if self.time is None else self.time[at, pick]
        cost = None if self.cost is None else self.cost[at, pick]
        return name, self.y[at, pick], time, cost, strong.astype(float), assumes

    def cascade(self, name: str, failed: NDArray[np.bool_], tried: NDArray[np.bool_], assumes: str) -> Outcome:
        """Fast first where ``tried``; where its check fails the strong one is asked too, and both are paid for."""
        again = failed | ~tried
        score = np.where(again, self.y[:, 1], self.y[:, 0])
        check_time = self.check_seconds * (1000.0 if self.unit == "ms" else 1.0)
        time = None if self.time is None else _summed(self.time, tried, again, check_time)
        cost = None if self.cost is None else _summed(self.cost, tried, again, self.check_usd)
        return name, score, time, cost, again.astype(float), assumes

    def hedged(self) -> Outcome:
        """The strong one joins after the fast one's ``hedge_at`` quantile; the first to finish is taken."""
        assert self.time is not None
        wait = float(np.quantile(self.time[:, 0], self.hedge_at))
        late = self.time[:, 0] > wait
        other = wait + self.time[:, 1]
        taken = late & (other < self.time[:, 0])
        score = np.where(taken, self.y[:, 1], self.y[:, 0])
        time = np.where(taken, other, self.time[:, 0])
        cost = None if self.cost is None else self.cost[:, 0] + np.where(late, self.cost[:, 1], 0.0)
        return f"hedge after p{100 * self.hedge_at:.0f}", score, time, cost, late.astype(float), "both may run"

    def row(
        self, name: str, score: Array, time: Array | None, cost: Array | None, strong: Array, assumes: str
    ) -> dict[str, Any]:
        q_fast, q_strong = (float(v) for v in self.y.mean(axis=0))
        lo, hi = self.bounds(score)
        quality, gap = float(score.mean()), q_strong - q_fast
        paid = None if self.cost is None else float(self.cost[:, 1].mean())
        spent = None if cost is None else float(cost.mean())
        return {
            "policy": name,
            "quality": quality,
            "quality_lo": lo,
            "quality_hi": hi,
            "share_strong": float(strong.mean()),
            "cost": spent,
            "time_p50": None if time is None else float(np.quantile(time, 0.5)),
            "time_p95": None if time is None else float(np.quantile(time, 0.95)),
            "gap_recovered": (quality - q_fast) / gap if gap > 0 else None,
            "of_strong_quality": quality / q_strong if q_strong > 0 else None,
            "of_strong_cost": spent / paid if spent is not None and paid else None,
            "assumes": assumes,
        }

    def bounds(self, score: Array) -> tuple[float | None, float | None]:
        sums = cluster_sums(np.column_stack([score, np.ones_like(score)]), self.clusters)
        if len(sums) < 2:
            return None, None
        drawn = np.vstack([w @ sums for w in multinomial_weights(len(sums), self.draws, self.seed)])
        lo, hi = np.quantile(drawn[:, 0] / drawn[:, 1], [0.025, 0.975])
        return float(lo), float(hi)


def _summed(both: Array, tried: NDArray[np.bool_], again: NDArray[np.bool_], check: float) -> Array:
    """What a cascade takes per item: the fast one and its check where tried, the strong one where asked again."""
    total: Array = np.where(tried, both[:, 0] + check, 0.0) + np.where(again, both[:, 1], 0.0)
    return total
