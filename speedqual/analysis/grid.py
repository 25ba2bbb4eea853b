"""A metric over two conditions, such as load × input length: one cell a pair, with n and its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from speedqual.analysis.base import Result, records
from speedqual.analysis.intervals import mean_interval, quantile_interval
from speedqual.analysis.measures import Measure, find_measure
from speedqual.analysis.rungs import order_of
from speedqual.errors import UsageError

__all__ = ["Grid", "GridResult"]

_BINS = 6


@dataclass(frozen=True)
class Grid:
    """``rows`` and ``columns``: columns of the table; numbers with many values are cut into up to six bins of equal
    count. ``metric``: what a cell shows; ``quantile`` of it (in the slow direction), None = its mean."""

    rows: str
    columns: str
    metric: str = "ttft_ms"
    quantile: float | None = 0.5

    def __call__(self, data: Any) -> GridResult:
        """Look at the requests of a run, its ``df``, or any table with these columns."""
        frame = data if isinstance(data, pd.DataFrame) else data.df
        lacking = [c for c in (self.rows, self.columns, self.metric) if c not in frame]
        if lacking:
            raise UsageError(f"the table has no column {', '.join(map(repr, lacking))}")
        frame = frame[frame["outcome"] == "ok"] if "outcome" in frame and self.metric != "score" else frame
        measure = find_measure(self.metric)
        keys = pd.DataFrame({"row": _binned(frame[self.rows]), "column": _binned(frame[self.columns])})
        keys["value"] = pd.to_numeric(frame[self.metric], errors="coerce")
        cells = [self.cell(measure, key, part) for key, part in keys.dropna().groupby(["row", "column"], observed=True)]
        if not cells:
            raise UsageError(f"no request has a {self.metric} under both conditions")
        table = pd.DataFrame(cells)
        return GridResult(table, _verdict(table, measure, self), (), measure, self)

    def cell(self, measure: Measure, key: Any, part: pd.DataFrame) -> dict[str, Any]:
        values = part["value"].to_numpy(float)
        if self.quantile is None or self.metric == "score":
            got = mean_interval(values) if self.metric == "score" else quantile_interval(values, 0.5)
            value = float(values.mean())
        else:
            got = quantile_interval(values, 1 - self.quantile if measure.higher_is_better else self.quantile)
            value = float(got.value or 0.0)
        return {"row": key[0], "column": key[1], "value": value, "lo": got.lo, "hi": got.hi, "n": values.size}


@dataclass(frozen=True, eq=False, repr=False)
class GridResult(Result):
    """``table``: ``row, column, value, lo, hi, n``."""

    measure: Measure
    grid: Grid

    def wide(self) -> pd.DataFrame:
        """Rows × columns of the values, both from small to large; NaN where nothing was measured."""
        made = self.table.pivot_table(index="row", columns="column", values="value", observed=True, sort=False)
        rows = [made.index[i] for i in order_of([str(v) for v in made.index])]
        columns = [made.columns[i] for i in order_of([str(v) for v in made.columns])]
        return made.loc[rows, columns]

    def to_dict(self) -> dict[str, Any]:
        """``cells[]``; strict JSON."""
        names = {"rows": self.grid.rows, "columns": self.grid.columns, "metric": self.grid.metric}
        return {"kind": "grid", "verdict": self.verdict, **names, "cells": records(self.table)}


def _binned(values: pd.Series[Any]) -> pd.Series[Any]:
    """Few values as they are, as text; many numbers in bins named by their lower end."""
    if not pd.api.types.is_numeric_dtype(values) or values.nunique() <= 2 * _BINS:
        return values.map(lambda v: None if pd.isna(v) else f"{v:g}" if isinstance(v, float) else str(v))
    cut = pd.qcut(values, _BINS, duplicates="drop")
    low = values.groupby(cut, observed=True).min()
    return cut.map(lambda interval: f"{low[interval]:g}").astype(object)


def _verdict(table: pd.DataFrame, m: Measure, grid: Grid) -> str:
    ordered = table.sort_values("value", ascending=not m.higher_is_better, kind="stable")
    best, worst = ordered.iloc[0], ordered.iloc[-1]
    ratio = float(
        np.maximum(worst["value"], best["value"]) / max(1e-12, float(np.minimum(worst["value"], best["value"])))
    )
    places = [f"{grid.rows} {c['row']}, {grid.columns} {c['column']}" for c in (best, worst)]
    return f"{m.label}: best at {places[0]}, worst at {places[1]}, {ratio:.1f} times apart."
