"""Each level of a load test in its steady part: rates, what was in flight, Little's law, latencies, the client's lag.

Little's law: mean number in flight = arrival rate × mean time in system. Attempts count, as the server sees them. Where
the ratio is off by more than the edges of the window explain (a tenth, or time in system / window), or more are in
flight at its end than at its beginning by over three standard deviations of a steady Poisson queue, the queue grew or
shrank: the level was not steady, and its numbers will not last.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from speedqual.analysis.base import Result, records
from speedqual.analysis.intervals import quantile_interval
from speedqual.analysis.load.passing import Passed, each_level
from speedqual.analysis.load.reading import Key, Level, LoadTable, inside, read_load
from speedqual.analysis.tidy import numbers
from speedqual.timing.throughput import throughput

__all__ = ["Levels", "LevelsResult", "bounds_of", "little", "noise", "unsteady"]

Array = NDArray[np.float64]
_BATCHES = 10
_OFF = 0.1


@dataclass(frozen=True)
class Levels:
    """``batches``: equal parts of the window whose rates give the interval of the throughput (batch means); fewer, down
    to 4, where a part would be shorter than two mean times in system: users who keep step make waves."""

    batches: int = _BATCHES

    def __call__(self, data: Any) -> LevelsResult:
        """Look at a run; of a ``df`` alone what needs the records (tokens a second, Little's law) stays missing."""
        load = read_load(data)
        flow: dict[Key, dict[str, Any]] = {}
        levels = {one.key: one for one in load.levels}
        if hasattr(data, "records"):
            each_level(data, load, lambda key, passed: flow.update({key: self.flow(passed, levels[key])}))
        rows = [_row(load, one) | flow.get(one.key, _NO_FLOW) | _end(one) for one in load.levels]
        table = pd.DataFrame(rows)
        return LevelsResult(table, _verdict(table), _notes(table))

    def flow(self, passed: Passed, level: Level) -> dict[str, Any]:
        """What the records of one level say."""
        sends, ends, times, tokens = passed.as_arrays()
        spans = [(a * 1e6, b * 1e6) for a, b in level.windows_ms]
        whole = throughput(passed.flows())
        steady = {"tok_s_steady": whole.steady_tok_s, "tok_s_peak": whole.peak_tok_s}
        steady["tok_s_whole"] = whole.tok_s if len(spans) == 1 else None  # a pause is no part of a rate
        steady["uncounted"] = passed.uncounted
        if not spans or not sends.size:
            return _NO_FLOW | steady
        law = little(sends.astype(float), ends.astype(float), spans)
        fit = level.window_s / (2 * law["in_system_s"]) if law["in_system_s"] else self.batches
        rate = _batch_rate(times, tokens, spans, int(np.clip(fit, 4, self.batches)))
        if passed.uncounted and not times.size:
            rate["tok_s"] = None  # there were tokens, and nobody counted any
        return steady | rate | law


_FLOW = (
    "tok_s tok_s_lo tok_s_hi tok_s_steady tok_s_peak tok_s_whole uncounted batches "
    "in_flight arrivals_s in_system_s little growth growth_late"
)
_NO_FLOW: dict[str, Any] = dict.fromkeys(_FLOW.split())


@dataclass(frozen=True, eq=False, repr=False)
class LevelsResult(Result):
    """``table``: one row a level, from its window (``window_s``): ``n`` sent, ``ok``, ``failed``; ``offered_s``
    and ``achieved_s`` (requests that an open loop planned and sent in the window / its length), ``achieved`` (the ratio
    of their rates from the first to the last: 1 = sent as planned), ``done_s`` (complete replies a second); ``tok_s``
    with bounds (t over so many ``batches`` of time), ``tok_s_steady`` (at ≥ 90 % of the peak concurrency),
    ``tok_s_peak``, ``tok_s_whole``, which leave out the tokens of the ``uncounted`` replies;
    ``in_flight`` (mean), ``arrivals_s``, ``in_system_s`` (mean), ``little`` (in_flight / (arrivals_s × in_system_s)),
    ``growth`` (in flight at the end − at the beginning; ``growth_late``: − in the middle);
    ``ttft_ms`` and ``e2e_ms`` as ``_p50, _p95, _p99`` with bounds; ``decode_tok_s_p50, _p5``; ``lag_p99_ms`` and
    ``client_limited`` of the client; ``ended, why``.
    """

    def to_dict(self) -> dict[str, Any]:
        """``levels[]``; strict JSON."""
        said = {"kind": "levels", "verdict": self.verdict, "notes": list(self.notes)}
        return said | {"levels": records(self.table)}


def little(sends: Array, ends: Array, spans: list[tuple[float, float]]) -> dict[str, float | None]:
    """Little's law over ``spans`` (all ns): who was in flight, who arrived, how long those who arrived stayed.

    Two users who each stay 1 s and come again at once, over 2 s: two in flight = two arrivals a second × 1 s.

    >>> little(np.array([0, 0, 1e9, 1e9]), np.array([1e9, 1e9, 2e9, 2e9]), [(0, 2e9)])["little"]
    1.0
    """
    seconds = sum(b - a for a, b in spans) / 1e9
    present = sum(float(np.clip(np.minimum(ends, b) - np.maximum(sends, a), 0, None).sum()) for a, b in spans) / 1e9
    arrived = np.zeros(sends.shape, bool)
    for a, b in spans:
        arrived |= (sends >= a) & (sends < b)
    stay = float((ends[arrived] - sends[arrived]).mean()) / 1e9 if arrived.any() else None
    rate = int(arrived.sum()) / seconds if seconds > 0 else None
    expected = rate * stay if rate and stay else None
    mean = present / seconds if seconds > 0 else None
    ratio = mean / expected if expected and mean is not None else None
    growth, late = (
        sum(_at(b, sends, ends) - _at(b - share * (b - a), sends, ends) for a, b in spans) for share in (1.0, 0.5)
    )
    known = {"in_flight": mean, "arrivals_s": rate, "in_system_s": stay}
    return {**known, "little": ratio, "growth": growth, "growth_late": late}


def _at(moment: float, sends: Array, ends: Array) -> int:
    """How many were in flight, those sent at that very moment not yet."""
    return int(((sends < moment) & (ends >= moment)).sum())


def _batch_rate(
    times: NDArray[np.int64], tokens: Array, spans: list[tuple[float, float]], batches: int
) -> dict[str, float | None]:
    """Tokens a second in the window with a t interval over equal batches of time; no bounds without any token."""
    seconds = sum(b - a for a, b in spans) / 1e9
    edges = [np.linspace(a, b, batches + 1) for a, b in spans]
    counts = np.concatenate([np.histogram(times, e, weights=tokens)[0] for e in edges])
    widths = np.concatenate([np.diff(e) for e in edges]) / 1e9
    rate = float(counts.sum()) / seconds
    if not counts.any():
        return {"tok_s": rate, "tok_s_lo": None, "tok_s_hi": None, "batches": counts.size}
    half = float(stats.t.ppf(0.975, counts.size - 1) * (counts / widths).std(ddof=1) / np.sqrt(counts.size))
    return {"tok_s": rate, "tok_s_lo": max(0.0, rate - half), "tok_s_hi": rate + half, "batches": counts.size}


def _row(load: LoadTable, one: Level) -> dict[str, Any]:
    rows = load.rows(one)
    sent, first = rows[rows["in_window"]], rows[rows["first_in_window"] & (rows["outcome"] == "ok")]
    ok = int((sent["outcome"] == "ok").sum())
    ends = numbers(rows, "started_ms") + numbers(rows, "e2e_user_ms")
    done = int(inside(ends, one.windows_ms).sum())
    own: dict[str, Any] = {
        "candidate": one.candidate, "layer": one.layer, "level": one.level, "x": one.x, "unit": one.unit,
        "n": len(sent), "ok": ok, "failed": len(sent) - ok, "cut": len(rows) - len(sent),
        "window_s": one.window_s or None,
        "done_s": done / one.window_s if one.window_s else None,
    }  # fmt: skip
    times = {name: value for metric, qs in _SHOWN for name, value in bounds_of(first, metric, qs).items()}
    return own | _pace(rows, one) | times


def _pace(rows: pd.DataFrame, one: Level) -> dict[str, float | None]:
    """What the schedule of an open loop wanted in the window, and what was sent in it, by its length."""
    if one.offered is None or not one.window_s:
        return {"offered_s": None, "achieved_s": None, "achieved": None}
    wanted, sent = (int(inside(numbers(rows, name), one.windows_ms).sum()) for name in ("sched_ms", "started_ms"))
    return {"offered_s": wanted / one.window_s, "achieved_s": sent / one.window_s, "achieved": one.offered.ratio}


_SHOWN = (("ttft_ms", (0.5, 0.95, 0.99)), ("e2e_ms", (0.5, 0.95, 0.99)), ("decode_tok_s", (0.5, 0.05)))


def bounds_of(rows: pd.DataFrame, metric: str, quantiles: Iterable[float]) -> dict[str, float | None]:
    """``metric_p50, metric_p50_lo, metric_p50_hi`` and so on, by order statistics."""
    values = numbers(rows, metric)
    found: dict[str, float | None] = {}
    for q in quantiles:
        got = quantile_interval(values, q)
        name = f"{metric}_p{100 * q:g}"
        found |= {name: got.value, f"{name}_lo": got.lo, f"{name}_hi": got.hi}
    return found


def _end(one: Level) -> dict[str, Any]:
    why = one.limited_why if one.limited else one.why
    return {"lag_p99_ms": one.lag_p99_ms, "client_limited": one.limited, "ended": one.ended, "why": why}


def unsteady(table: pd.DataFrame) -> pd.DataFrame:
    """The levels at which the queue grew or shrank."""
    ratio, growth, mean, stay, window = (
        pd.to_numeric(table[name], errors="coerce")
        for name in ("little", "growth", "in_flight", "in_system_s", "window_s")
    )
    off = (ratio - 1).abs() > np.maximum(_OFF, stay / window)
    found: pd.DataFrame = table[off | (growth.abs() > noise(mean))]
    return found


def noise(in_flight: Any) -> Any:
    """By how many a steady queue with so many in flight at the mean may grow or shrink: three standard deviations of
    the difference of two Poisson counts."""
    return 3 * np.sqrt(2 * np.maximum(in_flight, 1.0))


def _verdict(table: pd.DataFrame) -> str:
    limited = table[table["client_limited"]]
    text = f"{len(table)} levels of {table['layer'].nunique()} layers"
    off = unsteady(table)
    if len(off):
        text += f"; the queue grew or shrank in the window at {_named(off)}"
    return text + (f"; the client was the limit at {_named(limited)}." if len(limited) else ".")


def _named(rows: pd.DataFrame) -> str:
    names = list(dict.fromkeys(rows["level"]))
    return ", ".join(names[:5]) + ("…" if len(names) > 5 else "")


def _notes(table: pd.DataFrame) -> tuple[str, ...]:
    notes = [
        f"{row['candidate']}, {row['level']}: not the server's figures, the client was the limit ({row['why']})"
        for row in table[table["client_limited"]].to_dict("records")
    ]
    early = table[~table["ended"].isin(("completed", "slo"))]  # a broken SLO ends the climb, not its own level
    notes += [f"{r['candidate']}, {r['level']}: ended early ({r['ended']})" for r in early.to_dict("records")]
    counts = pd.to_numeric(table["uncounted"], errors="coerce").fillna(0).astype(int)
    notes += [
        f"{r['candidate']}, {r['level']}: tokens a second leave out replies whose tokens nobody counted ({n})"
        for r, n in zip(table.to_dict("records"), counts, strict=True)
        if n
    ]
    empty = table[table["window_s"].isna()]
    if len(empty):
        notes.append(f"no time is left after warm-up and cool-down at {_named(empty)}")
    return tuple(notes)
