"""The requests of one level, or a shard of them, as this process sends them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext

from speedqual.records import Candidate
from speedqual.running.arrivals import Arrival, OpenLoop
from speedqual.running.load.levels import Level
from speedqual.running.load.loops import WHOLE, Answers, Shard, Streams, open_loop
from speedqual.running.load.questions import Questions
from speedqual.running.load.sending import Sender
from speedqual.running.together import task_group
from speedqual.running.trials import Trials

__all__ = ["Player", "Schedule"]

Schedule = Sequence[tuple[int, Arrival]] | None
"""(number, arrival) of an open loop in order; None = a closed one."""


class Player:
    """Everything that can be made before the first request is made here; ``play`` sends.

    ``schedule``: an open loop's requests to send. Of a closed loop ``answers`` were finished before, and of its
    streams and numbers those are sent that belong to ``shard``.
    """

    def __init__(
        self,
        trials: Trials,
        level: Level,
        candidate: Candidate,
        schedule: Schedule,
        answers: Answers,
        shard: Shard = WHOLE,
    ) -> None:
        self._trials, self._level = trials, level
        self._questions = Questions(level, candidate, trials.plan.evalsets, trials.session.run)
        self._schedule, self._answers, self._shard = schedule, answers, shard
        if settle := getattr(trials.client, "settle", None):
            settle()

    async def play(self, sender: Sender, run_start_ns: int, end_ns: int | None, over: Callable[[], None]) -> None:
        """Send until ``end_ns`` (None: until all is sent), then call ``over``; returns when the last reply is there.

        ``run_start_ns``: the start of the run, from which scheduled starts count. All times on this process's clock.
        """
        async with self._connections(), task_group() as group:
            await self._send(sender, run_start_ns, end_ns, group)
            over()

    def _connections(self) -> AbstractAsyncContextManager[None]:
        """New ones for each request where the level says so and the client can."""
        renew = getattr(self._trials.client, "new_connections", None)
        return renew() if renew is not None and self._level.new_connections else nullcontext()

    async def _send(self, sender: Sender, run_start_ns: int, end_ns: int | None, group: asyncio.TaskGroup) -> None:
        """Returns when the arrivals are over; what is in flight is drained by the group."""
        how = self._level.how
        if self._schedule is not None:
            await open_loop(sender, self._questions, self._schedule, run_start_ns, group)
            if end_ns is not None and not sender.stopped:
                await sender.clock.sleep_until(end_ns)
            return
        assert not isinstance(how, OpenLoop)
        await sender.clock.sleep_until(sender.start_ns)
        streams = Streams(sender, self._questions, self._level, how, self._answers, end_ns, self._shard)
        running = group.create_task(streams.run())
        if end_ns is None:
            await running
            return
        await asyncio.wait([running], timeout=max(0.0, (end_ns - sender.clock.now_ns()) / 1e9))
