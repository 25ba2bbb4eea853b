"""A load test as all its analyses see it: the levels with their windows, and one row a request.

Window membership: a latency belongs to the window in which its first token came, a request to that in which it was
sent. The window of a level is the time of its arrivals without the warm-up and the cool-down of the manifest; where no
cool-down is cut off, the replies that were in flight at the end of the arrivals count too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from speedqual.analysis.load.pace import client_of, offered_at
from speedqual.analysis.tidy import numbers
from speedqual.errors import UsageError
from speedqual.timing.throughput import Offered

__all__ = ["UNITS", "Key", "Level", "LoadTable", "inside", "read_load"]

UNITS = {
    "concurrency": "users",
    "arrivals": "req/s",
    "long_input": "tokens",
    "long_output": "tokens",
    "prefix": "share",
    "cold": "s",
}
"""What the coordinate of a layer counts, where the manifest does not say."""

Key = tuple[str, str, str]
"""Candidate, layer and level."""

Spans = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Level:
    """One level of one layer for one candidate.

    ``windows_ms``: where its rates are taken from, in ms after the start of the run, one span for each time it was run;
    ``reply_windows_ms``: the same for requests and latencies. ``ended``: completed, budget, slo, breaker, interrupted.
    ``limited``: the client was the limit, so nothing at this level is the server's; ``limited_why`` in words.
    ``lag_p99_ms``: of the sends behind their schedule, else of the client's event loop. ``turn``: its place in the
    order in which the levels were run.
    """

    candidate: str
    layer: str
    level: str
    x: float
    unit: str
    arrivals: str = ""
    n_planned: int | None = None
    n_sent: int | None = None
    windows_ms: Spans = ()
    reply_windows_ms: Spans = ()
    ended: str = "completed"
    why: str = ""
    limited: bool = False
    limited_why: str = ""
    lag_p99_ms: float | None = None
    offered: Offered | None = None
    turn: int = 0

    @property
    def key(self) -> Key:
        return self.candidate, self.layer, self.level

    @property
    def window_s(self) -> float:
        """Length of the windows together, seconds."""
        return sum(b - a for a, b in self.windows_ms) / 1000


@dataclass(frozen=True, eq=False)
class LoadTable:
    """``frame``: the load rows of ``run.df`` with ``in_window`` (sent in its level's window) and ``first_in_window``
    (its first token came there). ``levels`` by candidate, layer and coordinate."""

    frame: pd.DataFrame
    levels: tuple[Level, ...]
    slos: tuple[Mapping[str, Any], ...]
    plan: Mapping[str, Any]

    def rows(self, level: Level) -> pd.DataFrame:
        """All requests of a level, those outside its window too."""
        return self._groups.get(level.key, self.frame.head(0))

    @cached_property
    def _groups(self) -> dict[Key, pd.DataFrame]:
        return _by_level(self.frame)

    def ladders(self, layers: Iterable[str]) -> Iterator[tuple[str, str, list[Level]]]:
        """Candidate, layer and its levels by coordinate, for each of ``layers`` that was run."""
        wanted = tuple(layers)
        for candidate, layer in dict.fromkeys((one.candidate, one.layer) for one in self.levels):
            if layer in wanted:
                yield candidate, layer, [one for one in self.levels if (one.candidate, one.layer) == (candidate, layer)]

    def only(self, layer: str) -> LoadTable:
        """The part of one layer. Raises UsageError when it was not run."""
        levels = tuple(one for one in self.levels if one.layer == layer)
        if not levels:
            raise UsageError(f"this load test has no layer {layer!r}", fix=f"Run it with --layers {layer}")
        return LoadTable(self.frame[self.frame["layer"] == layer], levels, self.slos, self.plan)


def read_load(data: Any) -> LoadTable:
    """Read a run, its ``df`` or a ``LoadTable``. Without a manifest the window of a level is all its time.

    Raises UsageError when it is no load test.
    """
    if isinstance(data, LoadTable):
        return data
    frame = data if isinstance(data, pd.DataFrame) else getattr(data, "df", None)
    if not isinstance(frame, pd.DataFrame):
        raise UsageError(f"cannot analyse a {type(data).__name__}", fix="Give the run of a load test, or its df")
    lacking = [name for name in ("candidate", "outcome", "layer", "level", "load_x") if name not in frame]
    if lacking:
        raise UsageError(f"the table lacks the columns {', '.join(lacking)} of a load test", fix="Give a run's df")
    rows = frame[frame["layer"].fillna("").astype(str) != ""]
    rows = rows[rows["phase"] == "main"] if "phase" in rows else rows
    plan = dict(getattr(data, "manifest", {}).get("load") or {})
    if rows.empty and not plan.get("levels"):
        raise UsageError("this run is no load test", fix="Make one with speedqual load")
    rows = rows.assign(**{name: rows[name].astype(str) for name in ("candidate", "layer", "level")})
    levels = _levels(rows, plan.get("levels") or ())
    return LoadTable(_with_membership(rows, levels), levels, tuple(plan.get("slos") or ()), plan)


def _by_level(rows: pd.DataFrame) -> dict[Key, pd.DataFrame]:
    by = rows.groupby(["candidate", "layer", "level"], sort=False, observed=True)
    return {(str(a), str(b), str(c)): part for (a, b, c), part in by}


def _levels(rows: pd.DataFrame, entries: Sequence[Mapping[str, Any]]) -> tuple[Level, ...]:
    groups = _by_level(rows)
    said: dict[Key, list[Mapping[str, Any]]] = {}
    for entry in entries:
        said.setdefault((str(entry["candidate"]), str(entry["layer"]), str(entry["level"])), []).append(entry)
    keys = dict.fromkeys([*said, *groups])
    made = [
        replace(_level(key, groups.get(key, rows.head(0)), said.get(key, [])), turn=turn)
        for turn, key in enumerate(keys)
    ]
    order = {pair: i for i, pair in enumerate(dict.fromkeys((one.candidate, one.layer) for one in made))}
    return tuple(sorted(made, key=lambda one: (order[one.candidate, one.layer], one.x)))


def _level(key: Key, rows: pd.DataFrame, entries: Sequence[Mapping[str, Any]]) -> Level:
    last: Mapping[str, Any] = entries[-1] if entries else {}
    x = last.get("x", rows["load_x"].iloc[0] if len(rows) else None)
    pace, whole = offered_at(rows, entries), _whole(rows)
    until_ms = whole[0][1] if whole else None
    return Level(
        *key,
        x=0.0 if x is None or not np.isfinite(x) else float(x),
        unit=str(last.get("unit") or UNITS.get(key[1], "")),
        arrivals=str(last.get("arrivals") or ""),
        n_planned=_total(entries, "n_planned"),
        n_sent=_total(entries, "n_sent"),
        windows_ms=_windows(entries, until_ms) if entries else whole,
        reply_windows_ms=_windows(entries, until_ms, replies=True) if entries else whole,
        ended=str(last.get("ended") or "completed"),
        why=str(last.get("why") or ""),
        offered=pace,
        **client_of(entries, pace),
    )


def _total(entries: Sequence[Mapping[str, Any]], name: str) -> int | None:
    known = [int(entry[name]) for entry in entries if entry.get(name) is not None]
    return sum(known) if known else None


def _windows(entries: Sequence[Mapping[str, Any]], until_ms: float | None, *, replies: bool = False) -> Spans:
    """The spans of all the times that a level was run; ``until_ms``: the end of one that was killed."""
    found = []
    for entry in entries:
        start, end, cool_s = entry.get("start_ms"), entry.get("end_ms"), float(entry.get("cooldown_s") or 0.0)
        if replies and not cool_s:
            end = max((t for t in (end, entry.get("drained_ms")) if t is not None), default=None)
        end = until_ms if end is None else float(end)
        if start is not None and end is not None:
            found.append((float(start) + 1000 * float(entry.get("warmup_s") or 0.0), end - 1000 * cool_s))
    return tuple(span for span in found if span[1] > span[0])


def _whole(rows: pd.DataFrame) -> Spans:
    """From the first send to the last end of a table without a manifest."""
    sent = numbers(rows, "started_ms")
    ends = sent + np.nan_to_num(numbers(rows, "e2e_user_ms"), nan=0.0)
    known = np.isfinite(sent)
    return ((float(sent[known].min()), float(ends[known].max())),) if known.any() else ()


def _with_membership(rows: pd.DataFrame, levels: Sequence[Level]) -> pd.DataFrame:
    sent = numbers(rows, "started_ms")
    sent = np.where(np.isfinite(sent), sent, numbers(rows, "sched_ms"))
    waited = numbers(rows, "ttft_user_ms")
    first = sent + np.where(np.isfinite(waited), waited, numbers(rows, "ttft_ms"))
    keys = list(zip(rows["candidate"], rows["layer"], rows["level"], strict=True))
    windows = {one.key: one.reply_windows_ms for one in levels}
    in_window, first_in = np.zeros(len(rows), bool), np.zeros(len(rows), bool)
    codes, unique = pd.factorize(pd.Series(keys, dtype=object))
    for code, key in enumerate(unique):
        mine = codes == code
        # nobody knows when a request was sent that never reached a socket: it stays in, as the failure it is
        in_window[mine] = inside(sent[mine], windows[key]) | ~np.isfinite(sent[mine])
        first_in[mine] = inside(first[mine], windows[key])
    return rows.assign(in_window=in_window, first_in_window=first_in)


def inside(t_ms: NDArray[np.float64], spans: Spans) -> NDArray[np.bool_]:
    """Which moments lie in one of ``spans``, both ends included; NaN lies in none."""
    found = np.zeros(t_ms.shape, bool)
    for a, b in spans:
        found |= (t_ms >= a) & (t_ms <= b)
    return found
