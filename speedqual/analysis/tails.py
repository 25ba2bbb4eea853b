"""Tails and decay: percentiles with honest bounds, ECDFs, stalls, and streams that slow down as they go on.

Percentiles are by linear interpolation over finite values, with order-statistic intervals; the twin that counts
failures as infinitely slow is by nearest rank. The tail of a rate is its slow end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from speedqual.analysis.base import Result, records
from speedqual.analysis.intervals import quantile_interval, wilson
from speedqual.analysis.measures import Measure, find_measure
from speedqual.analysis.tidy import median, numbers, tidy
from speedqual.display.numbers import digits
from speedqual.errors import UsageError

__all__ = ["Tails", "TailsResult", "failure_inclusive"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Tails:
    """``metric``: what to look at; ``quantiles`` in the direction of slow: 0.95 is p95 of a time and p5 of a rate."""

    metric: str = "ttft_ms"
    quantiles: tuple[float, ...] = (0.5, 0.9, 0.95, 0.99)
    level: float = 0.95

    def __call__(self, data: Any) -> TailsResult:
        """Look at the requests of a run or its ``df``."""
        table = tidy(data)
        if table.raw is None:
            raise UsageError("tails need one row a request", fix="Give a run")
        measure = find_measure(self.metric)
        samples = {name: _values(table.raw, name, measure) for name in table.names}
        samples = {name: v for name, v in samples.items() if v.size}
        if not samples:
            raise UsageError(f"no request has a {measure.name}", fix="Name another metric")
        out = pd.DataFrame([_row(table.raw, name, v, measure, self) for name, v in samples.items()])
        steady = pd.DataFrame([_steadiness(table.raw, name) for name in table.names])
        return TailsResult(out, _verdict(out, measure), table.notes, measure, samples, steady)


@dataclass(frozen=True, eq=False, repr=False)
class TailsResult(Result):
    """``table``: ``candidate, n, failed`` and for each quantile ``p50, p50_lo, p50_hi, p50_with_failures``; a bound for
    which n is too small is missing. ``samples``: sorted values. ``steadiness``: ``candidate, decay_ratio`` with bounds
    (speed of the last third over that of the first), ``slows`` (share of streams with less than 0.9), ``stalled``
    (share of streams with a stall) with bounds.
    """

    measure: Measure
    samples: dict[str, Array]
    steadiness: pd.DataFrame

    def to_dict(self) -> dict[str, Any]:
        """``candidates[]`` and ``steadiness[]``; strict JSON."""
        return {
            "kind": "tails",
            "verdict": self.verdict,
            "notes": list(self.notes),
            "metric": self.measure.name,
            "candidates": records(self.table),
            "steadiness": records(self.steadiness),
        }


def failure_inclusive(values: Array, failed: int, q: float, *, higher_is_better: bool = False) -> float | None:
    """Percentile by nearest rank when ``failed`` requests count as never done; None when it falls among them.

    >>> failure_inclusive(np.array([1.0, 2.0, 3.0]), 1, 0.5), failure_inclusive(np.array([1.0, 2.0, 3.0]), 1, 0.95)
    (2.0, None)
    """
    total = values.size + failed
    if total == 0:
        return None
    slow_last = np.sort(values)[::-1] if higher_is_better else np.sort(values)
    rank = max(1, int(np.ceil(q * total - 1e-9)))
    return float(slow_last[rank - 1]) if rank <= values.size else None


def _values(raw: pd.DataFrame, name: str, measure: Measure) -> Array:
    rows = raw[(raw["candidate"] == name) & (raw["outcome"] == "ok")]
    values = numbers(rows, measure.name)
    return np.sort(values[np.isfinite(values)])


def _row(raw: pd.DataFrame, name: str, values: Array, measure: Measure, ask: Tails) -> dict[str, Any]:
    failed = int((raw.loc[raw["candidate"] == name, "outcome"] != "ok").sum())
    row: dict[str, Any] = {"candidate": name, "n": int(values.size), "failed": failed}
    for q in ask.quantiles:
        side = 1 - q if measure.higher_is_better else q
        got = quantile_interval(values, side, ask.level)
        label = f"p{100 * side:g}"
        row |= {label: got.value, f"{label}_lo": got.lo, f"{label}_hi": got.hi}
        row[f"{label}_with_failures"] = failure_inclusive(values, failed, q, higher_is_better=measure.higher_is_better)
    return row


def _steadiness(raw: pd.DataFrame, name: str) -> dict[str, Any]:
    rows = raw[(raw["candidate"] == name) & (raw["outcome"] == "ok")]
    decay, stalls = numbers(rows, "decay_ratio"), numbers(rows, "stalls")
    decay, stalls = decay[np.isfinite(decay)], stalls[np.isfinite(stalls)]
    middle = quantile_interval(decay, 0.5)
    stalled = wilson(float((stalls > 0).sum()), stalls.size)
    return {
        "candidate": name,
        "n_long": int(decay.size),
        "decay_ratio": middle.value,
        "decay_ratio_lo": middle.lo,
        "decay_ratio_hi": middle.hi,
        "slows": float((decay < 0.9).mean()) if decay.size else None,
        "stalled": stalled.value,
        "stalled_lo": stalled.lo,
        "stalled_hi": stalled.hi,
        "stall_share": median(numbers(rows, "stall_share")),
    }


def _verdict(out: pd.DataFrame, m: Measure) -> str:
    tail = next((c for c in ("p95", "p5") if c in out), None)
    if tail is None:
        return f"{len(out)} candidates have a {m.label}."
    order = out.sort_values(tail, ascending=not m.higher_is_better, kind="stable")
    best = order.iloc[0]
    slow = f"{tail} of the {m.label}"
    text = f"Best {slow}: {best['candidate']}, {digits(best[tail], 4)} {m.unit}"
    small = out.loc[out[f"{tail}_{'lo' if m.higher_is_better else 'hi'}"].isna(), "candidate"]
    return text + (f"; n is too small to bound it for {', '.join(small[:4])}." if len(small) else ".")
