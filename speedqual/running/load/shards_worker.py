"""One process of several that share a load test: ``python -m speedqual.running.load.shards_worker``.

Orders come on stdin, records go out on stdout; everything else that prints goes to stderr. It ends when stdin does.
"""

from __future__ import annotations

import asyncio
import os
import queue
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import Any, BinaryIO, cast

import speedqual
from speedqual.clock import SystemClock
from speedqual.endpoints.access import scrub_bytes
from speedqual.endpoints.client import Client
from speedqual.errors import SpeedqualError
from speedqual.records import Attempt, Event, Record
from speedqual.running.codec import pack
from speedqual.running.limits import Budget
from speedqual.running.load.breaker import Breaker, BreakerRule
from speedqual.running.load.health import LevelHealth
from speedqual.running.load.playing import Player
from speedqual.running.load.sending import Sender
from speedqual.running.load.shards_messages import (
    Begun,
    Broke,
    Go,
    Halt,
    Job,
    Kept,
    Played,
    Prepare,
    Prepared,
    Ready,
    frames,
    to_frame,
)
from speedqual.running.load.tally import Tally
from speedqual.running.route import asked
from speedqual.running.secret import secrets_of
from speedqual.running.session import Session
from speedqual.running.settings import Limits
from speedqual.running.together import task_group
from speedqual.running.trials import Trials
from speedqual.running.watching import RunEvent, TrialStarted, Watchers

__all__ = ["main"]

BATCH_S = 0.02
"""Messages wait for so long to leave together."""

_PLAY: ContextVar[int] = ContextVar("speedqual_play")


class _Outbox:
    """Sends messages home from a thread of its own, which also encodes the records, so that the loop does neither."""

    def __init__(self, pipe: BinaryIO) -> None:
        self._pipe = pipe
        self._queue: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="speedqual-outbox", daemon=True)
        self._thread.start()

    def put(self, message: Any) -> None:
        self._queue.put(lambda: message)

    def put_later(self, make: Callable[[], Any]) -> None:
        """A message that is made by the thread."""
        self._queue.put(make)

    def close(self) -> None:
        self._queue.put(None)
        self._thread.join(timeout=10)

    def _work(self) -> None:
        ended = False
        while not ended:
            batch = [self._queue.get()]
            batch += [self._queue.get() for _ in range(self._queue.qsize())]
            ended = None in batch
            try:
                self._pipe.write(b"".join(_frame(make) for make in batch if make is not None))
                self._pipe.flush()
            except OSError:  # home is gone
                return
            time.sleep(BATCH_S)  # few big writes: each wakes home once


def _frame(make: Callable[[], Any]) -> bytes:
    try:
        return to_frame(make())
    except Exception as fault:
        return to_frame(_broke(fault))


def _broke(fault: Exception) -> Broke:
    """What goes home of a fault; one that nobody raised on purpose is told here with its whole trace."""
    if isinstance(fault, SpeedqualError):
        return Broke(fault)
    traceback.print_exception(fault)
    return Broke(RuntimeError(f"a process of the load test broke: {type(fault).__name__}: {fault}"))


class _Home:
    """Stands in for the run folder and for whoever watches: records and beginnings of trials go home."""

    def __init__(self, job: Job, outbox: _Outbox, scrub: Callable[[bytes], bytes]) -> None:
        self.run, self.done, self.n_done = job.run, set[str](), 0
        self.shifts: dict[int, int] = {}  # play → what is added to its stamps
        self.again: set[int] = set()  # plays whose trials another worker was lost with
        self.budget = Budget(Limits())
        self._number, self._outbox, self._scrub = job.session, outbox, scrub

    async def keep(self, record: Record) -> None:
        play, budget = _PLAY.get(), self.budget
        if play in self.again:
            record = replace(record, flags=(*record.flags, "sent_again"))
        spent = budget.requests, budget.tokens, budget.usd
        self._outbox.put_later(partial(self._kept, play, record, self.shifts[play], spent))

    def _kept(self, play: int, record: Record, shift_ns: int, spent: tuple[int, int, float]) -> Kept:
        record = _moved(record, shift_ns) if shift_ns else record
        first, last = record.attempts[0].timeline, record.last
        return Kept(
            play,
            record.trial.key,
            last.outcome,
            last.status,
            last.text,
            last.served_model,
            first.t_sched,
            first.t_send,
            record.metrics,
            record.flags,
            pack(record, self._number, self._scrub),
            spent,
        )

    def tell(self, event: RunEvent) -> None:
        if isinstance(event, TrialStarted):
            self._outbox.put(Begun(_PLAY.get(), event.trial))


class _HomeDecides(Breaker):
    """Never opens: home sees the trials of all processes."""

    def note(self, attempt: Attempt) -> None:
        pass


class _Desk:
    """Takes orders and carries them out."""

    def __init__(self, trials: Trials, home: _Home, outbox: _Outbox, group: asyncio.TaskGroup) -> None:
        self._trials, self._home, self._outbox, self._group = trials, home, outbox, group
        self._players: dict[int, Player] = {}
        self._senders: dict[int, Sender] = {}

    def take(self, order: Any) -> None:
        match order:
            case Prepare():
                self._prepare(order)
            case Go():
                self._group.create_task(self._play(order))
            case Halt():
                for sender in self._senders.values():
                    sender.stopped, sender.why = sender.stopped or order.kind, sender.why or order.why

    def _prepare(self, order: Prepare) -> None:
        candidate = self._trials.plan.candidates[order.candidate]
        self._players[order.play] = Player(
            self._trials, order.level, candidate, order.schedule, order.answers, order.shard
        )
        if order.again:
            self._home.again.add(order.play)
        self._outbox.put(Prepared(order.play))

    async def _play(self, order: Go) -> None:
        _PLAY.set(order.play)
        self._home.shifts[order.play] = order.shift_ns
        health, over_ns = LevelHealth(), 0
        sender = Sender(
            self._trials,
            _HomeDecides(BreakerRule()),
            Tally(()),
            health,
            start_ns=order.start_ns,
            by_ns=order.by_ns,
        )
        self._senders[order.play] = sender

        def over() -> None:
            nonlocal over_ns
            health.stop()
            over_ns = self._trials.clock.now_ns()

        await self._players.pop(order.play).play(sender, order.run_start_ns, order.end_ns, over)
        del self._senders[order.play]
        client = cast("Client", self._trials.client)
        played = Played(order.play, over_ns + order.shift_ns, health.to_dict(), client.health())
        self._outbox.put(played)


_STAMPS = ("t_send", "t_sched", "t_headers", "t_usage", "t_end", "t_close", "t_begun", "t_checked")


def _moved(record: Record, ns: int) -> Record:
    """The record with every stamp ``ns`` later."""
    return replace(record, attempts=tuple(_moved_attempt(one, ns) for one in record.attempts))


def _moved_attempt(attempt: Attempt, ns: int) -> Attempt:
    line = attempt.timeline
    stamps: dict[str, Any] = {name: None if (at := getattr(line, name)) is None else at + ns for name in _STAMPS}
    events = tuple(Event(e.t_ns + ns, e.channel, e.text, e.read, e.n_tokens) for e in line.events)
    return replace(attempt, timeline=replace(line, events=events, **stamps))


async def _work(reader: asyncio.StreamReader, outbox: _Outbox) -> None:
    orders = frames(reader)
    job: Job = await anext(orders)
    environ = os.environ if job.environ is None else job.environ
    secrets = secrets_of(asked(job.plan.candidates.values()).values(), environ)
    home = _Home(job, outbox, partial(scrub_bytes, secrets=secrets))
    async with Client(deadlines=job.settings.deadlines, environ=environ) as client:
        session, watchers = cast("Session", home), cast("Watchers", home)
        settings = replace(job.settings, limits=Limits())  # home keeps them
        trials = Trials(client, job.plan, settings, job.prices, session, watchers, SystemClock())
        home.budget = trials.budget
        outbox.put(Ready(speedqual.__version__))
        async with task_group() as group:
            desk = _Desk(trials, home, outbox, group)
            async for order in orders:
                desk.take(order)
            raise _HomeIsGone


class _HomeIsGone(Exception):
    """Ends what still runs."""


async def _serve(outbox: _Outbox) -> None:
    reader = asyncio.StreamReader(limit=1 << 24)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    try:
        await _work(reader, outbox)
    except (_HomeIsGone, StopAsyncIteration):
        pass
    except Exception as fault:
        outbox.put(_broke(fault))


def main() -> None:
    """Serve one run."""
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.setswitchinterval(0.0005)  # the loop has the interpreter back from the outbox at once
    outbox = _Outbox(pipe)
    asyncio.run(_serve(outbox))
    outbox.close()


if __name__ == "__main__":
    main()
