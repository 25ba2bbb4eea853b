"""What any input is reduced to before it is analysed: candidate × item scores, or candidate summaries.

Repeats of an item are averaged first: they are never extra n. Quality is kept twice: ``score`` (delivered: an endpoint
failure counts 0) and ``given`` (only where an answer was given and graded).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from speedqual.analysis.intervals import Interval, mean_interval, wilson
from speedqual.analysis.measures import MEASURES
from speedqual.errors import UsageError
from speedqual.records import GRADED_OUTCOMES

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["CLIMBED", "RUN_COLUMNS", "Table", "from_run", "lightest", "median", "numbers", "tidy"]

RUN_COLUMNS = ("candidate", "item", "score", "outcome")
"""The least a tidy run must have; all others of ``run.df`` are used when present."""

CLIMBED = ("concurrency", "arrivals")
"""The layers of a load test in which load itself rises from level to level."""

_FACTS = ("endpoint", "model", "service_tier", "ladder", "rung", "x", "params_b", "usd_per_hour", "claimed_tok_s")
_ITEM_FACTS = ("task", "cluster", "difficulty", "language")


@dataclass(frozen=True, eq=False)
class Table:
    """The common form of a run and of a brought table.

    ``summary``: one row a candidate, columns ``candidate, n, quality`` and the measures and facts that are known.
    ``rows``: one row per candidate × item, columns ``candidate, item, score, given`` and measures; None when only
    summaries were brought.
    ``raw``: the records themselves (one row a request), where they exist.
    """

    summary: pd.DataFrame
    rows: pd.DataFrame | None = None
    raw: pd.DataFrame | None = None
    notes: tuple[str, ...] = ()
    source: str = "table"
    _cache: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def names(self) -> list[str]:
        """Candidates in the order they first appear."""
        return [str(name) for name in self.summary["candidate"]]

    @property
    def measures(self) -> list[str]:
        """Known measures with at least one finite value."""
        return [m for m in MEASURES if m in self.summary and self.summary[m].notna().any()]

    def matrix(self, column: str = "score") -> pd.DataFrame:
        """Items × candidates of one column of ``rows``; NaN where a candidate lacks the item."""
        if self.rows is None:
            raise UsageError("this table has no items, only summaries", fix="Name the column of items with item=")
        if column not in self._cache:
            wide = self.rows.pivot_table(
                index="item", columns="candidate", values=column, observed=True, sort=False, dropna=False
            )
            self._cache[column] = wide.reindex(columns=self.names)
        wide_frame: pd.DataFrame = self._cache[column]
        return wide_frame

    def clusters(self, items: pd.Index[Any]) -> NDArray[Any]:
        """The cluster of each item (the item itself when none is declared)."""
        if self.rows is None or "cluster" not in self.rows:
            return np.asarray(items.astype(str))
        first = self.rows.drop_duplicates("item").set_index("item")["cluster"].reindex(items)
        own = pd.Series(items.astype(str), index=items)
        return np.asarray(first.where(first.notna() & (first.astype(str) != ""), own).astype(str))

    def intervals(self, column: str = "score") -> list[Interval]:
        """One interval of mean quality per candidate, after the house rule; no n means no bounds."""
        if self.rows is None:
            return [_summary_interval(q, n) for q, n in zip(self.summary["quality"], self.summary["n"], strict=True)]
        wide = self.matrix(column)
        groups = self.clusters(wide.index)
        known = [wide[name].notna().to_numpy() for name in self.names]
        return [
            mean_interval(wide[name].to_numpy()[ok], groups[ok]) for name, ok in zip(self.names, known, strict=True)
        ]

    def only(self, candidates: Sequence[str]) -> Table:
        """The same table with some candidates."""
        keep = set(candidates)
        rows = None if self.rows is None else self.rows[self.rows["candidate"].isin(keep)]
        raw = None if self.raw is None else self.raw[self.raw["candidate"].isin(keep)]
        summary = self.summary[self.summary["candidate"].isin(keep)].reset_index(drop=True)
        return replace(self, summary=summary, rows=rows, raw=raw, _cache={})


def _summary_interval(quality: float, n: float | None) -> Interval:
    if quality is None or not np.isfinite(quality):
        return Interval(None, None, None, "none", 0, why="no quality")
    if n is None or not np.isfinite(n) or n <= 0:
        return Interval(float(quality), None, None, "none", 0, why="n is not known")
    return wilson(float(quality) * n, n)


def tidy(data: Any) -> Table:
    """Reduce a run, its ``df`` or a brought table to a ``Table``.

    Raises UsageError when a DataFrame has not the columns of a run: ``from_table`` names them.
    """
    if isinstance(data, Table):
        return data
    frame = data if isinstance(data, pd.DataFrame) else getattr(data, "df", None)
    if not isinstance(frame, pd.DataFrame):
        raise UsageError(f"cannot analyse a {type(data).__name__}", fix="Give a run, run.df, or from_table(df, …)")
    lacking = [name for name in RUN_COLUMNS if name not in frame]
    if lacking:
        raise UsageError(
            f"the table lacks the columns {', '.join(lacking)} of a run",
            fix="Say what its columns mean: from_table(df, candidate=…, quality=…, seconds=…)",
        )
    return from_run(frame)


def from_run(frame: pd.DataFrame) -> Table:
    """Reduce ``run.df``: main phase only, the lightest load of a load test, repeats averaged, failures apart."""
    raw = lightest(frame[frame["phase"] == "main"] if "phase" in frame else frame)
    if raw.empty:
        raise UsageError("the run has no finished trial", fix="Run it, or resume it with speedqual run --resume")
    raw = _with_scores(raw)
    rows = _mean_of_repeats(raw)
    return Table(summary=_summarise(raw, rows), rows=rows, raw=raw, notes=_run_notes(raw), source="run")


def lightest(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of a load test's lowest level, for each candidate and layer that was climbed; other rows stay.

    A mean over idle and saturated levels would be the figure of no situation at all.
    """
    if "layer" not in frame or "load_x" not in frame:
        return frame
    climbed = frame["layer"].isin(CLIMBED)
    if not climbed.any():
        return frame
    x = pd.to_numeric(frame["load_x"], errors="coerce")
    least = x.groupby([frame["candidate"], frame["layer"]], observed=True).transform("min")
    return frame[~climbed | (x == least)]


def _with_scores(raw: pd.DataFrame) -> pd.DataFrame:
    graded = raw["outcome"].isin(GRADED_OUTCOMES)
    score = pd.to_numeric(raw["score"], errors="coerce").astype(float)
    several = "evalset" in raw and raw["evalset"].nunique() > 1
    item = raw["evalset"].astype(str) + "/" + raw["item"].astype(str) if several else raw["item"].astype(str)
    return raw.assign(
        candidate=raw["candidate"].astype(str), item=item, given=score.where(graded), score=score.where(graded, 0.0)
    )


def _mean_of_repeats(raw: pd.DataFrame) -> pd.DataFrame:
    numeric = ["score", "given", *(m for m in MEASURES if m in raw and m != "params_b")]
    facts = [f for f in _ITEM_FACTS if f in raw]
    work = raw[["candidate", "item", *facts]].copy()
    for name in numeric:
        work[name] = pd.to_numeric(raw[name], errors="coerce").astype(float)
    if "started_ms" in raw:
        work["started_ms"] = pd.to_numeric(raw["started_ms"], errors="coerce").astype(float)
        numeric.append("started_ms")
    how: dict[str, Any] = dict.fromkeys(numeric, "mean") | dict.fromkeys(facts, "first")
    return work.groupby(["candidate", "item"], sort=False, observed=True).agg(how).reset_index()


def _summarise(raw: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    by = rows.groupby("candidate", sort=False, observed=True)
    summary = pd.DataFrame(
        {"n": by["score"].count(), "quality": by["score"].mean(), "quality_given": by["given"].mean()}
    )
    summary["failed"] = 1.0 - raw["outcome"].isin(GRADED_OUTCOMES).groupby(raw["candidate"], observed=True).mean()
    for name, measure in MEASURES.items():
        if name in rows:
            values = by[name].median() if measure.stat == "median" else by[name].mean()
            known = by[name].count() / by["score"].size()
            # money and tokens known for a part of the items only would flatter: they stay unknown
            summary[name] = values.where(known >= 0.9) if measure.stat == "mean" else values
    facts = [f for f in _FACTS if f in raw]
    first = raw.drop_duplicates("candidate").set_index("candidate")[facts]
    return summary.join(first).reset_index()


def _run_notes(raw: pd.DataFrame) -> tuple[str, ...]:
    failed = int((~raw["outcome"].isin(GRADED_OUTCOMES)).sum())
    ungraded = int(raw["score"].isna().sum())
    notes = []
    if failed:
        notes.append(f"{failed} of {len(raw)} requests failed at the endpoint: they count 0 in the quality delivered")
    if ungraded:
        notes.append(f"{ungraded} answers could not be graded and are left out")
    return tuple(notes)


def numbers(rows: pd.DataFrame, column: str) -> NDArray[np.float64]:
    """A column as floats; NaN where a value, or the column, is missing."""
    if column not in rows:
        return np.full(len(rows), np.nan)
    return pd.to_numeric(rows[column], errors="coerce").to_numpy(float, na_value=np.nan)


def median(values: NDArray[np.float64]) -> float | None:
    """Median of the finite values; None when there are none."""
    known = values[np.isfinite(values)]
    return float(np.median(known)) if known.size else None
