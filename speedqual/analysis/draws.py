"""Joint bootstrap draws: the same resampled items for all candidates, timings resampled in blocks of time.

Items are weighted, not copied: a draw is a row of multinomial counts, and all means of all draws are one matrix
product. Work is done in chunks of draws, so memory does not grow with their number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from speedqual.analysis.intervals import cluster_sums
from speedqual.analysis.measures import find_measure
from speedqual.analysis.tidy import Table

__all__ = ["Draws", "joint_draws", "multinomial_weights", "weighted_means"]

Array = NDArray[np.float64]
_CHUNK = 2_000_000  # cells of weights held at once
_BLOCKS = 40  # blocks of time in a stream of timings
_GRID = 257  # points of the empirical distribution kept for a resampled median


@dataclass(frozen=True)
class Draws:
    """``quality``: shape [draws, candidates]; ``x[name]``: the same shape, in the measure's unit, NaN = unknown.

    ``why`` says what was drawn: items, binomial counts, or nothing (n unknown).
    """

    quality: Array
    x: dict[str, Array]
    why: str


def multinomial_weights(groups: int, draws: int, seed: int) -> Iterator[NDArray[np.float32]]:
    """Chunks of resampling counts, shape [some draws, groups]; every row sums to ``groups``."""
    rng = np.random.default_rng(seed)
    size = max(1, min(draws, _CHUNK // max(1, groups)))
    for start in range(0, draws, size):
        b = min(size, draws - start)
        picks = rng.integers(0, groups, size=(b, groups)) + np.arange(b)[:, None] * groups
        yield np.bincount(picks.ravel(), minlength=b * groups).reshape(b, groups).astype(np.float32)


def weighted_means(values: Array, clusters: NDArray[np.str_], draws: int, seed: int) -> Array:
    """Resampled column means of ``values`` [n items, k] over whole clusters, shape [draws, k], NaN cells skipped."""
    known = np.isfinite(values)
    sums = cluster_sums(np.where(known, values, 0.0), clusters).astype(np.float32)
    counts = cluster_sums(known.astype(float), clusters).astype(np.float32)
    both = np.hstack([sums, counts])
    parts = [weights @ both for weights in multinomial_weights(len(sums), draws, seed)]
    total = np.vstack(parts).astype(np.float64)
    k = values.shape[1]
    with np.errstate(invalid="ignore", divide="ignore"):
        means: Array = total[:, :k] / total[:, k:]
    return np.where(np.isfinite(means), means, _fallback(values, known))


def _fallback(values: Array, known: NDArray[np.bool_]) -> Array:
    """Plain column means, for the rare draw that holds none of a candidate's items; NaN for an empty column."""
    n = known.sum(axis=0)
    sums = np.where(known, values, 0.0).sum(axis=0)
    means: Array = np.where(n > 0, sums / np.maximum(n, 1), np.nan)
    return means


def joint_draws(table: Table, measures: list[str], draws: int = 4000, seed: int = 0, column: str = "score") -> Draws:
    """Draw quality and measures of all candidates together.

    With items: cluster bootstrap. With summaries and n: counts from the Jeffreys posterior of each rate, independent of
    one another, and measures fixed at their value. Without n: quality is fixed too.
    """
    if table.rows is None:
        return _draws_of_summary(table, measures, draws, seed)
    means = [m for m in measures if find_measure(m).stat == "mean" and m in table.rows]
    wide = table.matrix(column)
    stacked = np.hstack([wide.to_numpy(float), *(table.matrix(m).reindex(wide.index).to_numpy(float) for m in means)])
    drawn = weighted_means(stacked, table.clusters(wide.index), draws, seed)
    k = len(table.names)
    x = {m: _unknown_stays(drawn[:, k * (i + 1) : k * (i + 2)], table, m) for i, m in enumerate(means)}
    for name in measures:
        if name not in x:
            x[name] = _median_draws(table, name, draws, seed + 1)
    return Draws(drawn[:, :k], x, "items resampled together")


def _unknown_stays(drawn: Array, table: Table, measure: str) -> Array:
    unknown = ~np.isfinite(table.summary[measure].to_numpy(float))
    return np.where(unknown[None, :], np.nan, drawn)


def _draws_of_summary(table: Table, measures: list[str], draws: int, seed: int) -> Draws:
    rng = np.random.default_rng(seed)
    quality, n = table.summary["quality"].to_numpy(float), table.summary["n"].to_numpy(float)
    drawn = np.repeat(quality[None, :], draws, axis=0)
    known = np.isfinite(n) & (n > 0)
    for j in np.flatnonzero(known):
        successes = quality[j] * n[j]
        drawn[:, j] = rng.beta(successes + 0.5, n[j] - successes + 0.5, size=draws)
    x = {m: np.repeat(table.summary[m].to_numpy(float)[None, :], draws, axis=0) for m in measures}
    return Draws(drawn, x, "rates redrawn from their counts, times as given" if known.any() else "n is not known")


def _median_draws(table: Table, measure: str, draws: int, seed: int) -> Array:
    """Resampled medians, shape [draws, candidates]; candidates share their blocks of time, so that drift hits all."""
    fixed = table.summary[measure].to_numpy(float)
    out = np.repeat(fixed[None, :], draws, axis=0)
    if table.rows is None or measure not in table.rows:
        return out
    timed = "started_ms" in table.rows
    grouped = dict(list(table.rows.groupby("candidate", sort=False, observed=True)))
    for j, name in enumerate(table.names):
        rows = grouped[name].sort_values("started_ms") if timed else grouped[name]
        values = rows[measure].to_numpy(float)
        values = values[np.isfinite(values)]
        if values.size >= 2:
            out[:, j] = _block_medians(values, draws, seed) if timed else _order_medians(values, draws, seed + j)
    return out


def _order_medians(values: Array, draws: int, seed: int) -> Array:
    """Medians of resamples of exchangeable values: the middle order statistic of n uniforms is Beta."""
    n = values.size
    rank = np.random.default_rng(seed).beta((n + 1) / 2, (n + 1) / 2, size=draws)
    drawn: Array = np.quantile(values, rank)
    return drawn


def _block_medians(values: Array, draws: int, seed: int) -> Array:
    """Medians of moving-time blocks: the blocks are resampled, the values inside stay together."""
    blocks = np.array_split(values, min(_BLOCKS, values.size))
    grid = np.unique(np.quantile(values, np.linspace(0, 1, min(_GRID, values.size))))
    below = np.array([np.searchsorted(np.sort(block), grid, side="right") for block in blocks], dtype=np.float32)
    sizes = np.array([block.size for block in blocks], dtype=np.float32)
    medians = []
    for weights in multinomial_weights(len(blocks), draws, seed):
        share = (weights @ below) / (weights @ sizes)[:, None]
        medians.append(grid[np.argmax(share >= 0.5 - 1e-6, axis=1)])
    drawn: Array = np.concatenate(medians)
    return drawn


def percentile_bounds(drawn: Array, level: float = 0.95) -> tuple[Array, Array]:
    """Column-wise percentile interval of draws; NaN where a column is unknown."""
    tail = 0.5 - level / 2
    out = np.full((2, drawn.shape[1]), np.nan)
    known = np.isfinite(drawn).all(axis=0)
    if known.any():
        out[:, known] = np.quantile(drawn[:, known], [tail, 1 - tail], axis=0)
    return out[0], out[1]


def simultaneous_factor(drawn: Array, level: float = 0.95) -> float:
    """Half-width, in standard errors, of a band that holds all columns at once (max-t over the draws)."""
    sd = drawn.std(axis=0)
    moving = sd > 0
    if not moving.any():
        return float(stats.norm.ppf(0.5 + level / 2))
    t = np.abs(drawn[:, moving] - drawn[:, moving].mean(axis=0)) / sd[moving]
    return float(np.quantile(t.max(axis=1), level))
