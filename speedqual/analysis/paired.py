"""Two candidates on the same items: paired differences, exact McNemar, power and the n that would settle it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from speedqual.analysis.intervals import cluster_sums

__all__ = ["Difference", "mcnemar_exact", "n_needed", "paired_difference", "power"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Difference:
    """``value`` = mean(b − a) with its interval at ``level``; ``sd`` per cluster-equivalent item; ``p`` two-sided:
    exact McNemar for right/wrong scores of unclustered items, else t."""

    value: float
    lo: float | None
    hi: float | None
    se: float
    p: float | None
    n: int
    groups: int
    method: str
    level: float = 0.95

    def bound(self, side: str, level: float) -> float | None:
        """One-sided ``"lower"`` or ``"upper"`` bound at another level."""
        if self.groups < 2:
            return None
        half = float(stats.t.ppf(level, self.groups - 1)) * self.se
        return self.value - half if side == "lower" else self.value + half


def mcnemar_exact(only_a: int, only_b: int) -> float:
    """Two-sided exact p of equal chances, from the items that only one of the two has right.

    >>> mcnemar_exact(0, 5)  # 2 · (1/2)^5
    0.0625
    """
    n = only_a + only_b
    return 1.0 if n == 0 else float(stats.binomtest(only_a, n, 0.5).pvalue)


def paired_difference(
    a: ArrayLike, b: ArrayLike, clusters: Sequence[Any] | NDArray[Any] | None = None, level: float = 0.95
) -> Difference:
    """b − a over the items both have; SE² = Σ_g(Σ_{i∈g}(d_i − d̄))²/n².

    With right/wrong scores that never differ the SE is that of half a discordant item, so that nothing is certain; the
    interval of scores in [0, 1] ends at ±1.

    >>> got = paired_difference([1, 1, 0, 0], [1, 1, 1, 1])
    >>> got.value, got.p, got.method
    (0.5, 0.5, 'exact McNemar')
    """
    x, y = np.asarray(a, float), np.asarray(b, float)
    ok = np.isfinite(x) & np.isfinite(y)
    d = (y - x)[ok]
    if d.size == 0:
        raise ValueError("there are no common items")
    groups = np.arange(d.size).astype(str) if clusters is None else np.asarray(clusters)[ok]
    sums = cluster_sums(d - d.mean(), groups)
    g = len(sums)
    se = float(np.sqrt((sums**2).sum() * g / max(1, g - 1))) / d.size
    known = np.concatenate([x[ok], y[ok]])
    binary = bool(np.isin(known, (0.0, 1.0)).all())
    if binary and se == 0:
        se = float(np.sqrt(0.5)) / d.size
    alone = binary and g == d.size
    p = _p_value(d, se, g, alone)
    half = float(stats.t.ppf(0.5 + level / 2, g - 1)) * se if g > 1 else None
    value = float(d.mean())
    most = 1.0 if known.min() >= 0 and known.max() <= 1 else np.inf
    lo, hi = (None, None) if half is None else (max(-most, value - half), min(most, value + half))
    return Difference(value, lo, hi, se, p, d.size, g, "exact McNemar" if alone else "clustered t", level)


def _p_value(d: Array, se: float, groups: int, alone: bool) -> float | None:
    if alone:
        return mcnemar_exact(int((d < 0).sum()), int((d > 0).sum()))
    if groups < 2:
        return None
    return float(2 * stats.t.sf(abs(d.mean()) / se, groups - 1)) if se > 0 else float(d.mean() == 0)


def power(effect: float, sd: float, n: int, alpha: float = 0.05) -> float:
    """Chance that a one-sided test at ``alpha`` sees a true mean difference of ``effect`` (items with spread ``sd``).

    >>> round(power(0.1, 0.4, 100), 3)
    0.804
    """
    return float(stats.norm.sf(stats.norm.ppf(1 - alpha) - effect * np.sqrt(n) / sd))


def n_needed(effect: float, sd: float, alpha: float = 0.05, wanted: float = 0.8) -> int | None:
    """Items for ``wanted`` power: ((z_α + z_power)·sd/effect)²; None when the effect is not positive.

    >>> n_needed(0.1, 0.4)  # ((1.645 + 0.842)·4)² = 98.9
    99
    """
    if effect <= 0:
        return None
    z = float(stats.norm.ppf(1 - alpha) + stats.norm.ppf(wanted))
    return int(np.ceil((z * sd / effect) ** 2))
