"""When requests start: an open loop has a schedule of its own, a closed one waits for replies.

Both are pure: they send nothing and read no clock. A schedule counts from the start of its level, in whole
nanoseconds, and is the same on every machine for the same seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from speedqual.records import Plain

__all__ = ["Arrival", "ClosedArrivals", "OpenLoop"]


@dataclass(frozen=True, slots=True)
class Arrival(Plain):
    """One intended start, ``at_ns`` after the level's start.

    ``traffic`` names its class in a mix; the token counts are those of a trace, None = as the item says.
    """

    at_ns: int
    traffic: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None


@runtime_checkable
class OpenLoop(Protocol):
    """Starts that never wait for replies."""

    @property
    def text(self) -> str:
        """How ``arrivals()`` writes it: ``arrivals(x.text) == x``."""
        ...

    @property
    def rate(self) -> float:
        """Requests a second, the mean over its course: the level's coordinate."""
        ...

    def schedule(self, seed: int, duration_s: float) -> Iterator[Arrival]:
        """Ascending starts, all before ``duration_s``."""
        ...


@runtime_checkable
class ClosedArrivals(Protocol):
    """Streams (users, conversations, agents) that send, wait for the reply, pause, and send again."""

    @property
    def text(self) -> str:
        """How ``arrivals()`` writes it: ``arrivals(x.text) == x``."""
        ...

    @property
    def streams(self) -> int:
        """How many send at once: the level's coordinate."""
        ...

    @property
    def turns(self) -> int | None:
        """Requests of one session, each with the earlier ones as its context; None: every request stands alone."""
        ...

    def pauses(self, seed: int, stream: int) -> Iterator[int]:
        """Endless nanoseconds between a reply and the next request of this stream."""
        ...
