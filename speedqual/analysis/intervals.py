"""Intervals for one number: never Wald. 95 % two-sided unless said.

Sources: Wilson 1927; Miller 2024 (arXiv 2411.00640) for clustered errors; Bowyer et al. 2025 (arXiv 2503.01747).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

__all__ = [
    "Interval",
    "bootstrap_mean",
    "clopper_pearson",
    "cluster_mean",
    "cluster_sums",
    "floor_p_values",
    "holm",
    "mean_interval",
    "quantile_interval",
    "t_mean",
    "wilson",
    "wilson_lower",
    "wilson_upper",
]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """An estimate with its bounds; a bound that the data cannot give is None, with the reason in ``why``."""

    value: float | None
    lo: float | None
    hi: float | None
    method: str
    n: int
    level: float = 0.95
    why: str = ""


def wilson(successes: float, n: float, level: float = 0.95) -> Interval:
    """Wilson score interval; ``successes`` may be fractional (a rate times n).

    >>> interval = wilson(45, 50)
    >>> round(interval.lo, 4), round(interval.hi, 4)
    (0.7864, 0.9565)
    """
    if n <= 0:
        return Interval(None, None, None, "wilson", 0, level, "no items")
    z = float(stats.norm.ppf(0.5 + level / 2))
    lo, hi = _wilson_bounds(successes / n, n, z)
    return Interval(successes / n, lo, hi, "wilson", int(n), level)


def _wilson_bounds(p: float, n: float, z: float) -> tuple[float, float]:
    centre = p + z * z / (2 * n)
    half = z * float(np.sqrt(max(0.0, p * (1 - p) / n + z * z / (4 * n * n))))
    scale = 1 + z * z / n
    # at 0 and n the closed form is exact but for rounding
    lo = 0.0 if p <= 0 else (centre - half) / scale
    hi = 1.0 if p >= 1 else (centre + half) / scale
    return max(0.0, lo), min(1.0, hi)


def wilson_lower(successes: float, n: float, level: float = 0.95) -> float:
    """One-sided lower Wilson bound, the one a floor is held against.

    >>> round(wilson_lower(45, 50), 4)
    0.8085
    """
    return _wilson_bounds(successes / n, n, float(stats.norm.ppf(level)))[0]


def wilson_upper(successes: float, n: float, level: float = 0.95) -> float:
    """One-sided upper Wilson bound.

    >>> round(wilson_upper(0, 30), 4)
    0.0827
    """
    return _wilson_bounds(successes / n, n, float(stats.norm.ppf(level)))[1]


def clopper_pearson(successes: int, n: int, level: float = 0.95) -> Interval:
    """Exact (conservative) binomial interval.

    >>> interval = clopper_pearson(0, 10)
    >>> interval.lo, round(interval.hi, 4)
    (0.0, 0.3085)
    """
    if n <= 0:
        return Interval(None, None, None, "clopper-pearson", 0, level, "no items")
    bounds = stats.binomtest(successes, n).proportion_ci(confidence_level=level, method="exact")
    return Interval(successes / n, float(bounds.low), float(bounds.high), "clopper-pearson", n, level)


def t_mean(values: ArrayLike, level: float = 0.95) -> Interval:
    """Student's t for a mean; unbounded in principle, so clipped to no range.

    >>> interval = t_mean([0.2, 0.4, 0.6, 0.8])
    >>> round(interval.value, 3), round(interval.lo, 3), round(interval.hi, 3)
    (0.5, 0.089, 0.911)
    """
    y = np.asarray(values, dtype=float)
    n = y.size
    if n < 2:
        value = float(y[0]) if n else None
        return Interval(value, None, None, "t", n, level, "needs two values")
    half = float(stats.t.ppf(0.5 + level / 2, n - 1) * y.std(ddof=1) / np.sqrt(n))
    return Interval(float(y.mean()), float(y.mean()) - half, float(y.mean()) + half, "t", n, level)


def cluster_sums(values: ArrayLike, clusters: Sequence[Any] | NDArray[Any]) -> Array:
    """Sum of ``values`` (shape [n] or [n, k]) inside each cluster, shape [G] or [G, k]."""
    y = np.asarray(values, dtype=float)
    _, code = np.unique(np.asarray(clusters).astype(str), return_inverse=True)
    sums = np.zeros((int(code.max()) + 1, *y.shape[1:]))
    np.add.at(sums, code, y)
    return sums


def cluster_mean(values: ArrayLike, clusters: Sequence[Any] | NDArray[Any], level: float = 0.95) -> Interval:
    """Mean with a cluster-robust error: SE² = Σ_g(Σ_{i∈g}(y_i − ȳ))²/n², t with G − 1 degrees.

    Two clusters of equal halves: sums of residuals ±1, so SE² = 2/16 and t(1) = 12.706.

    >>> interval = cluster_mean([1, 1, 0, 0], ["a", "a", "b", "b"])
    >>> round((interval.hi - interval.value) / 12.7062, 4) == round((2 / 16) ** 0.5, 4)
    True
    """
    y = np.asarray(values, dtype=float)
    mean = float(y.mean())
    sums = cluster_sums(y - mean, clusters)
    if sums.size < 2:
        return Interval(mean, None, None, "cluster t", y.size, level, "one cluster")
    se = float(np.sqrt((sums**2).sum())) / y.size
    half = float(stats.t.ppf(0.5 + level / 2, sums.size - 1)) * se
    return Interval(mean, mean - half, mean + half, "cluster t", y.size, level)


def bootstrap_mean(
    values: ArrayLike, clusters: Sequence[Any] | None = None, level: float = 0.95, draws: int = 4000, seed: int = 0
) -> Interval:
    """Percentile bootstrap of a mean over whole clusters (over items when none are given)."""
    y = np.asarray(values, dtype=float)
    if y.size < 2:
        return Interval(float(y[0]) if y.size else None, None, None, "bootstrap", y.size, level, "needs two values")
    groups = np.arange(y.size) if clusters is None else clusters
    sums, sizes = cluster_sums(y, groups), cluster_sums(np.ones_like(y), groups)
    weights = np.random.default_rng(seed).multinomial(sums.size, np.full(sums.size, 1 / sums.size), size=draws)
    means = (weights @ sums) / (weights @ sizes)
    lo, hi = np.quantile(means, [0.5 - level / 2, 0.5 + level / 2])
    return Interval(float(y.mean()), float(lo), float(hi), "cluster bootstrap", y.size, level)


def is_binary(values: ArrayLike) -> bool:
    """True when every value is 0 or 1."""
    y = np.asarray(values, dtype=float)
    return bool(np.isin(y, (0.0, 1.0)).all())


def mean_interval(
    values: ArrayLike, clusters: Sequence[Any] | NDArray[Any] | None = None, level: float = 0.95, seed: int = 0
) -> Interval:
    """The house rule for one quality number in [0, 1].

    Clusters: cluster t, or Wilson over the clusters when all are right or all wrong. Binary: Wilson. Fractional: t for
    n ≥ 200, else a bootstrap. Clipped to [0, 1].
    """
    y = np.asarray(values, dtype=float)
    y = y[np.isfinite(y)] if clusters is None else y
    if y.size == 0:
        return Interval(None, None, None, "none", 0, level, "no items")
    if clusters is not None and len(set(np.asarray(clusters).astype(str))) < y.size:
        if is_binary(y) and y.min() == y.max():  # no variance to estimate from: as many coin tosses as clusters
            groups = len(set(np.asarray(clusters).astype(str)))
            return replace(wilson(float(y[0]) * groups, groups, level), n=y.size)
        return _clipped(cluster_mean(y, clusters, level))
    if is_binary(y):
        return wilson(float(y.sum()), y.size, level)
    return _clipped(t_mean(y, level) if y.size >= 200 else bootstrap_mean(y, None, level, seed=seed))


def _clipped(interval: Interval) -> Interval:
    if interval.lo is None or interval.hi is None:
        return interval
    lo, hi = max(0.0, interval.lo), min(1.0, interval.hi)
    return Interval(interval.value, lo, hi, interval.method, interval.n, interval.level, interval.why)


def quantile_interval(values: ArrayLike, q: float, level: float = 0.95) -> Interval:
    """A percentile by linear interpolation with its order-statistic interval.

    The bounds are order statistics whose ranks have binomial tails of at most (1 − level)/2 each; where n is too small
    for a bound, that bound alone is None.

    >>> interval = quantile_interval(range(1, 101), 0.5)
    >>> interval.value, interval.lo, interval.hi
    (50.5, 40.0, 61.0)
    >>> quantile_interval(range(20), 0.95).hi is None
    True
    """
    y = np.sort(np.asarray(values, dtype=float))
    y = y[np.isfinite(y)]
    n = y.size
    if n == 0:
        return Interval(None, None, None, "order statistics", 0, level, "no values")
    tail = (1 - level) / 2
    low, high = _ranks(n, q, tail)
    lo = float(y[low - 1]) if low >= 1 else None
    hi = float(y[high - 1]) if high <= n else None
    why = "" if lo is not None and hi is not None else "n too small"
    return Interval(float(np.quantile(y, q)), lo, hi, "order statistics", n, level, why)


def _ranks(n: int, q: float, tail: float) -> tuple[int, int]:
    """1-based ranks (low, high) with P(X_low > quantile) and P(X_high < quantile) ≤ tail; 0 and n + 1 = none."""
    low = int(stats.binom.ppf(tail, n, q))
    if stats.binom.cdf(low - 1, n, q) > tail:
        low -= 1
    high = int(stats.binom.ppf(1 - tail, n, q)) + 1
    return low, high


def holm(p_values: ArrayLike) -> Array:
    """Holm's adjusted p-values in the order given; NaN stays NaN and does not count.

    >>> [round(float(p), 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    adjusted = np.full(p.shape, np.nan)
    known = np.flatnonzero(np.isfinite(p))
    order = known[np.argsort(p[known], kind="stable")]
    factors = np.arange(order.size, 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * factors)) if order.size else []
    return adjusted


def floor_p_values(
    mean: float, floor: float, n: float, se: float | None = None, df: float | None = None
) -> tuple[float, float]:
    """One-sided p-values (p of "not above the floor", p of "not below it").

    Without ``se``: the score test behind the Wilson bound; with it: t with ``df`` degrees.

    >>> above, below = floor_p_values(0.95, 0.9, 100)
    >>> round(above, 4)
    0.0478
    """
    if se is None:
        z = (
            (mean - floor) / float(np.sqrt(floor * (1 - floor) / n))
            if 0 < floor < 1
            else np.sign(mean - floor) * np.inf
        )
        return float(stats.norm.sf(z)), float(stats.norm.cdf(z))
    if se <= 0:
        return (0.0, 1.0) if mean > floor else (1.0, 0.0) if mean < floor else (1.0, 1.0)
    t = (mean - floor) / se
    return float(stats.t.sf(t, df or 1)), float(stats.t.cdf(t, df or 1))
