"""A latency (or the speed of decoding) along the levels of a layer, as percentiles with order-statistic bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from speedqual.analysis.base import Result, records
from speedqual.analysis.intervals import quantile_interval
from speedqual.analysis.load.knee import LAYERS, KneeResult, promised
from speedqual.analysis.load.reading import Level, LoadTable, read_load
from speedqual.analysis.measures import Measure, find_measure
from speedqual.analysis.tails import failure_inclusive
from speedqual.analysis.tidy import numbers
from speedqual.display.numbers import digits
from speedqual.errors import UsageError
from speedqual.timing.goodput import Slo

__all__ = ["LatencyByLoad", "LatencyResult"]


@dataclass(frozen=True)
class LatencyByLoad:
    """``metric`` along the levels of ``layers``; ``quantiles`` in the direction of slow (0.95 of a rate is its p5).

    ``knee``: of the same run, to mark it.
    """

    metric: str = "ttft_ms"
    quantiles: tuple[float, ...] = (0.5, 0.95, 0.99)
    layers: tuple[str, ...] = LAYERS
    knee: KneeResult | None = None

    def __call__(self, data: Any) -> LatencyResult:
        """Look at a load test. Raises UsageError where no request of these layers has the metric."""
        load = read_load(data)
        measure = find_measure(self.metric)
        levels = [one for _, _, ones in load.ladders(self.layers) for one in ones]
        table = pd.DataFrame([self.row(load, one, measure) for one in levels])
        if table.empty or not table["n"].any():
            raise UsageError(f"no request at a level of this load test has a {measure.name}", fix="Name another metric")
        slos = self.knee.slos if self.knee else promised(load)
        wanted = tuple(slo for slo in slos if slo.metric == measure.name)
        knees = self.knee.knees if self.knee else pd.DataFrame()
        return LatencyResult(
            table,
            _verdict(table, measure, label_of(self.quantiles[0], measure)),
            (),
            measure,
            self.quantiles,
            wanted,
            knees,
        )

    def row(self, load: LoadTable, one: Level, measure: Measure) -> dict[str, Any]:
        """One level: the requests whose first token came in its window, failures beside them."""
        rows = load.rows(one)
        values = numbers(rows[rows["first_in_window"] & (rows["outcome"] == "ok")], measure.name)
        values = np.sort(values[np.isfinite(values)])
        failed = int((rows["in_window"] & (rows["outcome"] != "ok")).sum())
        own: dict[str, Any] = {
            "candidate": one.candidate, "layer": one.layer, "level": one.level, "x": one.x, "unit": one.unit,
            "n": values.size, "failed": failed, "client_limited": one.limited,
        }  # fmt: skip
        for q in self.quantiles:
            side, name = (1 - q if measure.higher_is_better else q), label_of(q, measure)
            got = quantile_interval(values, side)
            own |= {name: got.value, f"{name}_lo": got.lo, f"{name}_hi": got.hi}
            own[f"{name}_with_failures"] = failure_inclusive(
                values, failed, q, higher_is_better=measure.higher_is_better
            )
        return own


@dataclass(frozen=True, eq=False, repr=False)
class LatencyResult(Result):
    """``table``: ``candidate, layer, level, x, unit, n, failed, client_limited`` and for each quantile ``p50, p50_lo,
    p50_hi, p50_with_failures``; a bound for which n is too small is missing. ``slos``: promises of this metric."""

    measure: Measure
    quantiles: tuple[float, ...]
    slos: tuple[Slo, ...]
    knees: pd.DataFrame

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the quantiles, from typical to slow."""
        return tuple(label_of(q, self.measure) for q in self.quantiles)

    def to_dict(self) -> dict[str, Any]:
        """``levels[]``; strict JSON."""
        said = {"kind": "latency_by_load", "verdict": self.verdict, "metric": self.measure.name}
        return said | {"slos": [str(slo) for slo in self.slos], "levels": records(self.table)}


def label_of(q: float, measure: Measure) -> str:
    """``p95``, of a rate ``p5``: its slow end."""
    return f"p{100 * (1 - q if measure.higher_is_better else q):g}"


def _verdict(table: pd.DataFrame, measure: Measure, name: str) -> str:
    parts = []
    for (candidate, layer), rows in table.groupby(["candidate", "layer"], sort=False):
        known = rows[rows[name].notna() & ~rows["client_limited"]]
        if len(known):
            ends = [
                f"{digits(row[name], 4)} {measure.unit} at {row['level']}" for _, row in known.iloc[[0, -1]].iterrows()
            ]
            parts.append(f"{candidate}, {layer}: {name} of the {measure.label} {', '.join(dict.fromkeys(ends))}")
    return "; ".join(parts) + "." if parts else f"No level tells the server's {measure.label}."
