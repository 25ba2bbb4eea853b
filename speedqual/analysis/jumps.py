"""Jumps over a smooth trend: the statistics of the cliff rule on rung means and their influence rows.

All contrasts are linear in the means; their errors come from the same influence rows (items or clusters), and their
joint null from Rademacher signs on those rows (max-T).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from speedqual.analysis.intervals import holm
from speedqual.analysis.ladders import Ladder

__all__ = ["Steps", "measure_steps", "trend_contrast"]

Array = NDArray[np.float64]
_MANY_ROWS = 1500  # beyond this many influence rows their signed sums are normal to any precision that matters


@dataclass(frozen=True, eq=False)
class Steps:
    """Per step k (rung k to k + 1), shape [K − 1].

    ``drop`` with simultaneous bounds and ``p_drop`` (one-sided, Holm); ``ratio``: drop per unit of x over the larger
    neighbouring one (inf when no neighbour drops); ``jump`` over a straight trend with ``p_jump`` (max-T); ``logit``
    jump on the logistic scale with ``p_logit`` (Holm); ``p_edge``: jump over a quadratic trend, first and last step
    only, NaN elsewhere; ``p_rise``: one-sided p that the harder rung is not better.
    """

    drop: Array
    drop_lo: Array
    drop_hi: Array
    p_drop: Array
    p_rise: Array
    ratio: Array
    jump: Array
    jump_se: Array
    p_jump: Array
    critical: float
    logit: Array
    p_logit: Array
    p_edge: Array


@lru_cache(maxsize=512)
def trend_contrast(x: tuple[float, ...], step: int, degree: int = 1, near: int = 0) -> tuple[float, ...] | None:
    """Weights c with c·means = height of a step down after rung ``step`` (0-based) over a polynomial trend.

    The step function regressed on 1, x, … x^degree; c is the residual scaled to a unit step. ``near`` limits it to that
    many rungs nearest the edge the step is at; None where the step is no more than a trend could make.

    >>> trend_contrast((0.0, 1.0, 2.0), 0)
    (1.0, -2.0, 1.0)
    """
    k = len(x)
    use = np.arange(k)
    if near and near < k:
        use = use[:near] if step < k // 2 else use[-near:]
    at = np.array(x)[use]
    at = (at - at.mean()) / (at.std() or 1.0)
    trend = np.vander(at, degree + 1)
    s = -(use > step).astype(float)
    residual = s - trend @ np.linalg.lstsq(trend, s, rcond=None)[0]
    scale = float(residual @ s)
    if scale < 1e-9:
        return None
    out = np.zeros(k)
    out[use] = residual / scale
    return tuple(float(v) for v in np.round(out, 12) + 0.0)


def measure_steps(ladder: Ladder, draws: int = 2000, seed: int = 0, alpha: float = 0.05) -> Steps:
    """All step statistics of a ladder that has n."""
    assert ladder.influence is not None
    k = len(ladder.rungs)
    down = np.zeros((k - 1, k))
    down[np.arange(k - 1), np.arange(k - 1)], down[np.arange(k - 1), np.arange(1, k)] = 1.0, -1.0
    jumps = _contrasts(ladder.x, range(k - 1), degree=1)
    edges = _contrasts(ladder.x, _edges(k), degree=2, near=min(6, k)) if k >= 5 else np.zeros((0, k))
    both = np.vstack([down, jumps, edges])
    se = _errors(ladder, both)
    signs = _null_draws(ladder, both, se, draws, seed)
    height = both @ ladder.means
    t = height / se
    d, j, e = slice(0, k - 1), slice(k - 1, 2 * (k - 1)), slice(2 * (k - 1), len(both))
    df = max(1, ladder.groups - 1)
    half = float(np.quantile(np.abs(signs[:, d]).max(axis=1), 1 - alpha)) * se[d]
    logit, p_logit = _logit_jumps(ladder, df)
    p_edge = np.full(k - 1, np.nan)
    if len(edges):
        p_edge[_edges(k)] = _max_t(t[e], signs[:, e])
    return Steps(
        drop=height[d],
        drop_lo=height[d] - half,
        drop_hi=height[d] + half,
        p_drop=holm(stats.t.sf(t[d], df)),
        p_rise=stats.t.cdf(t[d], df),
        ratio=_dominance(height[d], np.diff(ladder.x)),
        jump=height[j],
        jump_se=se[j],
        p_jump=_max_t(t[j], signs[:, j]),
        critical=float(np.quantile(signs[:, j].max(axis=1), 1 - alpha)),
        logit=logit,
        p_logit=p_logit,
        p_edge=p_edge,
    )


def _edges(k: int) -> list[int]:
    return [0, k - 2]


def _contrasts(x: tuple[float, ...], steps: range | list[int], degree: int, near: int = 0) -> Array:
    rows = [trend_contrast(x, step, degree, near) for step in steps]
    return np.array([row if row is not None else np.zeros(len(x)) for row in rows], float).reshape(-1, len(x))


def _errors(ladder: Ladder, contrasts: Array) -> Array:
    variance = np.einsum("ij,jk,ik->i", contrasts, ladder.covariance, contrasts)
    errors: Array = np.sqrt(np.maximum(variance, 1e-18))
    return errors


def _null_draws(ladder: Ladder, contrasts: Array, se: Array, draws: int, seed: int) -> Array:
    """Studentised contrasts under the null, shape [draws, contrasts]: random signs on the influence rows."""
    assert ladder.influence is not None
    rng = np.random.default_rng(seed)
    rows = ladder.influence
    if len(rows) > _MANY_ROWS or not ladder.paired:
        rows = _square_root(ladder.covariance)
        signs = rng.standard_normal((draws, len(rows)))
    else:
        signs = rng.integers(0, 2, size=(draws, len(rows)), dtype=np.int8).astype(float) * 2 - 1
    null: Array = (signs @ (rows @ contrasts.T)) / se
    return null


def _square_root(covariance: Array) -> Array:
    values, vectors = np.linalg.eigh(covariance)
    root: Array = np.asarray(np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T, dtype=np.float64)
    return root


def _max_t(t: Array, null: Array) -> Array:
    """Single-step max-T p-values, never 0: (1 + #{max null ≥ t}) / (1 + draws)."""
    top = np.sort(null.max(axis=1))
    reached = len(top) - np.searchsorted(top, t - 1e-12, side="left")
    p: Array = np.asarray((1.0 + reached) / (1.0 + len(top)), dtype=np.float64)
    return p


def _dominance(drop: Array, width: Array) -> Array:
    slope = drop / width
    padded = np.concatenate([[-np.inf], slope, [-np.inf]])
    neighbour = np.maximum(padded[:-2], padded[2:])
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: Array = np.where(neighbour > 0, slope / neighbour, np.where(slope > 0, np.inf, 0.0))
    return ratio


def _logit_jumps(ladder: Ladder, df: int) -> tuple[Array, Array]:
    """Jumps g of logit μ_j = a + b·x_j + g·1[j > k] (down = positive) and their Holm-adjusted Wald p-values.

    Means of 0 and 1 are moved by half a success, as their error is.
    """
    assert ladder.n is not None
    k = len(ladder.means)
    n = ladder.n
    y = np.clip(ladder.means, 0.5 / n, 1 - 0.5 / n)
    at = np.array(ladder.x)
    at = (at - at.mean()) / (at.std() or 1.0)
    step = -(np.arange(k)[None, :] > np.arange(k - 1)[:, None]).astype(float)
    design = np.stack([np.ones_like(step), np.broadcast_to(at, step.shape), step], axis=-1)
    beta, weights = _fit_logit(design, y, n)
    bread = np.linalg.pinv(np.einsum("skp,sk,skq->spq", design, weights, design))
    scores = design * n[None, :, None]
    meat = np.einsum("skp,kl,slq->spq", scores, ladder.covariance, scores)
    variance = np.einsum("spq,sqr,srt->spt", bread, meat, bread)[:, 2, 2]
    z = beta[:, 2] / np.sqrt(np.maximum(variance, 1e-18))
    return beta[:, 2], holm(stats.t.sf(z, df))


def _fit_logit(design: Array, y: Array, n: Array, rounds: int = 30) -> tuple[Array, Array]:
    """Fractional logistic fits, one per step at once: coefficients [steps, 3] and weights n·μ(1 − μ) [steps, rungs]."""
    steps, k, p = design.shape
    beta = np.zeros((steps, p))
    beta[:, 0] = np.log(y.mean() / (1 - y.mean()))
    eye = 1e-8 * np.eye(p)
    weights = np.ones((steps, k))
    for _ in range(rounds):
        eta = np.clip(np.einsum("skp,sp->sk", design, beta), -15, 15)
        mu = 1 / (1 + np.exp(-eta))
        weights = n * mu * (1 - mu)
        gradient = np.einsum("skp,sk->sp", design, n * (y - mu))
        hessian = np.einsum("skp,sk,skq->spq", design, weights, design) + eye
        change = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        beta += np.clip(change, -4, 4)
        if np.abs(change).max() < 1e-7:
            break
    return beta, weights
