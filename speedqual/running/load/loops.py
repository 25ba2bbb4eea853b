"""The two ways to send: on a schedule that waits for nobody, or in streams that each wait for their reply."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from speedqual.running.arrivals import Arrival, ClosedArrivals
from speedqual.running.load.levels import Level
from speedqual.running.load.questions import Context, Questions
from speedqual.running.load.sending import Sender
from speedqual.running.together import task_group

__all__ = ["WHOLE", "Answers", "Shard", "Streams", "number_of", "open_loop"]

Answers = Mapping[str, str | None]
"""The key of each trial that an earlier call finished → the text of its reply, None where it failed."""

Shard = tuple[int, int]
"""(k, n): of the streams and numbers of a level every n-th, from the k-th."""
WHOLE: Shard = (0, 1)


def number_of(key: str) -> int:
    """The number within its level that ends a trial's key."""
    return int(key.rpartition(",")[2].strip(" ]"))


async def open_loop(
    sender: Sender,
    questions: Questions,
    arrivals: Iterable[tuple[int, Arrival]],
    run_start_ns: int,
    group: asyncio.TaskGroup,
) -> None:
    """Start each request at its time, in a task of its own: no reply is waited for, and a late start delays no other.

    ``arrivals``: (number, arrival) in order. A request is made while the one before it is on its way, never when it
    is due.
    """
    for number, arrival in arrivals:
        due_ns = sender.start_ns + arrival.at_ns
        request = questions.request(
            number,
            traffic=arrival.traffic,
            t_sched_ns=due_ns - run_start_ns,
            n_tokens=arrival.input_tokens,
            max_tokens=arrival.output_tokens,
        )
        await sender.clock.sleep_until(due_ns)
        if not sender.may_send():
            return
        group.create_task(sender.send(request, due_ns))


@dataclass(frozen=True, slots=True)
class Streams:
    """A closed loop: users, conversations or agents, or a shard of them. ``end_ns``: no request begins later; None = no
    such time.

    A conversation or agent whose request fails breaks off. Its numbers are fixed beforehand (stream, session, turn), so
    that a resumed one goes on where it stood, on the replies that it got.
    """

    sender: Sender
    questions: Questions
    level: Level
    how: ClosedArrivals
    answers: Answers
    end_ns: int | None
    shard: Shard = WHOLE

    async def run(self) -> None:
        """Until the time is over, everything is asked, or a limit says stop."""
        first, step = self.shard
        streams = range(first, self.how.streams, step)
        pending = self._pending()
        async with task_group() as group:
            for stream in streams:
                if self.how.turns is None:
                    group.create_task(self._user(stream, pending, group))
                else:
                    group.create_task(self._sessions(stream, self.how.turns))

    def _pending(self) -> Iterator[int]:
        first, step = self.shard
        numbers = itertools.count(first, step) if self.level.n is None else iter(range(first, self.level.n, step))
        done = {number_of(key) for key in self.answers}
        return (number for number in numbers if number not in done)

    async def _user(self, stream: int, pending: Iterator[int], group: asyncio.TaskGroup) -> None:
        """The pause begins with the end of a reply, not when it has been read; at most one of them lies unread."""
        before: asyncio.Task[None] | None = None
        for pause_ns in self.how.pauses(self.level.seed, stream):
            if self._over() or (number := next(pending, None)) is None or not self.sender.may_send():
                return
            over = asyncio.Event()
            sending = group.create_task(self._one(number, over))
            await over.wait()
            if before is not None:
                await before
            before = sending
            await self._pause(pause_ns)

    async def _one(self, number: int, over: asyncio.Event) -> None:
        try:
            await self.sender.send(self.questions.request(number), over=over.set)
        finally:
            over.set()

    async def _sessions(self, stream: int, turns: int) -> None:
        pauses = iter(self.how.pauses(self.level.seed, stream))
        endless = self.level.n is not None or self.level.duration_s is not None
        for session in itertools.count() if endless else range(1):
            if self._over() or not await self._session(stream, session, turns, pauses):
                return

    async def _session(self, stream: int, session: int, turns: int, pauses: Iterator[int]) -> bool:
        """One conversation; False = nothing more may be sent."""
        context: Context = {}
        first = (session * self.how.streams + stream) * turns
        for turn in range(turns):
            if self.level.n is not None and first + turn >= self.level.n:
                return False
            request = self.questions.request(first + turn, session=f"{stream}.{session}", turn=turn, context=context)
            if request.trial.key in self.answers:
                text = self.answers[request.trial.key]
            else:
                if self._over() or not self.sender.may_send():
                    return False
                record = await self.sender.send(request)
                text = None if record is None or record.last.outcome != "ok" else record.last.text
                await self._pause(next(pauses))
            if text is None:
                return True
            context = request.answered(text)
        return True

    def _over(self) -> bool:
        return self.end_ns is not None and self.sender.clock.now_ns() >= self.end_ns

    async def _pause(self, pause_ns: int) -> None:
        until_ns = self.sender.clock.now_ns() + pause_ns
        await self.sender.clock.sleep_until(until_ns if self.end_ns is None else min(until_ns, self.end_ns))
