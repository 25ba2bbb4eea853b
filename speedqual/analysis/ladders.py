"""Ladders found in a table: ordered rungs of one candidate, with what is needed to test a drop between them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from speedqual.analysis.intervals import cluster_sums, is_binary
from speedqual.analysis.rungs import bits, coordinates, order_of
from speedqual.analysis.tidy import Table
from speedqual.errors import UsageError

__all__ = ["Ladder", "find_ladders", "ladder_from_items", "ladder_from_means"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ladder:
    """One ladder from easy to hard.

    ``means`` and ``n``: shape [rungs]; ``x``: increasing coordinates and ``x_is`` what they are. ``influence``: shape
    [clusters, rungs], rows whose sum has the covariance of ``means``; ``groups``: how many clusters carry it.
    ``n`` is None where it was not given: then nothing can be told.
    """

    name: str
    rungs: tuple[str, ...]
    x: tuple[float, ...]
    x_is: str
    means: Array
    n: Array | None
    influence: Array | None
    groups: int
    paired: bool
    binary: bool
    items_lost: int = 0
    candidates: tuple[str, ...] = ()
    difficulty: bool = False

    @property
    def influence_is_items(self) -> bool:
        """True where the ladder was made from items, not from brought rates."""
        return self.influence is not None and (self.paired or len(self.influence) > len(self.rungs))

    @property
    def covariance(self) -> Array:
        """Of the rung means, shape [rungs, rungs]."""
        assert self.influence is not None
        cov: Array = self.influence.T @ self.influence
        return cov


def ladder_from_items(
    scores: Any,
    rungs: tuple[str, ...],
    x: tuple[float, ...] | None = None,
    clusters: NDArray[Any] | None = None,
    name: str = "ladder",
    **facts: Any,
) -> Ladder:
    """A paired ladder from a matrix [items, rungs]; items that lack a rung are dropped and counted."""
    matrix = np.asarray(scores, dtype=float)
    common = np.isfinite(matrix).all(axis=1)
    y = matrix[common]
    groups = np.arange(len(y)).astype(str) if clusters is None else np.asarray(clusters)[common]
    where, what = (x, "x") if x is not None else coordinates(rungs)
    means = y.mean(axis=0) if len(y) else np.full(len(rungs), np.nan)
    influence = _influence(y, groups) if len(y) else None
    lost = int((~common).sum())
    n = np.full(len(rungs), float(len(y)))
    count = len(set(groups))
    return Ladder(
        name, rungs, tuple(where), what, means, n, influence, count, True, is_binary(y), items_lost=lost, **facts
    )


def ladder_from_groups(
    scores: list[Array],
    rungs: tuple[str, ...],
    x: tuple[float, ...] | None = None,
    clusters: list[NDArray[Any]] | None = None,
    name: str = "ladder",
    **facts: Any,
) -> Ladder:
    """An unpaired ladder: other items on every rung."""
    where, what = (x, "x") if x is not None else coordinates(rungs)
    blocks, groups = [], []
    for k, y in enumerate(scores):
        own = np.arange(len(y)).astype(str) if clusters is None else clusters[k]
        part = _influence(np.asarray(y, float)[:, None], own)
        block = np.zeros((len(part), len(scores)))
        block[:, k] = part[:, 0]
        blocks.append(block)
        groups.append(len(set(own)))
    n = np.array([len(y) for y in scores], float)
    means = np.array([np.mean(y) for y in scores])
    binary = all(is_binary(y) for y in scores)
    return Ladder(name, rungs, tuple(where), what, means, n, np.vstack(blocks), min(groups), False, binary, **facts)


def ladder_from_means(
    means: Any,
    n: Any,
    rungs: tuple[str, ...],
    x: tuple[float, ...] | None = None,
    name: str = "ladder",
    **facts: Any,
) -> Ladder:
    """A ladder of rates with their counts, taken as independent Bernoulli rows; ``n`` None = cannot tell."""
    p = np.asarray(means, float)
    where, what = (x, "x") if x is not None else coordinates(rungs)
    counts = None if n is None else np.broadcast_to(np.asarray(n, float), p.shape).copy()
    if counts is None or not (np.isfinite(counts) & (counts > 0)).all():
        return Ladder(name, rungs, tuple(where), what, p, None, None, 0, False, True, **facts)
    spread = np.diag(np.sqrt(_rate_variance(p, counts)))
    return Ladder(name, rungs, tuple(where), what, p, counts, spread, int(counts.min()), False, True, **facts)


def _rate_variance(p: Array, n: Array) -> Array:
    """Variance of a rate; at 0 and 1 that of half a success more, so that certainty is never claimed."""
    edge = (p * n < 0.5) | ((1 - p) * n < 0.5)
    safe = np.where(edge, (p * n + 0.5) / (n + 1), p)
    variance: Array = safe * (1 - safe) / n
    return variance


def _influence(y: Array, groups: NDArray[Any]) -> Array:
    """Cluster sums of (y − ȳ)/n with the G/(G − 1) correction, and one more row per rung that shows no variance."""
    n = len(y)
    sums = cluster_sums((y - y.mean(axis=0)) / n, groups)
    g = len(sums)
    rows = sums * np.sqrt(g / (g - 1)) if g > 1 else sums
    flat = (np.ptp(y, axis=0) == 0) & np.isin(y[0], (0.0, 1.0))
    extra = np.diag(np.sqrt(_rate_variance(y.mean(axis=0), np.full(y.shape[1], float(n)))))[flat]
    return np.vstack([rows, extra])


def find_ladders(table: Table, by: str = "", order: tuple[str, ...] = ()) -> tuple[list[Ladder], list[str]]:
    """All ladders of a table and notes on what was left out.

    ``by``: ``"ladder"`` (rungs are candidates) or a column of items such as ``"difficulty"`` (rungs lie inside a
    candidate); empty = whichever the table has. ``order`` lists the rungs from easy to hard.
    """
    by = by or _kind(table)
    if by == "ladder":
        return _between_candidates(table, order)
    return _inside_candidates(table, by, order)


def _kind(table: Table) -> str:
    s = table.summary
    by_rows = table.rows is not None and "difficulty" in table.rows and table.rows["difficulty"].nunique() >= 2
    if table.source == "table" and by_rows and table.rows is not None:
        inside = table.rows.groupby("candidate", observed=True)["difficulty"].nunique().max() >= 2
        if inside:
            return "difficulty"
    if "ladder" in s and (s["ladder"].fillna("").astype(str) != "").any():
        return "ladder"
    if by_rows:
        return "difficulty"
    raise UsageError("the table has no ladder", fix="Name one with ladder= and rung=, or rungs= for a wide table")


def _between_candidates(table: Table, order: tuple[str, ...]) -> tuple[list[Ladder], list[str]]:
    s = table.summary[table.summary["ladder"].fillna("").astype(str) != ""]
    found, notes = [], []
    for name, members in s.groupby("ladder", sort=False):
        members, left_out = _ordered(members, str(name), order)
        if left_out:
            notes.append(f"ladder {name}: no place for {', '.join(left_out)}")
        if len(members) < 2:
            notes.append(f"ladder {name}: one rung only")
            continue
        found.append(_of_candidates(table, str(name), members))
    return found, notes


def _ordered(members: pd.DataFrame, ladder: str, order: tuple[str, ...]) -> tuple[pd.DataFrame, list[str]]:
    rung = members["rung"].fillna("").astype(str) if "rung" in members else pd.Series("", index=members.index)
    if (rung == "").any() or rung.duplicated().any():
        rung = members["candidate"].astype(str)
    members = members.assign(_rung=rung)
    if order:
        place = {name: i for i, name in enumerate(order)}
        known = members[rung.isin(place)]
        left_out = list(rung[~rung.isin(place)])
        return known.iloc[np.argsort([place[r] for r in known["_rung"]], kind="stable")], left_out
    found = rung.map(bits)
    if found.notna().sum() >= 3 and found.isna().any():
        left_out = list(rung[found.isna()])
        members = members[found.notna()]
        return members.iloc[order_of(list(members["_rung"]), ladder)], left_out
    xs = _given_x(members)
    return members.iloc[order_of(list(rung), ladder, xs)], []


def _given_x(members: pd.DataFrame) -> list[float | None] | None:
    if "x" not in members or members["x"].isna().any():
        return None
    return [float(v) for v in members["x"]]


def _of_candidates(table: Table, name: str, members: pd.DataFrame) -> Ladder:
    rungs, who = tuple(members["_rung"].astype(str)), tuple(members["candidate"].astype(str))
    where, what = coordinates(rungs, _given_x(members))
    if table.rows is None:
        n = None if members["n"].isna().any() else members["n"].to_numpy(float)
        made = ladder_from_means(members["quality"].to_numpy(float), n, rungs, tuple(where), name, candidates=who)
    else:
        made = _from_rows(table, name, rungs, tuple(where), [table.matrix("given")[c] for c in who], candidates=who)
    return _named(made, what)


def _from_rows(
    table: Table, name: str, rungs: tuple[str, ...], x: tuple[float, ...], columns: list[pd.Series[float]], **facts: Any
) -> Ladder:
    """Paired where the rungs share items, unpaired where each has its own."""
    wide = pd.concat(columns, axis=1)
    y = wide.to_numpy(float)
    asked = np.isfinite(y)
    common = int(asked.all(axis=1).sum())
    smallest = int(asked.sum(axis=0).min())
    clusters = table.clusters(wide.index)
    if common >= 20 or (common and 2 * common >= smallest):
        return ladder_from_items(y, rungs, x, clusters, name, **facts)
    parts = [y[ok, k] for k, ok in enumerate(asked.T)]
    if min(len(part) for part in parts) == 0:
        return Ladder(name, rungs, x, "x", np.full(len(rungs), np.nan), None, None, 0, False, True, **facts)
    return ladder_from_groups(parts, rungs, x, [clusters[ok] for ok in asked.T], name, **facts)


def _named(ladder: Ladder, what: str) -> Ladder:
    return replace(ladder, x_is=what)


def _inside_candidates(table: Table, by: str, order: tuple[str, ...]) -> tuple[list[Ladder], list[str]]:
    if table.rows is None or by not in table.rows:
        raise UsageError(f"the items have no column {by!r} to climb", fix="Name a column of the items, or a ladder")
    found, notes = [], []
    for name, rows in table.rows.groupby("candidate", sort=False, observed=True):
        rows = rows[rows[by].fillna("").astype(str) != ""]
        seen = [str(v) for v in rows[by].unique()]
        rungs = [r for r in order if r in seen] if order else [seen[i] for i in order_of(seen, by)]
        if len(rungs) < 2:
            notes.append(f"{name}: fewer than two rungs of {by}")
            continue
        columns = [rows[rows[by].astype(str) == r].groupby("item")["given"].mean().rename(r) for r in rungs]
        where, what = coordinates(tuple(rungs))
        made = _from_rows(
            table, str(name), tuple(rungs), tuple(where), columns, candidates=(str(name),), difficulty=True
        )
        found.append(_named(made, what))
    return found, notes
