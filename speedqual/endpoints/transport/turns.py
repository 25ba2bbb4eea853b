"""Work that can wait takes turns: one piece between two looks at the sockets, so that no read waits for a heap of it.

Streams that end together would else be decoded one after another while the first tokens of others lie in the kernel,
where a read that finds several of them is dated by the last.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Generator
from typing import TypeVar

__all__ = ["Turns"]

T = TypeVar("T")
SLICE_NS = 500_000  # a piece of work may last that long before the sockets are looked at again


class Turns:
    """At most one of those who ask is let on in each turn of the event loop; ``first`` ones before the others."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._first: deque[asyncio.Future[None]] = deque()
        self._rest: deque[asyncio.Future[None]] = deque()
        self._taken = False

    async def take(self, *, first: bool = False) -> None:
        """Return when it is the caller's turn; at once when nobody had this one."""
        if not self._taken:
            self._taken = True
            self._loop.call_soon(self._next)
            return
        mine = self._loop.create_future()
        (self._first if first else self._rest).append(mine)
        await mine

    async def through(self, steps: Generator[None, None, T]) -> T:
        """What the steps return, begun in a turn that is had; a new one is taken when they last."""
        until_ns = time.perf_counter_ns() + SLICE_NS
        while True:
            try:
                next(steps)
            except StopIteration as end:
                found: T = end.value
                return found
            if time.perf_counter_ns() >= until_ns:
                await self.take()
                until_ns = time.perf_counter_ns() + SLICE_NS

    def _next(self) -> None:
        """The next one that still waits, if any."""
        for waiting in (self._first, self._rest):
            while waiting:
                mine = waiting.popleft()
                if not mine.done():  # cancelled meanwhile
                    mine.set_result(None)
                    self._loop.call_soon(self._next)
                    return
        self._taken = False
