"""Unordered deployments of one model (providers, engines, settings) against a reference: which are worse.

There is no ladder, so no cliff: paired differences where items are shared, else differences of rates, with
simultaneous (Bonferroni) intervals. ``degraded`` = surely worse than the reference by any amount.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from speedqual.analysis.base import Result, records
from speedqual.analysis.intervals import wilson
from speedqual.analysis.paired import paired_difference
from speedqual.analysis.tidy import Table, tidy
from speedqual.errors import UsageError

__all__ = ["Degraded", "DegradedResult"]


@dataclass(frozen=True)
class Degraded:
    """``reference``: the candidate that the others are held against; empty = the first. ``delta``: the loss that must
    be ruled out before a deployment is called ``same`` (else it is ``cannot tell``)."""

    reference: str = ""
    delta: float = 0.10
    level: float = 0.95

    def __call__(self, data: Any) -> DegradedResult:
        """Compare all candidates of a run, its ``df`` or ``from_table(…)`` with the reference."""
        table = tidy(data)
        reference = self.reference or table.names[0]
        if reference not in table.names:
            raise UsageError(f"there is no candidate {reference!r}", fix=f"Known: {', '.join(table.names[:20])}")
        others = [name for name in table.names if name != reference]
        if not others:
            raise UsageError("there is nothing to compare the reference with")
        rows = [self.row(table, reference, name, len(others)) for name in others]
        out = pd.DataFrame(rows).sort_values("difference", kind="stable", ignore_index=True)
        return DegradedResult(out, _verdict(out, reference), table.notes, reference)

    def row(self, table: Table, reference: str, name: str, many: int) -> dict[str, Any]:
        level = 1 - (1 - self.level) / many
        value, lo, hi, n, p = _difference(table, reference, name, level)
        quality = float(table.summary.loc[table.summary["candidate"] == name, "quality"].iloc[0])
        label = _label(value, lo, hi, self.delta)
        if quality == 0 and n >= 20 and hi is not None and hi < 0:
            label = "serving fault"
        return {
            "candidate": name,
            "quality": quality,
            "difference": value,
            "difference_lo": lo,
            "difference_hi": hi,
            "p": None if p is None else min(1.0, p * many),
            "n": n,
            "label": label,
        }


@dataclass(frozen=True, eq=False, repr=False)
class DegradedResult(Result):
    """``table``: ``candidate, quality, difference`` (from the reference) with simultaneous bounds, ``p, n, label``:
    ``degraded``, ``better``, ``same`` (a loss of delta is ruled out), ``cannot tell``, ``serving fault`` (exactly 0).
    """

    reference: str

    def to_dict(self) -> dict[str, Any]:
        """``reference`` and ``deployments[]``; strict JSON."""
        return {
            "kind": "degraded",
            "verdict": self.verdict,
            "notes": list(self.notes),
            "reference": self.reference,
            "deployments": records(self.table),
        }


def _difference(
    table: Table, reference: str, name: str, level: float
) -> tuple[float, float | None, float | None, int, float | None]:
    if table.rows is not None:
        wide = table.matrix("given")[[reference, name]]
        wide = wide[wide.notna().all(axis=1)]
        if len(wide) < 2:
            raise UsageError(f"{reference} and {name} have no items in common")
        d = paired_difference(wide[reference], wide[name], table.clusters(wide.index), level)
        return d.value, d.lo, d.hi, d.n, d.p
    where = [table.names.index(reference), table.names.index(name)]
    (p1, n1), (p2, n2) = table.summary[["quality", "n"]].to_numpy(float)[where]
    if not np.isfinite([n1, n2]).all():
        return p2 - p1, None, None, 0, None
    lo, hi = newcombe(p1, n1, p2, n2, level)
    pooled = (p1 * n1 + p2 * n2) / (n1 + n2)
    se = float(np.sqrt(max(pooled * (1 - pooled), 1e-12) * (1 / n1 + 1 / n2)))
    return p2 - p1, lo, hi, int(min(n1, n2)), float(2 * stats.norm.sf(abs(p2 - p1) / se))


def newcombe(p1: float, n1: float, p2: float, n2: float, level: float = 0.95) -> tuple[float, float]:
    """Interval of p2 − p1 for independent rates, from both Wilson intervals (Newcombe 1998, method 10).

    >>> [round(v, 4) for v in newcombe(48 / 80, 80, 56 / 70, 70)]
    [0.0524, 0.3339]
    """
    a, b = wilson(p1 * n1, n1, level), wilson(p2 * n2, n2, level)
    assert a.lo is not None and a.hi is not None and b.lo is not None and b.hi is not None
    d = p2 - p1
    return d - float(np.hypot(p2 - b.lo, a.hi - p1)), d + float(np.hypot(b.hi - p2, p1 - a.lo))


def _label(value: float, lo: float | None, hi: float | None, delta: float) -> str:
    if lo is None or hi is None:
        return "cannot tell"
    if hi < 0:
        return "degraded"
    if lo > 0:
        return "better"
    return "same" if lo > -delta else "cannot tell"


def _verdict(out: pd.DataFrame, reference: str) -> str:
    worse = out[out["label"].isin(["degraded", "serving fault"])]
    if worse.empty:
        return f"No deployment is surely worse than {reference}."
    parts = [f"{row['candidate']} ({100 * row['difference']:+.0f} points)" for row in records(worse)]
    return f"Worse than {reference}: {', '.join(parts)}."
