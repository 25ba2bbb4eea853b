"""What is known of an item before it is asked, and how much the strong candidate gains there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["additive_gain", "as_groups", "cross_fitted", "easy_groups", "folds_of"]

Array = NDArray[np.float64]
_BINS = 8
_PRIOR = 20.0  # items' worth of the common mean that a group's mean is pulled with


def as_groups(values: pd.Series[Any]) -> NDArray[Any]:
    """A feature as groups: words as they are, numbers in up to eight bins of equal count."""
    if pd.api.types.is_numeric_dtype(values):
        return (
            pd.qcut(values.rank(method="average"), _BINS, labels=False, duplicates="drop")
            .fillna(-1)
            .to_numpy()
            .astype(str)
        )
    return values.fillna("").astype(str).to_numpy()


def folds_of(clusters: NDArray[Any], folds: int, seed: int) -> NDArray[np.int64]:
    """Fold of each item; a cluster is never split unless there are fewer clusters than folds."""
    rng = np.random.default_rng(seed)
    names, code = np.unique(clusters.astype(str), return_inverse=True)
    if len(names) < 2 * folds:
        return rng.permutation(len(clusters)) % folds
    return rng.permutation(len(names))[code] % folds


def cross_fitted(fold: NDArray[Any], fit: Callable[[NDArray[Any], NDArray[Any]], Array], size: int) -> Array:
    """``fit(train, test)`` for every fold, put together: no item takes part in its own prediction."""
    out = np.zeros(size)
    for number in np.unique(fold):
        test = fold == number
        out[test] = fit(~test, test)
    return out


def additive_gain(train_keys: NDArray[Any], gain: Array, test_keys: NDArray[Any]) -> Array:
    """Predicted gain: the common mean and, feature by feature, shrunken group means of what is left.

    >>> keys = np.array([["easy"], ["hard"]] * 200)
    >>> [round(float(v), 2) for v in additive_gain(keys, np.array([0.0, 1.0] * 200), keys[:2])]
    [0.05, 0.95]
    """
    out = np.full(len(test_keys), float(gain.mean()))
    left = gain - gain.mean()
    for j in range(train_keys.shape[1]):
        sums = pd.Series(left).groupby(train_keys[:, j]).agg(["sum", "count"])
        effect = (sums["sum"] / (sums["count"] + _PRIOR)).to_dict()
        out += np.array([effect.get(key, 0.0) for key in test_keys[:, j]])
        left = left - np.array([effect[key] for key in train_keys[:, j]])
    return out


def easy_groups(key: NDArray[Any], fast: Array, strong: Array, keep: float) -> tuple[str, ...]:
    """Groups sent to the fast one, least loss first, as long as all together keep ``keep`` of the strong one's quality.

    >>> key = np.array(["easy"] * 10 + ["hard"] * 10)
    >>> easy_groups(key, np.r_[np.ones(10), np.zeros(10)], np.ones(20), 0.98)
    ('easy',)
    """
    allowed = (1 - keep) * float(strong.sum())
    loss = {str(g): float((strong[key == g] - fast[key == g]).sum()) for g in dict.fromkeys(key)}
    size = {g: int((key == g).sum()) for g in loss}
    chosen, spent = [], 0.0
    for g in sorted(loss, key=lambda g: loss[g] / size[g]):
        if spent + loss[g] > allowed:
            break
        chosen.append(g)
        spent += loss[g]
    return tuple(g for g in loss if g in chosen)
