"""One pass over the records of a load test: what was in flight, what tokens came when; one level in memory at a time.

Times are nanoseconds after the start of the run, whichever process or session asked: ``started_ms`` of the run's table
already stands on that common clock, so a record's own clock is the difference of its first send to it.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from speedqual.analysis.load.reading import Key, LoadTable
from speedqual.analysis.tidy import numbers
from speedqual.records import Attempt, Record
from speedqual.timing.throughput import Flow, flow_of

__all__ = ["Passed", "dated", "each_level", "ended_at"]

Times = NDArray[np.int64]


@dataclass
class Passed:
    """What one level left behind: sends and ends of all attempts, tokens with the moments at which they came.

    ``flows`` are on the common clock; an attempt that nobody counted tokens for has none: of those that said something
    there are ``uncounted``.
    """

    n: int = 0
    uncounted: int = 0
    sends: array[int] = field(default_factory=lambda: array("q"))
    ends: array[int] = field(default_factory=lambda: array("q"))
    token_times: array[int] = field(default_factory=lambda: array("q"))
    token_counts: array[float] = field(default_factory=lambda: array("d"))
    flow_lengths: array[int] = field(default_factory=lambda: array("q"))
    flow_sends: array[int] = field(default_factory=lambda: array("q"))

    def add(self, record: Record, shift: int) -> None:
        """``shift``: what the record's stamps are ahead of the start of the run, ns."""
        self.n += 1
        for attempt in record.attempts:
            sent = attempt.timeline.t_send
            if sent is None:
                continue
            self.sends.append(sent - shift)
            self.ends.append(ended_at(attempt) - shift)
            flow = flow_of(attempt)
            if flow is None:
                self.uncounted += bool(attempt.timeline.events)
            else:
                self.flow_sends.append(sent - shift)
                self.flow_lengths.append(len(flow.times_ns))
                self.token_times.extend(t - shift for t in flow.times_ns)
                self.token_counts.extend(flow.tokens)

    def flows(self) -> Iterator[Flow]:
        """The replies as flows of tokens."""
        edges = [0, *np.cumsum(self.flow_lengths)]
        for sent, (a, b) in zip(self.flow_sends, pairwise(edges), strict=True):
            yield Flow(sent, tuple(self.token_times[a:b]), tuple(self.token_counts[a:b]))

    def as_arrays(self) -> tuple[Times, Times, Times, NDArray[np.float64]]:
        """``(sends, ends, token_times, token_counts)``."""
        whole = (np.array(a, np.int64) for a in (self.sends, self.ends, self.token_times))
        return (*whole, np.array(self.token_counts, float))  # type: ignore[return-value]


def ended_at(attempt: Attempt) -> int:
    """When an attempt left the system: its close, else the last thing seen of it. It must have been sent."""
    line = attempt.timeline
    seen = (line.t_close, line.t_end, line.events[-1].t_ns if line.events else None, line.t_headers, line.t_send)
    return next(t for t in seen if t is not None)


def dated(run: Any) -> Iterator[tuple[Record, int]]:
    """Every record with the lead of its clock over the start of the run, ns; 0 where nobody knows it: nothing was sent
    and nothing was due at a given time."""
    frame = run.df
    for record, started_ms, due_ms in zip(run.records, frame["started_ms"], numbers(frame, "sched_ms"), strict=True):
        lines = [attempt.timeline for attempt in record.attempts]
        marks = (
            (next((line.t_send for line in lines if line.t_send is not None), None), started_ms),
            (lines[0].t_sched, due_ms),
        )
        leads = (t - round(at_ms * 1e6) for t, at_ms in marks if t is not None and np.isfinite(at_ms))
        yield record, next(leads, 0)


def each_level(run: Any, load: LoadTable, visit: Callable[[Key, Passed], None]) -> None:
    """Read the records once and give each level to ``visit`` as soon as its last record was read."""
    due = {one.key: len(load.rows(one)) for one in load.levels}
    open_: dict[Key, Passed] = {}
    for record, shift in dated(run):
        place = record.trial.load
        if place is None:
            continue
        key = (record.trial.candidate, place.layer, place.level)
        if key not in due:
            continue
        passed = open_.setdefault(key, Passed())
        passed.add(record, shift)
        if passed.n >= due[key]:
            visit(key, open_.pop(key))
    for key, passed in open_.items():
        visit(key, passed)
