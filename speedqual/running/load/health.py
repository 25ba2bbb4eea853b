"""What the client itself did to one level: late sends, a late event loop, a busy core."""

from __future__ import annotations

import time
from typing import Any

from speedqual.endpoints.transport.lag import Histogram, LagTicker, judge
from speedqual.records import Record

__all__ = ["LevelHealth"]

LATE_MS = 5.0
"""Open loops whose 99th percentile of late sends is above this did not offer what they claim to."""


class LevelHealth:
    """Watches the client from the making to ``stop``."""

    def __init__(self) -> None:
        self._ticker = LagTicker()
        self._ticker.start()
        self._late = Histogram()
        self._wall_ns, self._cpu_ns = time.perf_counter_ns(), time.process_time_ns()
        self._cpu_share: float | None = None

    def note(self, record: Record) -> None:
        """Count how late a request left."""
        late_ms = record.metrics.get("sched_lag_ms")
        if isinstance(late_ms, (int, float)):
            self._late.add(round(late_ms * 1e6))

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
        why = judge(loop_ms, self._cpu_share, {"loop": 1})  # sends wait for the loop, whatever dates the replies
        if not why and late_ms is not None and late_ms > LATE_MS:
            why = f"requests left {late_ms:.1f} ms late at the 99th percentile"
        return {
            "loop_lag_p99_ms": loop_ms,
            "sched_lag_p99_ms": late_ms,
            "cpu_share": self._cpu_share,
            "limited": bool(why),
            "why": why,
        }
