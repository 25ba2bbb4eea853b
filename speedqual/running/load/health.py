"""What the client itself did to one level: late sends, a late event loop, a busy core."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

from speedqual.endpoints.transport.lag import Histogram, LagTicker, judge
from speedqual.records import Record
from speedqual.timing.throughput import LAG_LIMIT_MS

__all__ = ["LevelHealth"]

LATE_MS = 5.0
"""Lateness up to this bends no arrival pattern that one client can send."""
SHARE = 0.05
"""Of a reply's time: a user who is late by less than that is no other user."""


class LevelHealth:
    """Watches the client from the making to ``stop``.

    What bends a level depends on its pace. Sends that are late by a gap between arrivals make another pattern of an
    open loop; a user who waits 6 ms for the client before each reply of 2 s is the same user. So the limit is the mean
    gap, or 5 % of a reply, but never under 5 ms nor over 50. Where the kernel dates the replies, lateness falsifies
    none.
    """

    def __init__(self) -> None:
        self._ticker = LagTicker()
        self._ticker.start()
        self._late, self._replies = Histogram(), Histogram()
        self._stamps: Counter[str] = Counter()
        self._due: list[int] = []
        self._wall_ns, self._cpu_ns = time.perf_counter_ns(), time.process_time_ns()
        self._cpu_share: float | None = None

    def note(self, record: Record) -> None:
        """Count how late a request left. On a new connection that is the network's doing, too: those say nothing."""
        first, late_ms = record.attempts[0].timeline, record.metrics.get("sched_lag_ms")
        if first.t_sched is not None:
            self._due.append(first.t_sched)
        if isinstance(late_ms, (int, float)) and first.connection != "new":
            self._late.add(round(late_ms * 1e6))
        whole_ms = record.metrics.get("e2e_user_ms")
        if isinstance(whole_ms, (int, float)):
            self._replies.add(round(whole_ms * 1e6))
        if first.stamp != "none":
            self._stamps[first.stamp] += 1

    def stop(self) -> None:
        """The arrivals are over: what comes after them says nothing of the load. The first call counts."""
        if self._cpu_share is not None:
            return
        self._ticker.stop()
        wall_ns = time.perf_counter_ns() - self._wall_ns
        self._cpu_share = (time.process_time_ns() - self._cpu_ns) / wall_ns

    def to_dict(self) -> dict[str, Any]:
        """``loop_lag_p99_ms``, ``sched_lag_p99_ms`` (None in a closed loop), ``cpu_share`` of one core, whether the
        client was the limit, and why."""
        loop_ms, late_ms = self._ticker.histogram.percentile_ms(99), self._late.percentile_ms(99)
        why = judge(loop_ms, self._cpu_share, self._stamps) or self._why_late(loop_ms, late_ms)
        return {
            "loop_lag_p99_ms": loop_ms,
            "sched_lag_p99_ms": late_ms,
            "cpu_share": self._cpu_share,
            "limited": bool(why),
            "why": why,
        }

    def _why_late(self, loop_ms: float | None, late_ms: float | None) -> str:
        limit_ms = self._limit_ms()
        if late_ms is not None and late_ms > limit_ms:
            return f"requests left {late_ms:.1f} ms late at the 99th percentile, over {limit_ms:.0f}"
        if loop_ms is not None and loop_ms > limit_ms:
            return f"the event loop was {loop_ms:.1f} ms late at the 99th percentile, over {limit_ms:.0f}"
        return ""

    def _limit_ms(self) -> float:
        if len(self._due) > 1:
            pace_ms = (max(self._due) - min(self._due)) / (len(self._due) - 1) / 1e6
        else:
            pace_ms = SHARE * (self._replies.percentile_ms(50) or 0.0)
        return min(LAG_LIMIT_MS, max(LATE_MS, pace_ms))
