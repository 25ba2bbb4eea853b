"""A load test over wall time: how many were in flight, who arrived, what failed, where streams stood still."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from speedqual.analysis.base import Result, records
from speedqual.analysis.load.passing import dated, ended_at
from speedqual.analysis.load.reading import Level, read_load
from speedqual.display.numbers import digits
from speedqual.errors import UsageError
from speedqual.records import Record
from speedqual.timing.gaps import STALL_MEDIANS, STALL_NS
from speedqual.timing.stream import Stream

__all__ = ["RunTimeline", "TimelineResult"]

Array = NDArray[np.float64]
_NICE_S = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0)


@dataclass(frozen=True)
class RunTimeline:
    """``bin_s``: width of the bins; None = a round one that gives at most ``bins`` of them."""

    bin_s: float | None = None
    bins: int = 200

    def __call__(self, data: Any) -> TimelineResult:
        """Look at a run, with one pass over its records. Raises UsageError where nothing was tried."""
        load = read_load(data)
        if not hasattr(data, "records"):
            raise UsageError("a timeline needs the records of a run", fix="Give the run, not its table")
        moments: dict[str, _Moments] = {}
        for record, shift in dated(data):
            if record.trial.load is not None:
                moments.setdefault(record.trial.candidate, _Moments()).add(record, shift)
        spans = [m.span() for m in moments.values() if m.span()]
        if not spans:
            raise UsageError("no request of this load test was tried")
        first, last = min(span[0] for span in spans), max(span[1] for span in spans)
        width = self.bin_s or next((w for w in _NICE_S if (last - first) / w <= self.bins), _NICE_S[-1])
        edges = np.arange(np.floor(first / width), np.floor(last / width) + 2) * width
        table = pd.concat([m.binned(name, edges) for name, m in moments.items()], ignore_index=True)
        return TimelineResult(table, _verdict(table), (), width, load.levels)


@dataclass(frozen=True, eq=False, repr=False)
class TimelineResult(Result):
    """``table``: one row per candidate and bin: ``t_s`` (its beginning, seconds after the start of the run),
    ``in_flight`` (mean over the bin), counts of ``arrivals`` (attempts sent), ``done`` (ended well), ``errors``
    (attempts that failed, at their end; also those of an open loop that reached no socket) and ``stalls`` (at their
    beginning). ``bin_s``: width."""

    bin_s: float
    levels: tuple[Level, ...]

    def to_dict(self) -> dict[str, Any]:
        """``bins[]``; strict JSON."""
        said = {"kind": "timeline", "verdict": self.verdict, "notes": list(self.notes), "bin_s": self.bin_s}
        return said | {"bins": records(self.table)}


@dataclass
class _Moments:
    """Seconds after the start of the run at which things happened to one candidate."""

    sends: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    done: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    stalls: list[float] = field(default_factory=list)

    def add(self, record: Record, shift: int) -> None:
        for attempt in record.attempts:
            sent, gave_up = attempt.timeline.t_send, attempt.timeline.t_close
            if sent is None:  # nothing went out; what remains is that it failed
                self.errors += [(gave_up - shift) / 1e9] if gave_up is not None and shift else []
                continue
            end = (ended_at(attempt) - shift) / 1e9
            self.sends.append((sent - shift) / 1e9)
            self.ends.append(end)
            (self.done if attempt.outcome in ("ok", "empty", "filtered") else self.errors).append(end)
            self.stalls += [(t - shift) / 1e9 for t in _stalled(Stream((attempt,)))]

    def span(self) -> tuple[float, ...]:
        known = (*self.sends, *self.ends, *self.errors)
        return (min(known), max(known)) if known else ()

    def binned(self, candidate: str, edges: Array) -> pd.DataFrame:
        counts = {
            name: np.histogram(values, edges)[0]
            for name, values in (
                ("arrivals", self.sends), ("done", self.done), ("errors", self.errors), ("stalls", self.stalls),
            )
        }  # fmt: skip
        present = _present(np.array(self.sends), np.array(self.ends), edges)
        return pd.DataFrame({"candidate": candidate, "t_s": edges[:-1], "in_flight": present, **counts})


def _stalled(stream: Stream) -> Iterator[int]:
    """Stamps of the events after which a stream stood still."""
    limit = max(STALL_NS, STALL_MEDIANS * (stream.median_gap_ns or 0))
    yield from (a.t_ns for a, b in pairwise(stream.events) if b.t_ns - a.t_ns > limit)


def _present(sends: Array, ends: Array, edges: Array) -> Array:
    """Mean number in flight in each bin: the integral of the count from the left to each edge, differenced."""

    def area(moments: Array) -> Array:
        ordered = np.sort(moments)
        before = np.searchsorted(ordered, edges)
        whole: Array = before * edges - np.concatenate([[0.0], np.cumsum(ordered)])[before]
        return whole

    found: Array = np.maximum(np.diff(area(sends) - area(ends)) / np.diff(edges), 0.0)
    return found


def _verdict(table: pd.DataFrame) -> str:
    whole = table.groupby("t_s")[["in_flight", "arrivals", "errors", "stalls"]].sum()
    peak = float(whole["in_flight"].max())
    text = f"At most {digits(peak)} in flight, {int(whole['arrivals'].sum())} requests sent"
    for name in ("errors", "stalls"):
        n = int(whole[name].sum())
        if n:
            text += f", {n} {name if n > 1 else name[:-1]} (most at {whole[name].idxmax():g} s)"
    return text + "."
