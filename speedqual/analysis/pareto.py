"""Who is on the front, in plain arrays. All costs are lower-is-better, quality is higher-is-better."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["dominance", "hypervolume", "on_front", "regret", "staircase"]

Array = NDArray[np.float64]


def dominance(costs: Array, quality: Array) -> NDArray[np.bool_]:
    """``out[..., i, j]``: i dominates j: no worse in anything and better in something.

    ``costs`` [..., candidates, axes], ``quality`` [..., candidates]. A candidate with an unknown (NaN) value neither
    dominates nor is dominated. An infinite cost is the worst there is.
    """
    mine, other = costs[..., :, None, :], costs[..., None, :, :]
    q_mine, q_other = quality[..., :, None], quality[..., None, :]
    no_worse = (mine <= other).all(axis=-1) & (q_mine >= q_other)
    better = (mine < other).any(axis=-1) | (q_mine > q_other)
    result: NDArray[np.bool_] = no_worse & better
    return result


def on_front(costs: Array, quality: Array) -> NDArray[np.bool_]:
    """Candidates that nobody dominates; exact ties are all on the front, unknown values never.

    >>> costs = np.array([[1.0], [2.0], [2.0], [3.0]])
    >>> on_front(costs, np.array([0.5, 0.7, 0.7, 0.6])).tolist()
    [True, True, True, False]
    """
    known = np.isfinite(quality) & ~np.isnan(costs).any(axis=-1)
    usable = known & ~np.isinf(costs).any(axis=-1)
    free = ~np.asarray(dominance(costs, quality).any(axis=-2))
    # something that never ends is on the front only where nothing ends
    ends = usable.any(axis=-1, keepdims=True)
    return np.where(ends, free & usable, free & known)


def regret(costs: Array, quality: Array) -> Array:
    """How far below the front a candidate is at its own cost: max quality at no higher cost − its quality, ≥ 0."""
    affordable = (costs[..., :, None, :] <= costs[..., None, :, :]).all(axis=-1)
    q = np.where(affordable, quality[..., :, None], -np.inf).max(axis=-2)
    gap: Array = np.where(np.isnan(costs).any(axis=-1) | np.isnan(quality), np.nan, np.maximum(q - quality, 0.0))
    return gap


def staircase(cost: Array, quality: Array, grid: Array) -> Array:
    """Best quality at or below each cost of ``grid`` (NaN below the cheapest); one axis. Shape [..., len(grid)]."""
    affordable = cost[..., :, None] <= grid
    known = affordable & np.isfinite(quality)[..., :, None]
    best = np.where(known, np.nan_to_num(quality)[..., :, None], -np.inf).max(axis=-2)
    return np.where(np.isfinite(best), best, np.nan)


def hypervolume(cost: Array, quality: Array, worst_cost: float, worst_quality: float = 0.0) -> Array:
    """Area between the front and a reference point, in doublings of cost × quality; one axis.

    ∫ max(0, staircase(c) − worst_quality) d log2 c up to ``worst_cost``.

    >>> round(float(hypervolume(np.array([1.0, 2.0]), np.array([0.5, 0.75]), 4.0)), 3)
    1.25
    """
    order = np.argsort(cost, axis=-1)
    c = np.minimum(np.take_along_axis(cost, order, -1), worst_cost)
    q = np.nan_to_num(np.take_along_axis(quality, order, -1), nan=0.0)
    best = np.maximum.accumulate(np.maximum(q - worst_quality, 0.0), axis=-1)
    ends = np.concatenate([c[..., 1:], np.full((*c.shape[:-1], 1), worst_cost)], axis=-1)
    area: Array = (best * np.log2(ends / c)).sum(axis=-1)
    return area
