"""The one place that reads time, and a clock for tests that moves only when told."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import Protocol

__all__ = ["Clock", "FakeClock", "SystemClock"]


class Clock(Protocol):
    """What the rest of the house knows of time."""

    def now_ns(self) -> int:
        """Nanoseconds on a monotonic clock (``time.perf_counter_ns``)."""
        ...

    def wall_ns(self) -> int:
        """Nanoseconds since the epoch: one anchor a run, never a difference."""
        ...

    async def sleep_until(self, t_ns: int) -> None:
        """Return at or after the monotonic time ``t_ns``."""
        ...


class SystemClock:
    """The machine's clocks."""

    def now_ns(self) -> int:
        return time.perf_counter_ns()

    def wall_ns(self) -> int:
        return time.time_ns()

    async def sleep_until(self, t_ns: int) -> None:
        await asyncio.sleep(max(0, t_ns - time.perf_counter_ns()) / 1e9)


@dataclass
class FakeClock:
    """A clock for tests: ``sleep_until`` jumps there and yields once."""

    t_ns: int = 0
    epoch_ns: int = 1_700_000_000_000_000_000
    slept: list[int] = field(default_factory=list)

    def now_ns(self) -> int:
        return self.t_ns

    def wall_ns(self) -> int:
        return self.epoch_ns + self.t_ns

    async def sleep_until(self, t_ns: int) -> None:
        self.slept.append(t_ns)
        self.t_ns = max(self.t_ns, t_ns)
        await asyncio.sleep(0)

    def advance(self, ns: int) -> None:
        """Move forward by ``ns`` nanoseconds."""
        self.t_ns += ns
