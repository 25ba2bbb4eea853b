"""Quality at a deadline, or at a budget: S(t) = mean of score × [done by t], and who is best at each t.

An answer that comes too late is worth nothing. The upper envelope over the candidates names the best one for each
deadline; it switches where another takes the lead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from speedqual.analysis.base import Result, records
from speedqual.analysis.draws import multinomial_weights, simultaneous_factor
from speedqual.analysis.intervals import cluster_sums
from speedqual.analysis.measures import Measure, find_measure
from speedqual.analysis.tidy import Table, tidy
from speedqual.display.numbers import digits, percent
from speedqual.errors import UsageError

__all__ = ["Deadlines", "DeadlinesResult", "curve_at"]

Array = NDArray[np.float64]
_TIMES = ("e2e_user_ms", "e2e_ms", "seconds")


@dataclass(frozen=True)
class Deadlines:
    """Parameters.

    ``x``: what must be within the limit: empty = the user's time of the whole answer; ``"cost"`` for a budget.
    ``at``: limits to report beside the curve, in the measure's unit. ``lead``: points by which another candidate must
    be better before the advice switches (noise would make it flicker). ``points``: grid of the curve.
    """

    x: str = ""
    at: tuple[float, ...] = ()
    lead: float = 0.01
    points: int = 80
    draws: int = 1000
    seed: int = 0
    level: float = 0.95

    def __call__(self, data: Any) -> DeadlinesResult:
        """Analyse a run, its ``df`` or ``from_table(…)``."""
        table = tidy(data)
        measure = _limit_of(table, self.x)
        parts = {name: _arrivals(table, name, measure.name) for name in table.names}
        parts = {name: part for name, part in parts.items() if np.isfinite(part.when).any()}
        if not parts:
            raise UsageError(f"no candidate has a {measure.name}", fix="Name a column with seconds= or cost=")
        grid = _grid(parts, self.points, self.at)
        curves = np.array([curve_at(part.when, part.worth, grid) for part in parts.values()])
        lows, highs = _bands(parts, grid, self)
        switches = _switches(parts, self.lead)
        best = np.argmax(curves, axis=0)
        table_out = _long(list(parts), grid, curves, lows, highs, best)
        notes = list(table.notes)
        if table.rows is None:
            notes.append("one time per candidate: all its answers are taken to come at that moment")
        verdict = _verdict(switches, measure)
        return DeadlinesResult(table_out, verdict, tuple(notes), measure, switches, np.asarray(grid))


@dataclass(frozen=True, eq=False, repr=False)
class DeadlinesResult(Result):
    """``table``: ``deadline, candidate, quality, quality_lo, quality_hi, best``; the band holds over all of the grid.

    ``switches``: ``start, end, candidate, quality`` (at the segment's end), fastest first.
    """

    measure: Measure
    switches: pd.DataFrame
    grid: Array

    def to_dict(self) -> dict[str, Any]:
        """``switches[]`` and ``curve[]``; strict JSON."""
        return {
            "kind": "deadlines",
            "verdict": self.verdict,
            "notes": list(self.notes),
            "x": self.measure.name,
            "switches": records(self.switches),
            "curve": records(self.table),
        }


@dataclass(frozen=True, eq=False)
class _Arrivals:
    """Each answer's moment (inf = never) and its share of the mean: score / repeats / items; its cluster."""

    when: Array
    worth: Array
    clusters: NDArray[Any]


def curve_at(when: Array, worth: Array, limits: Array) -> Array:
    """Σ worth of all answers with ``when`` ≤ each limit.

    >>> curve_at(np.array([1.0, 3.0]), np.array([0.5, 0.5]), np.array([0.5, 1.0, 3.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    order = np.argsort(when, kind="stable")
    total = np.concatenate([[0.0], np.cumsum(worth[order])])
    curve: Array = total[np.searchsorted(when[order], limits, side="right")]
    return curve


def _limit_of(table: Table, x: str) -> Measure:
    if x:
        return find_measure(x)
    known = [name for name in _TIMES if name in table.summary and table.summary[name].notna().any()]
    if not known:
        raise UsageError("there is no time to set a deadline on", fix="Name a column with seconds=")
    return find_measure(known[0])


def _arrivals(table: Table, name: str, measure: str) -> _Arrivals:
    if table.rows is None:
        row = table.summary[table.summary["candidate"] == name].iloc[0]
        when = row[measure] if measure in row and pd.notna(row[measure]) else np.inf
        return _Arrivals(np.array([when], float), np.array([row["quality"]], float), np.array(["all"]))
    source = table.raw if table.raw is not None else table.rows
    rows = source[(source["candidate"] == name) & source["score"].notna()]
    moments = (
        pd.to_numeric(rows[measure], errors="coerce").to_numpy(float) if measure in rows else np.full(len(rows), np.inf)
    )
    repeats = rows.groupby("item")["score"].transform("size").to_numpy(float)
    items = rows["item"].nunique()
    clusters = table.clusters(pd.Index(rows["item"]))
    worth = rows["score"].to_numpy(float) / repeats / max(1, items)
    return _Arrivals(np.where(np.isfinite(moments), moments, np.inf), worth, clusters)


def _grid(parts: dict[str, _Arrivals], points: int, at: tuple[float, ...]) -> Array:
    moments = np.concatenate([p.when[np.isfinite(p.when) & (p.when > 0)] for p in parts.values()])
    if moments.size == 0:
        raise UsageError("all times or costs are 0: there is no limit to set")
    even = np.geomspace(moments.min(), moments.max(), points)
    # the last point must reach the slowest answer in spite of rounding
    even[-1] = moments.max()
    grid: Array = np.unique(np.concatenate([even, np.asarray(at, float)]))
    return grid


def _bands(parts: dict[str, _Arrivals], grid: Array, ask: Deadlines) -> tuple[Array, Array]:
    """Simultaneous bands, shape [candidates, grid]; NaN where one answer stands for all."""
    lows, highs = [], []
    for part in parts.values():
        if len(set(part.clusters)) < 2:
            lows.append(np.full(grid.size, np.nan))
            highs.append(np.full(grid.size, np.nan))
            continue
        done = np.where(part.when[:, None] <= grid[None, :], part.worth[:, None], 0.0)
        sums = cluster_sums(done, part.clusters)
        drawn = np.vstack(
            [w @ sums.astype(np.float32) for w in multinomial_weights(len(sums), ask.draws, ask.seed)]
        ).astype(float)
        half = simultaneous_factor(drawn, ask.level) * drawn.std(axis=0)
        curve = sums.sum(axis=0)
        lows.append(np.maximum(0.0, curve - half))
        highs.append(np.minimum(1.0, curve + half))
    return np.array(lows), np.array(highs)


def _switches(parts: dict[str, _Arrivals], lead: float) -> pd.DataFrame:
    """The envelope's segments: a new leader must be ahead by ``lead``, the first one by anything."""
    moments = np.unique(np.concatenate([p.when[np.isfinite(p.when)] for p in parts.values()]))
    curves = np.array([curve_at(p.when, p.worth, moments) for p in parts.values()])
    names = list(parts)
    segments: list[dict[str, Any]] = []
    leader = -1
    top, who = curves.max(axis=0), curves.argmax(axis=0)
    for i, moment in enumerate(moments):
        own = curves[leader, i] if leader >= 0 else 0.0
        if int(who[i]) != leader and top[i] > own + (lead if leader >= 0 else 0.0):
            if segments:
                segments[-1] |= {"end": float(moment), "quality": float(curves[leader, i - 1])}
            leader = int(who[i])
            segments.append({"start": float(moment), "end": None, "candidate": names[leader], "quality": float(top[i])})
    if segments:
        segments[-1]["quality"] = float(curves[leader, -1])
    return pd.DataFrame(segments, columns=["start", "end", "candidate", "quality"])


def _long(names: list[str], grid: Array, curves: Array, lows: Array, highs: Array, best: NDArray[Any]) -> pd.DataFrame:
    parts = [
        pd.DataFrame(
            {"deadline": grid, "candidate": name, "quality": curves[j], "quality_lo": lows[j], "quality_hi": highs[j]}
        ).assign(best=(best == j) & (curves[j] > 0))
        for j, name in enumerate(names)
    ]
    return pd.concat(parts, ignore_index=True)


def say_limit(value: float, m: Measure) -> str:
    """A limit in words: ms as seconds from one on."""
    if m.unit == "USD":
        return f"${digits(value)}"
    if m.unit == "ms" and value >= 1000:
        return f"{digits(value / 1000)} s"
    return f"{digits(value)} {m.unit}".strip()


def _verdict(switches: pd.DataFrame, m: Measure) -> str:
    if switches.empty:
        return "No candidate ever delivers anything of worth."
    within = "within" if m.unit != "USD" else "for"
    parts = []
    for row in switches.to_dict("records"):
        until = "and beyond" if row["end"] is None or pd.isna(row["end"]) else f"to {say_limit(row['end'], m)}"
        start = say_limit(row["start"], m)
        parts.append(f"{row['candidate']} {within} {start} {until} ({percent(row['quality'])} by its end)")
    return "Best: " + "; ".join(parts) + "."
