"""Who is on the front, in plain arrays. All costs are lower-is-better, quality is higher-is-better."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["dominance", "hypervolume", "judge", "on_front", "regret", "staircase"]

Array = NDArray[np.float64]


def dominance(costs: Array, quality: Array) -> NDArray[np.bool_]:
    """``out[..., i, j]``: i dominates j: no worse in anything and better in something.

    ``costs`` [..., candidates, axes], ``quality`` [..., candidates]. A candidate with an unknown (NaN) value neither
    dominates nor is dominated. An infinite cost is the worst there is.
    """
    return _dominance(*_cheaper(costs), quality)


def _cheaper(costs: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """i costs no more than j on every axis; i costs less on some axis. One axis at a time: few axes, many draws."""
    no_more = less = None
    for axis in range(costs.shape[-1]):
        mine, other = costs[..., :, None, axis], costs[..., None, :, axis]
        no_more = mine <= other if no_more is None else no_more & (mine <= other)
        less = mine < other if less is None else less | (mine < other)
    assert no_more is not None and less is not None
    return no_more, less


def _dominance(no_more: NDArray[np.bool_], less: NDArray[np.bool_], quality: Array) -> NDArray[np.bool_]:
    q_mine, q_other = quality[..., :, None], quality[..., None, :]
    return no_more & (q_mine >= q_other) & (less | (q_mine > q_other))


def on_front(costs: Array, quality: Array) -> NDArray[np.bool_]:
    """Candidates that nobody dominates; exact ties are all on the front, unknown values never.

    >>> costs = np.array([[1.0], [2.0], [2.0], [3.0]])
    >>> on_front(costs, np.array([0.5, 0.7, 0.7, 0.6])).tolist()
    [True, True, True, False]
    """
    return _undominated(dominance(costs, quality), costs, quality)


def _undominated(dominates: NDArray[np.bool_], costs: Array, quality: Array) -> NDArray[np.bool_]:
    known = np.isfinite(quality) & ~np.isnan(costs).any(axis=-1)
    usable = known & ~np.isinf(costs).any(axis=-1)
    free = ~np.asarray(dominates.any(axis=-2))
    # something that never ends is on the front only where nothing ends
    ends = usable.any(axis=-1, keepdims=True)
    return np.where(ends, free & usable, free & known)


def regret(costs: Array, quality: Array) -> Array:
    """How far below the front a candidate is at its own cost: max quality at no higher cost − its quality, ≥ 0."""
    return _regret(_cheaper(costs)[0], costs, quality)


def _regret(no_more: NDArray[np.bool_], costs: Array, quality: Array) -> Array:
    q = np.where(no_more, quality[..., :, None], -np.inf).max(axis=-2)
    gap: Array = np.where(np.isnan(costs).any(axis=-1) | np.isnan(quality), np.nan, np.maximum(q - quality, 0.0))
    return gap


def judge(costs: Array, quality: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Array]:
    """Dominance, front and regret of many draws at once; costs that no draw changes are compared only once."""
    fixed = costs[:1] if len(costs) > 1 and _same_in_all(costs) else costs
    no_more, less = _cheaper(fixed)
    dominates = _dominance(no_more, less, quality)
    return dominates, _undominated(dominates, fixed, quality), _regret(no_more, fixed, quality)


def _same_in_all(costs: Array) -> bool:
    return bool(((costs == costs[:1]) | (np.isnan(costs) & np.isnan(costs[:1]))).all())


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
