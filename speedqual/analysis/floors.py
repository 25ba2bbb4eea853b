"""Who reaches a quality floor: passes, fails, cannot tell. Holm over the candidates, each way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from speedqual.analysis.intervals import cluster_sums, floor_p_values, holm, is_binary, wilson_lower
from speedqual.analysis.tidy import Table

__all__ = ["judge_floor"]

Array = NDArray[np.float64]
Facts = tuple[float, float, float | None, float | None, float | None]


def judge_floor(table: Table, floor: float | None, alpha: float = 0.05) -> pd.DataFrame:
    """Columns ``floor`` (passes, fails, cannot tell; None without one), ``p_floor`` and one-sided ``lower_bound``.

    Binary scores and brought rates: the one-sided Wilson (score) test. Fractional or clustered scores: t.
    """
    facts = [_facts(table, name, alpha) for name in table.names]
    out = pd.DataFrame({"lower_bound": pd.Series([f[4] for f in facts], dtype=float)})
    if floor is None:
        return out.assign(floor=None, p_floor=np.nan)
    both = [floor_p_values(m, floor, n, se, df) if n else (np.nan, np.nan) for m, n, se, df, _ in facts]
    above, below = holm([p for p, _ in both]), holm([p for _, p in both])
    label = np.where(above <= alpha, "passes", np.where(below <= alpha, "fails", "cannot tell"))
    return out.assign(floor=label, p_floor=above)


def _facts(table: Table, name: str, alpha: float) -> Facts:
    """Mean, n (0 = nothing can be told), SE and degrees of freedom (None for the score test), lower bound."""
    if table.rows is None:
        row = table.summary[table.summary["candidate"] == name].iloc[0]
        n = float(row["n"]) if pd.notna(row["n"]) else 0.0
        q = float(row["quality"])
        return q, n, None, None, wilson_lower(q * n, n, 1 - alpha) if n else None
    wide = table.matrix()
    values = wide[name].to_numpy(float)
    ok = np.isfinite(values)
    y, groups = values[ok], table.clusters(wide.index)[ok]
    if y.size == 0:
        return float("nan"), 0.0, None, None, None
    alone = len(set(groups)) == y.size
    if alone and is_binary(y):
        return float(y.mean()), float(y.size), None, None, wilson_lower(float(y.sum()), y.size, 1 - alpha)
    return _robust(y, groups, alpha)


def _robust(y: Array, groups: NDArray[Any], alpha: float) -> Facts:
    sums = cluster_sums(y - y.mean(), groups)
    se, df = float(np.sqrt((sums**2).sum())) / y.size, float(max(1, sums.size - 1))
    if sums.size < 2:
        return float(y.mean()), 0.0, None, None, None
    lower = float(y.mean() - stats.t.ppf(1 - alpha, df) * se)
    return float(y.mean()), float(y.size), se, df, lower
