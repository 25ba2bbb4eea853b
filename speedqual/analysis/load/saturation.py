"""Saturation: the level beyond which throughput no longer rises while latency does.

A level is the saturation point when all of these are shown: no higher level delivers ``rise`` more tokens a second (the
one-sided upper bound of each ratio, Bonferroni over the higher levels, is below 1 + ``rise``); the load rises by at
least half beyond it; and the median latency at the highest level is higher (bounds apart). The lowest such level is
named. Throughput has a t interval over batch means; ratios are taken of logs with Welch's degrees of freedom.

An open loop may show it within a level, the highest too: more came than were answered, so that from the middle to the
end of its window the queue grew beyond the noise of a steady one. Half of the window must be longer than two replies of
the lowest level take, or else it may only have been filling.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from speedqual.analysis.base import Result, records
from speedqual.analysis.load.levels import Levels, LevelsResult, noise
from speedqual.analysis.tidy import CLIMBED
from speedqual.display.numbers import digits

__all__ = ["Saturation", "SaturationResult"]

Row = Mapping[Any, Any]


@dataclass(frozen=True)
class Saturation:
    """``rise``: more throughput than this counts as rising; ``spread``: how far the load must go beyond the point."""

    rise: float = 0.10
    spread: float = 1.5
    alpha: float = 0.05
    layers: tuple[str, ...] = CLIMBED

    def __call__(self, data: Any) -> SaturationResult:
        """Look at a run, or at its ``LevelsResult``."""
        levels = data if isinstance(data, LevelsResult) else Levels()(data)
        table = levels.table[levels.table["layer"].isin(self.layers)].reset_index(drop=True)
        found = [self.ladder(rows.to_dict("records")) for _, rows in table.groupby(["candidate", "layer"], sort=False)]
        points = pd.DataFrame(found, columns=list(_POINT))
        return SaturationResult(table, _verdict(points), levels.notes, points)

    def ladder(self, rows: Sequence[Row]) -> dict[str, Any]:
        """The saturation point of one candidate's layer, from its levels in order of load."""
        own = [r for r in rows if not r["client_limited"] and _known(r["tok_s_hi"]) and r["tok_s"] > 0]
        best = max(own, key=lambda r: float(r["tok_s"]), default=None)
        point = next((k for k in range(len(own) - 1) if self.saturated(own, k)), None)
        told = {"candidate": rows[0]["candidate"], "layer": rows[0]["layer"], "unit": rows[0]["unit"]}
        told |= {"level": None, "x": None, "gain": None, "gain_hi": None, "offered_s": None, "done_s": None}
        if best is not None:
            told |= {"best": best["level"], "tok_s": best["tok_s"], "lo": best["tok_s_lo"], "hi": best["tok_s_hi"]}
        if point is None:
            overrun = next((row for row in own[1:] if _overrun(row, own[0])), None)
            names = ("level", "x", "offered_s", "done_s")
            return told | (
                {name: overrun[name] for name in names} | {"why": ""} if overrun else {"why": self.why_not(own)}
            )
        gain, high = self.gain(own, point)
        return told | {"level": own[point]["level"], "x": own[point]["x"], "gain": gain, "gain_hi": high, "why": ""}

    def saturated(self, rows: Sequence[Row], k: int) -> bool:
        last = rows[-1]
        far = rows[k]["x"] > 0 and last["x"] >= self.spread * rows[k]["x"]
        return bool(far and self.gain(rows, k)[1] < 1 + self.rise and _slower(rows[k], last))

    def gain(self, rows: Sequence[Row], k: int) -> tuple[float, float]:
        """The largest ratio of a higher level's throughput to that of level ``k``, and the largest upper bound."""
        later = rows[k + 1 :]
        ratios = [_ratio(row, rows[k], self.alpha / len(later)) for row in later]
        return max(r for r, _ in ratios), max(high for _, high in ratios)

    def why_not(self, rows: Sequence[Row]) -> str:
        """What keeps a point from being named."""
        if len(rows) < 2:
            return "fewer than two levels tell the server's throughput"
        k = len(rows) - 2
        if self.gain(rows, k)[0] >= 1 + self.rise:
            return "throughput still rises at the highest level"
        if not any(_slower(row, rows[-1]) for row in rows[:-1]):
            return "latency does not rise"
        return "too uncertain, or too little load beyond, to tell"


_POINT = (
    "candidate", "layer", "unit", "level", "x", "gain", "gain_hi", "offered_s", "done_s", "best", "tok_s", "lo", "hi",
    "why",
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class SaturationResult(Result):
    """``table``: the levels as in ``LevelsResult``. ``points``: one row a ladder: ``level, x`` (None: not shown, then
    ``why``), ``gain`` (largest throughput beyond / at it) with its upper bound ``gain_hi``, or, where its queue grew,
    ``offered_s`` and ``done_s`` (requests that came and were answered, a second); ``best`` level with
    ``tok_s, lo, hi``."""

    points: pd.DataFrame

    def to_dict(self) -> dict[str, Any]:
        """``points[]`` and ``levels[]``; strict JSON."""
        said = {"kind": "saturation", "verdict": self.verdict, "notes": list(self.notes)}
        return said | {"points": records(self.points), "levels": records(self.table)}


def _known(value: Any) -> bool:
    return value is not None and bool(np.isfinite(value))


def _ratio(above: Row, below: Row, alpha: float) -> tuple[float, float]:
    """Throughput of one level over another's, and its one-sided upper bound."""
    (a, se_a, df_a), (b, se_b, df_b) = _log_rate(above), _log_rate(below)
    variance = se_a**2 + se_b**2
    df = variance**2 / (se_a**4 / df_a + se_b**4 / df_b) if variance > 0 else df_a
    high = a - b + float(stats.t.ppf(1 - alpha, df)) * np.sqrt(variance)
    return float(np.exp(a - b)), float(np.exp(min(high, 700.0)))


def _log_rate(row: Row) -> tuple[float, float, float]:
    """Log of the throughput, its standard error (delta method) and degrees of freedom."""
    df = float(row["batches"]) - 1
    half = (row["tok_s_hi"] - row["tok_s_lo"]) / 2 if row["tok_s_lo"] > 0 else row["tok_s_hi"] - row["tok_s"]
    return float(np.log(row["tok_s"])), float(half / stats.t.ppf(0.975, df) / row["tok_s"]), df


def _overrun(row: Row, lowest: Row) -> bool:
    """Whether more came than were answered, for good."""
    known = all(_known(row[name]) for name in ("offered_s", "growth_late", "in_flight", "done_s"))
    if not known or not _known(lowest["in_system_s"]) or row["window_s"] < 4 * lowest["in_system_s"]:
        return False
    return bool(row["done_s"] < row["offered_s"] and row["growth_late"] > noise(row["in_flight"]))


def _slower(below: Row, above: Row) -> bool:
    """Whether the median of the whole answer (or the first token) rose beyond its bounds."""
    return any(
        _known(below[f"{m}_p50_hi"]) and _known(above[f"{m}_p50_lo"]) and above[f"{m}_p50_lo"] > below[f"{m}_p50_hi"]
        for m in ("e2e_ms", "ttft_ms")
    )


def _verdict(points: pd.DataFrame) -> str:
    parts = []
    for row in points.to_dict("records"):
        who = f"{row['candidate']}, {row['layer']}"
        if pd.isna(row["level"]):
            parts.append(f"{who}: no saturation shown ({row['why']})")
        elif pd.isna(row["gain_hi"]):
            came, done = digits(row["offered_s"], 3), digits(row["done_s"], 3)
            parts.append(
                f"{who}: saturated at {row['level']}, the queue grew: {came} came a second, {done} were answered"
            )
        else:
            beyond = f"no level beyond delivers {100 * (row['gain_hi'] - 1):.0f} % more"
            parts.append(f"{who}: saturated from {row['level']} on, {beyond}; best {digits(row['tok_s'], 4)} tokens/s")
    return "; ".join(parts) + "." if parts else "No layer of this load test climbs a load."
