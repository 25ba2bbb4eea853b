"""The place of a request in a load test's time: when it is wanted, when it must be over, who waits for its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Slot", "Until"]


class Until:
    """When the replies that share it are over at the latest, ``perf_counter_ns``; None = as the deadlines say.

    It can be brought forward while they come: whoever follows it is told.
    """

    def __init__(self, by_ns: int | None = None) -> None:
        self.by_ns = by_ns
        self._followers: set[Callable[[], None]] = set()

    def bring_forward(self, by_ns: int) -> None:
        """No later than that; what is earlier already stays."""
        if self.by_ns is None or by_ns < self.by_ns:
            self.by_ns = by_ns
            for moved in tuple(self._followers):
                moved()

    def before(self, t_ns: int) -> bool:
        """Whether the end comes first, or with it."""
        return self.by_ns is not None and self.by_ns <= t_ns

    def follow(self, moved: Callable[[], None]) -> None:
        """Call ``moved`` whenever the end moves."""
        self._followers.add(moved)

    def leave(self, moved: Callable[[], None]) -> None:
        """Call it no more."""
        self._followers.discard(moved)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """``t_sched``: when the arrival schedule wanted the request, ns. ``over``: called when a reply that looks whole has
    ended and before it is read, so that whoever waits for nothing but its end does not wait for our own work."""

    t_sched: int | None = None
    until: Until | None = None
    over: Callable[[], None] | None = None
