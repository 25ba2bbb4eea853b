"""Tables a person brings: a leaderboard CSV, an item matrix, ladders written side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from speedqual.analysis.measures import find_measure
from speedqual.analysis.tidy import Table
from speedqual.errors import UsageError

__all__ = ["from_table"]


@dataclass(frozen=True)
class _Columns:
    """Which column holds what; empty = not given."""

    candidate: str = ""
    quality: str = ""
    n: str | float | None = None
    ladder: str = ""
    rung: str = ""
    x: str = ""
    item: tuple[str, ...] = ()
    cluster: str = ""
    task: str = ""
    measures: tuple[tuple[str, str], ...] = ()  # measure name, column

    def named(self) -> list[str]:
        """All columns in use, for the check that they exist."""
        single = [self.candidate, self.quality, self.ladder, self.rung, self.x, self.cluster, self.task]
        columns = [*single, *self.item, *(c for _, c in self.measures)]
        return [c for c in [*columns, self.n if isinstance(self.n, str) else ""] if c]


def from_table(
    df: pd.DataFrame,
    *,
    candidate: str = "",
    quality: str = "",
    n: str | float | None = None,
    seconds: str = "",
    cost: str = "",
    ladder: str = "",
    rung: str = "",
    rungs: Sequence[str] = (),
    x: str = "",
    item: str | Sequence[str] = "",
    cluster: str = "",
    task: str = "",
    params_b: str = "",
    measures: dict[str, str] | None = None,
    zero_cost: str = "unknown",
) -> Table:
    """Say what the columns of any table mean, and analyse it like a run.

    Long: one row a candidate (``candidate``, ``quality``, ``n`` = a column or a number), or one row per candidate and
    ``item``. Wide: ``rungs`` lists columns of quality; with ``item`` each column is a candidate, without it each row is
    a ladder. ``quality``, ``seconds`` and ``cost`` (both of one item) may be ratios of two columns, ``"passed/total"``.
    Other speeds go in ``measures``, by their metric name: ``{"ttft_ms": "ttft"}``. A quality above 1 is taken as
    percent; a cost of 0 is unknown unless ``zero_cost="free"``; both are noted.

    >>> import pandas as pd
    >>> board = pd.DataFrame({"model": ["a", "b"], "pass": [50.0, 80.0], "sec": [1.0, 4.0]})
    >>> table = from_table(board, candidate="model", quality="pass", n=100, seconds="sec")
    >>> list(table.summary["quality"]), table.notes
    ([0.5, 0.8], ('quality goes above 1: read as percent',))
    """
    if zero_cost not in ("unknown", "free"):
        raise UsageError(f"zero_cost is {zero_cost!r}", fix="Give 'unknown' or 'free'")
    axes = {"seconds": seconds, "cost_usd": cost, "params_b": params_b, **(measures or {})}
    items = (item,) if isinstance(item, str) and item else tuple(item)
    columns = _Columns(
        candidate, quality, n, ladder, rung, x, items, cluster, task,
        tuple((find_measure(name).name, column) for name, column in axes.items() if column),
    )  # fmt: skip
    _check(df, columns, rungs)
    frame, notes = _work_frame(df, columns, tuple(rungs))
    notes += _settle_cost(frame, zero_cost)
    build = _item_table if columns.item else _summary_table
    return build(frame, tuple(notes))


def _check(df: pd.DataFrame, columns: _Columns, rungs: Sequence[str]) -> None:
    ratios = {columns.quality, *(c for _, c in columns.measures)}
    lacking = []
    for name in [*columns.named(), *rungs]:
        parts = name.split("/", 1) if name in ratios and name not in df else [name]
        lacking += [part for part in parts if part not in df]
    if lacking:
        have = ", ".join(map(str, df.columns[:30]))
        raise UsageError(f"the table has no column {', '.join(map(repr, lacking))}", fix=f"It has: {have}")
    if not rungs and not columns.quality:
        raise UsageError("no column of quality is named", fix="Give quality=, or rungs= for a wide table")
    if not rungs and not columns.candidate:
        raise UsageError("no column of candidates is named", fix="Give candidate=, or rungs= for a wide table")
    if df.empty:
        raise UsageError("the table has no rows")


def _work_frame(df: pd.DataFrame, columns: _Columns, rungs: tuple[str, ...]) -> tuple[pd.DataFrame, list[str]]:
    """A frame with our column names, one row per candidate (and item)."""
    if rungs:
        frame = _from_wide(df, columns, rungs)
    else:
        frame = pd.DataFrame({"candidate": df[columns.candidate].astype(str), "quality": _column(df, columns.quality)})
        frame["ladder"] = df[columns.ladder].astype(str) if columns.ladder else ""
        frame["rung"] = df[columns.rung].astype(str) if columns.rung else ""
        frame = _with_shared(frame, df, columns)
        if not columns.item:
            frame["candidate"] = _told_apart(frame["candidate"], df, columns)
    notes = []
    if frame["quality"].max() > 1.0 + 1e-9:
        frame["quality"] /= 100.0
        notes.append("quality goes above 1: read as percent")
    if (bad := (frame["quality"] < 0) | (frame["quality"] > 1 + 1e-9)).any():
        raise UsageError(f"{int(bad.sum())} values of quality are outside 0 to 1 (or 0 to 100 %)")
    if lost := int(frame["quality"].isna().sum()):
        notes.append(f"{lost} rows without a quality are left out")
    return frame[frame["quality"].notna()].reset_index(drop=True), notes


def _column(df: pd.DataFrame, name: str) -> pd.Series[float]:
    """A column of numbers, or the ratio of two written ``a/b``."""
    if name in df:
        return pd.to_numeric(df[name], errors="coerce").astype(float)
    top, bottom = (pd.to_numeric(df[part], errors="coerce").astype(float) for part in name.split("/", 1))
    return top / bottom.where(bottom > 0)


def _with_shared(frame: pd.DataFrame, df: pd.DataFrame, columns: _Columns) -> pd.DataFrame:
    if columns.n is not None:
        n: Any = pd.to_numeric(df[columns.n], errors="coerce") if isinstance(columns.n, str) else columns.n
        frame["n"] = n
    for ours, theirs in (("x", columns.x), *columns.measures):
        if theirs:
            frame[ours] = _column(df, theirs)
    for ours, theirs in (("cluster", columns.cluster), ("task", columns.task)):
        if theirs:
            frame[ours] = df[theirs].astype(str)
    if columns.item:
        frame["item"] = _joined(df[list(columns.item)], "/")
    return frame


def _from_wide(df: pd.DataFrame, columns: _Columns, rungs: tuple[str, ...]) -> pd.DataFrame:
    owner = columns.candidate or columns.ladder
    parts = []
    for rung in rungs:
        part = pd.DataFrame({"quality": pd.to_numeric(df[rung], errors="coerce").astype(float)})
        part = _with_shared(part, df, columns)
        part["rung"] = rung
        if columns.item:
            part["candidate"], part["ladder"] = rung, df[columns.ladder].astype(str) if columns.ladder else "ladder"
            part["rung"] = df[columns.rung].astype(str) if columns.rung else rung
            part["ladder"] = rung if columns.rung else part["ladder"]
        else:
            part["ladder"] = df[owner].astype(str) if owner else [f"row {i + 1}" for i in range(len(df))]
            part["candidate"] = part["ladder"] + " @ " + rung
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def _told_apart(names: pd.Series[str], df: pd.DataFrame, columns: _Columns) -> pd.Series[str]:
    """Names made unique by the columns in which their rows differ, then by a number."""
    names, used = names.copy(), set(columns.named())
    for name in names[names.duplicated()].unique():
        rows = names.index[names == name]
        chosen: list[str] = []
        for column in _telling(df.loc[rows], used):
            if (
                not df.loc[rows, [*chosen, column]].duplicated().any()
                or df.loc[rows, column].nunique() <= len(rows) // 2
            ):
                chosen.append(column)
            if chosen and not df.loc[rows, chosen].duplicated().any():
                break
        labels = _joined(df.loc[rows, chosen], ", ") if chosen else pd.Series("", index=rows)
        number = labels.groupby(labels).cumcount() + 1
        again = labels.duplicated(keep=False)
        marks = [
            f"{text} #{k}".strip() if twice else text for text, k, twice in zip(labels, number, again, strict=True)
        ]
        names.loc[rows] = pd.Series([f"{name} ({mark})" for mark in marks], index=rows)
    return names


def _joined(frame: pd.DataFrame, between: str) -> pd.Series[str]:
    """The cells of each row as one text."""
    texts = [between.join(map(str, row)) for row in frame.itertuples(index=False)]
    return pd.Series(texts, index=frame.index, dtype=object)


_LONGEST_MARK = 24  # characters; a longer value (a folder name, a hash) tells a reader nothing


def _telling(rows: pd.DataFrame, used: set[str]) -> list[str]:
    """Columns of short words whose values differ, the shortest first."""
    words = [str(c) for c in rows.columns if c not in used and not pd.api.types.is_numeric_dtype(rows[c])]
    width = {c: int(rows[c].astype(str).str.len().max()) for c in words if rows[c].nunique(dropna=False) > 1}
    return sorted((c for c in width if width[c] <= _LONGEST_MARK), key=lambda c: width[c])


def _settle_cost(frame: pd.DataFrame, zero_cost: str) -> list[str]:
    if "cost_usd" not in frame or zero_cost == "free":
        return []
    zero = frame["cost_usd"] == 0
    frame.loc[zero, "cost_usd"] = np.nan
    return [f"a cost of 0 in {int(zero.sum())} rows is taken as unknown, not as free"] if zero.any() else []


def _summary_table(frame: pd.DataFrame, notes: tuple[str, ...]) -> Table:
    if "n" not in frame:
        frame["n"] = np.nan
        notes = (*notes, "n is not known: no intervals, and no chance of being on the front")
    order = ["candidate", "n", "quality", *(c for c in frame.columns if c not in ("candidate", "n", "quality"))]
    return Table(summary=frame[order], notes=notes)


def _item_table(frame: pd.DataFrame, notes: tuple[str, ...]) -> Table:
    measures = [c for c in frame.columns if find_measure(c).unit and c != "params_b"]
    facts = [c for c in ("cluster", "task") if c in frame]
    how: dict[str, Any] = dict.fromkeys(["quality", *measures], "mean") | dict.fromkeys(facts, "first")
    if (frame["ladder"] != frame["candidate"]).any() or frame["rung"].eq("").all():
        keys = ["candidate", "item"]
    else:
        keys = ["candidate", "rung", "item"]
    repeats = len(frame) - len(frame.drop_duplicates(keys))
    if repeats:
        notes = (*notes, f"{repeats} rows repeat an item: repeats are averaged, they are no extra n")
    carried = {c: "first" for c in ("ladder", "rung", "x", "params_b") if c in frame and c not in keys}
    rows = frame.groupby(keys, sort=False).agg(how | carried).reset_index()
    rows["score"] = rows["given"] = rows.pop("quality")
    rows["difficulty"] = rows["rung"]
    return Table(summary=_summary_of_items(rows, measures), rows=rows, notes=notes)


def _summary_of_items(rows: pd.DataFrame, measures: list[str]) -> pd.DataFrame:
    by = rows.groupby("candidate", sort=False)
    summary = pd.DataFrame({"n": by["score"].count(), "quality": by["score"].mean()})
    for name in measures:
        known = by[name].count() / by["score"].size()
        mean = find_measure(name).stat == "mean"
        summary[name] = by[name].mean().where(known >= 0.9) if mean else by[name].median()
    for name in ("ladder", "rung", "x", "params_b"):
        if name in rows:
            summary[name] = by[name].first()
    return summary.reset_index()
