"""How long a reply may take, and the watchdog that ends it when a deadline passes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Literal

from speedqual.endpoints.slot import Until
from speedqual.errors import ConfigError
from speedqual.records import Plain

__all__ = ["DeadlineName", "Deadlines", "Watchdog"]

DeadlineName = Literal["connect", "first_token", "silence", "total"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadlines(Plain):
    """Seconds. ``connect``: name, TCP and TLS; ``first_token``: sent → first counted event; ``silence``: between
    counted events and up to the end; ``total``: the whole call. Comments, pings and empty deltas break no silence."""

    connect_s: float = 10.0
    first_token_s: float = 120.0
    silence_s: float = 60.0
    total_s: float = 600.0

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if not 0 < value < float("inf"):
                raise ConfigError(
                    f"{f.name} is {value!r}", where="deadlines", fix="Give a positive, finite number of seconds"
                )


class Watchdog:
    """Fires once when the first-token, silence or total deadline of one call has passed.

    It knows no protocol: ``heard()`` (the time of the last counted event so far, None = none yet) is asked only when a
    deadline seems to have passed, never while tokens flow. ``until`` cuts the total deadline short, and may move.
    """

    def __init__(
        self,
        deadlines: Deadlines,
        heard: Callable[[], int | None],
        sent: Callable[[], int | None],
        scope: asyncio.Timeout,
        until: Until | None = None,
    ) -> None:
        self.fired: DeadlineName | None = None
        self._until = until or Until()
        self._deadlines, self._heard, self._sent, self._scope = deadlines, heard, sent, scope
        self._loop = asyncio.get_running_loop()
        self._t_start = time.perf_counter_ns()
        self._t_heard: int | None = None
        self._timer = self._arm()
        self._until.follow(self._moved)

    def stop(self) -> None:
        """Disarm."""
        self._until.leave(self._moved)
        self._timer.cancel()

    def _moved(self) -> None:
        if self.fired is None:
            self._timer.cancel()
            self._timer = self._arm()

    def _arm(self) -> asyncio.TimerHandle:
        wake_ns = min(due_ns for due_ns, _ in self._dues())
        if self._t_heard is None:  # the first event may be here already, and the silence after it counts
            wake_ns = min(wake_ns, time.perf_counter_ns() + int(self._deadlines.silence_s * 1e9))
        return self._loop.call_later(max(0.0, (wake_ns - time.perf_counter_ns()) / 1e9), self._look)

    def _dues(self) -> list[tuple[int, DeadlineName]]:
        """When each deadline falls due by what is known now."""
        limits = self._deadlines
        dues: list[tuple[int, DeadlineName]] = [(self._t_start + int(limits.total_s * 1e9), "total")]
        if self._until.by_ns is not None:
            dues.append((self._until.by_ns, "total"))
        if self._t_heard is None:
            dues.append(((self._sent() or self._t_start) + int(limits.first_token_s * 1e9), "first_token"))
        else:
            dues.append((self._t_heard + int(limits.silence_s * 1e9), "silence"))
        return dues

    def _look(self) -> None:
        self._t_heard = self._heard()
        due_ns, name = min(self._dues())
        if time.perf_counter_ns() >= due_ns:
            self.fired = name
            self._scope.reschedule(self._loop.time())
        else:
            self._timer = self._arm()
