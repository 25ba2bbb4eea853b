"""Do answers get worse under load? The same items at each level, delivered and given, and the cliff rule on the levels.

The levels of a layer become the rungs of a ladder, x = log2 of users or requests a second. Failed, late, empty or cut
replies are a serving fault, not a lack of ability: the rule tells the two apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from speedqual.analysis.base import Result, plain, records
from speedqual.analysis.cliffs import Cliffs, CliffsResult
from speedqual.analysis.intervals import wilson
from speedqual.analysis.load.reading import Level, LoadTable, read_load
from speedqual.analysis.paired import paired_difference
from speedqual.analysis.tidy import CLIMBED, Table, from_run, numbers
from speedqual.errors import UsageError

__all__ = ["QualityResult", "QualityUnderLoad"]


@dataclass(frozen=True)
class QualityUnderLoad:
    """``layers``: whose levels are compared; ``rule``: of the cliffs."""

    layers: tuple[str, ...] = CLIMBED
    rule: Cliffs = field(default_factory=lambda: Cliffs(by="ladder"))

    def __call__(self, data: Any) -> QualityResult:
        """Look at a graded load test. Raises UsageError where no answer of these layers is graded."""
        load = read_load(data)
        ladders = [ones for _, _, ones in load.ladders(self.layers)]
        names = {one.key: _rung(one) for ones in ladders for one in ones}
        frame = _as_ladder(load, names, {one.key: one for ones in ladders for one in ones})
        if frame.empty or "score" not in frame or not frame["score"].notna().any():
            raise UsageError("no answer at a level of load is graded", fix="Grade the run: speedqual grade RUN")
        table = from_run(frame)
        rows = [row for ones in ladders for row in _rows(table, load, ones, names)]
        cliffs = self.rule(table) if any(len(ones) > 1 for ones in ladders) else None
        out = pd.DataFrame(rows)
        return QualityResult(out, _verdict(out, cliffs), table.notes, cliffs)


@dataclass(frozen=True, eq=False, repr=False)
class QualityResult(Result):
    """``table``: one row a level: ``candidate, layer, level, x, unit, n`` (items), ``delivered`` and ``given`` with
    bounds, shares of requests ``truncated, timed_out, failed`` (all failures of the endpoint), ``wrong`` (graded and
    not a success), and ``change`` with bounds: given, paired by item, against the lowest level. ``cliffs``: the rule on
    the levels; None with one level."""

    cliffs: CliffsResult | None

    def to_dict(self) -> dict[str, Any]:
        """``levels[]`` and ``ladders[]``; strict JSON."""
        said = {"kind": "quality_under_load", "verdict": self.verdict, "notes": list(self.notes)}
        ladders = [] if self.cliffs is None else self.cliffs.to_dict()["ladders"]
        return said | {"levels": records(self.table), "ladders": plain(ladders)}


def _rung(one: Level) -> str:
    return f"{one.candidate} · {one.layer} · {one.level}"


def _as_ladder(load: LoadTable, names: dict[Any, str], levels: dict[Any, Level]) -> pd.DataFrame:
    """The rows with each level as a candidate of its own on the ladder of its layer."""
    rows = load.frame
    keys = list(zip(rows["candidate"], rows["layer"], rows["level"], strict=True))
    kept = np.array([key in names for key in keys], bool)
    rows, keys = rows[kept], [key for key in keys if key in names]
    x = [levels[key].x for key in keys]
    return rows.assign(
        candidate=[names[key] for key in keys],
        ladder=[f"{key[0]} · {key[1]}" for key in keys],
        rung=[key[2] for key in keys],
        x=[float(np.log2(v)) if v > 0 else np.nan for v in x],
    )


def _rows(table: Table, load: LoadTable, ones: Sequence[Level], names: dict[Any, str]) -> list[dict[str, Any]]:
    every = [names[one.key] for one in ones]
    found = []
    for one in ones:
        if names[one.key] not in table.names:
            continue
        mine = table.only([names[one.key]])
        (delivered,), (given,) = mine.intervals("score"), mine.intervals("given")
        own: dict[str, Any] = {
            "candidate": one.candidate, "layer": one.layer, "level": one.level, "x": one.x, "unit": one.unit,
            "n": delivered.n, "delivered": delivered.value, "delivered_lo": delivered.lo, "delivered_hi": delivered.hi,
            "given": given.value, "given_lo": given.lo, "given_hi": given.hi, "client_limited": one.limited,
        }  # fmt: skip
        first = next(name for name in every if name in table.names)
        found.append(own | _shares(load.rows(one)) | _change(table, first, names[one.key]))
    return found


def _shares(rows: pd.DataFrame) -> dict[str, Any]:
    text = {name: rows[name].fillna("").astype(str) for name in ("failure", "stop") if name in rows}
    ok = rows["outcome"] == "ok"
    cut = (text.get("failure", "") == "truncated") | (text.get("stop", "") == "length")
    score = pd.Series(numbers(rows, "score"), index=rows.index)
    done = pd.Series(numbers(rows, "success_at"), index=rows.index).fillna(1.0)
    marks = {
        "truncated": ok & cut,
        "timed_out": rows["outcome"] == "timeout",
        "failed": ~rows["outcome"].isin(("ok", "empty", "filtered")),
        "wrong": score < done,
    }
    found: dict[str, Any] = {"requests": len(rows)}
    for name, marked in marks.items():
        share = wilson(float(pd.Series(marked, index=rows.index).sum()), len(rows))
        found |= {name: share.value, f"{name}_lo": share.lo, f"{name}_hi": share.hi}
    return found


def _change(table: Table, first: str, name: str) -> dict[str, float | None]:
    nothing: dict[str, float | None] = {"change": None, "change_lo": None, "change_hi": None}
    if name == first:
        return nothing
    both = table.matrix("given")[[first, name]].dropna()
    if len(both) < 2:
        return nothing
    found = paired_difference(both[first].to_numpy(), both[name].to_numpy(), table.clusters(both.index))
    return {"change": found.value, "change_lo": found.lo, "change_hi": found.hi}


def _verdict(out: pd.DataFrame, cliffs: CliffsResult | None) -> str:
    parts = []
    for (candidate, layer), rows in out.groupby(["candidate", "layer"], sort=False):
        low, high = rows.iloc[0], rows.iloc[-1]
        ends = [f"{100 * row['delivered']:.0f} % at {row['level']}" for row in (low, high)]
        parts.append(f"{candidate}, {layer}: quality delivered {', '.join(dict.fromkeys(ends))}")
    text = "; ".join(parts) + "."
    return text if cliffs is None else f"{text} {cliffs.verdict}"
