"""The client watches itself: event-loop lag, CPU share, and how long bytes and requests waited for it."""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass

from speedqual.records import Plain, Timeline

__all__ = ["ClientHealth", "Histogram", "LagTicker", "Vitals"]

TICK_NS = 5_000_000
SELECTOR_NS = 1_000_000
"""asyncio's selector sleeps in whole milliseconds, rounded up: the first one is not lag."""
_LAG_LIMIT_MS = 5.0
_BUSY_LIMIT = 0.9
_BUCKET_NS = 10_000


class Histogram:
    """Counts of nanoseconds in buckets of 10 µs: percentiles in bounded memory."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()
        self.n = 0
        self.max_ns = 0

    def add(self, ns: int) -> None:
        """Count one value; a negative one counts as 0."""
        ns = max(ns, 0)
        self._counts[ns // _BUCKET_NS] += 1
        self.n += 1
        self.max_ns = max(self.max_ns, ns)

    def add_all(self, values: list[int]) -> None:
        """Count several values."""
        if values:
            self._counts.update([max(ns, 0) // _BUCKET_NS for ns in values])
            self.n += len(values)
            self.max_ns = max(self.max_ns, *values)

    def percentile_ms(self, q: float) -> float | None:
        """The nearest-rank percentile in ms, read as the middle of its bucket; None when nothing was counted."""
        rank, seen = max(1, -(-self.n * q // 100)), 0
        for bucket in sorted(self._counts):
            seen += self._counts[bucket]
            if seen >= rank:
                return min((bucket + 0.5) * _BUCKET_NS, self.max_ns) / 1e6
        return None


class LagTicker:
    """Wakes every 5 ms and notes how late: ``worst_since`` gives the lag of a request's window.

    Of the late ticks only those are kept that no later one outdid, so the first one in a window is its worst and the
    list stays short.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.histogram = Histogram()
        self._late: list[tuple[int, int]] = []  # (when, how late), ns; later ones are less late
        self._handle: asyncio.TimerHandle | None = None
        self._due = 0

    def start(self) -> None:
        """Begin ticking."""
        self._next(time.perf_counter_ns())

    def stop(self) -> None:
        """Stop ticking; what was seen stays."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def worst_since(self, t_ns: int) -> int:
        """The largest lag after ``t_ns``, in ns: of a late tick's time only what lies after; one overdue now counts."""
        now = time.perf_counter_ns()
        overdue = now - self._due - SELECTOR_NS if self._handle is not None else 0
        first = bisect_left(self._late, (t_ns, 0))
        return max(0, min(overdue, now - t_ns), *(min(lag, when - t_ns) for when, lag in self._late[first:]))

    def _next(self, now: int) -> None:
        self._due = now + TICK_NS
        self._handle = self._loop.call_later(TICK_NS / 1e9, self._tick)

    def _tick(self) -> None:
        now = time.perf_counter_ns()
        lag = max(0, now - self._due - SELECTOR_NS)
        self.histogram.add(lag)
        if lag:
            late = self._late
            while late and late[-1][1] <= lag:
                late.pop()
            late.append((now, lag))
        self._next(now)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientHealth(Plain):
    """What the client did to the figures of a run. Times in ms, shares 0-1, None = nothing to say it from.

    ``limited``: the client was the limit, and the run must not rank by speed; ``why`` says by what.
    """

    requests: int
    loop_lag_ms_p50: float | None
    loop_lag_ms_p99: float | None
    loop_lag_ms_max: float | None
    cpu_share: float | None  # of one core, over the life of the client
    merged_share: float | None  # counted events that came in a read with others
    queued_to_sent_ms_p50: float | None  # asked → first byte on the socket, warm connections only
    queued_to_sent_ms_p99: float | None
    kernel_to_read_ms_p50: float | None
    kernel_to_read_ms_p99: float | None
    stamps: dict[str, int]  # stamp source → replies
    connections: dict[str, int]  # new | reused → requests
    trust_env: bool
    limited: bool
    why: str = ""


def judge(lag_ms_p99: float | None, cpu_share: float | None, stamps: dict[str, int]) -> str:
    """Why the client was the limit, or an empty string.

    Where every reply was dated by the kernel a late loop does not date bytes late; a busy core still holds back sends.
    """
    if cpu_share is not None and cpu_share > _BUSY_LIMIT:
        return f"the client used {cpu_share:.0%} of a core"
    if set(stamps) <= {"kernel"}:
        return ""
    if lag_ms_p99 is not None and lag_ms_p99 > _LAG_LIMIT_MS:
        return f"the event loop was {lag_ms_p99:.1f} ms late at the 99th percentile"
    return ""


class Vitals:
    """Counts over the life of one client, from which ``ClientHealth`` is told."""

    def __init__(self) -> None:
        self.ticker = LagTicker()
        self.queued = Histogram()
        self.waits = Histogram()
        self.stamps: Counter[str] = Counter()
        self.connections: Counter[str] = Counter()
        self._requests = self._events = self._merged = 0
        self._wall_ns = self._cpu_ns = 0

    def start(self) -> None:
        """Begin to watch."""
        self._wall_ns, self._cpu_ns = time.perf_counter_ns(), time.process_time_ns()
        self.ticker.start()

    def stop(self) -> None:
        """Stop the ticker."""
        self.ticker.stop()

    def note(self, timeline: Timeline, t_asked: int, waits_ns: list[int]) -> None:
        """Count one finished request."""
        self._requests += 1
        self.stamps[timeline.stamp] += 1
        self.connections[timeline.connection or "none"] += 1
        if timeline.t_send is not None and timeline.connection == "reused":
            self.queued.add(timeline.t_send - t_asked)
        self.waits.add_all(waits_ns)
        per_read = Counter(event.read for event in timeline.events)
        self._events += len(timeline.events)
        self._merged += sum(n for n in per_read.values() if n > 1)

    def health(self, *, trust_env: bool) -> ClientHealth:
        """What was seen so far."""
        wall_ns = time.perf_counter_ns() - self._wall_ns
        cpu_share = (time.process_time_ns() - self._cpu_ns) / wall_ns if self._wall_ns and wall_ns else None
        lag = self.ticker.histogram
        lag_p99 = lag.percentile_ms(99)
        stamps = {name: n for name, n in self.stamps.items() if name != "none"}
        why = judge(lag_p99, cpu_share, stamps)
        return ClientHealth(
            requests=self._requests,
            loop_lag_ms_p50=lag.percentile_ms(50),
            loop_lag_ms_p99=lag_p99,
            loop_lag_ms_max=lag.max_ns / 1e6 if lag.n else None,
            cpu_share=cpu_share,
            merged_share=self._merged / self._events if self._events else None,
            queued_to_sent_ms_p50=self.queued.percentile_ms(50),
            queued_to_sent_ms_p99=self.queued.percentile_ms(99),
            kernel_to_read_ms_p50=self.waits.percentile_ms(50),
            kernel_to_read_ms_p99=self.waits.percentile_ms(99),
            stamps=stamps,
            connections=dict(self.connections),
            trust_env=trust_env,
            limited=bool(why),
            why=why,
        )
