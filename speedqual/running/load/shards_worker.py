"""One process of several that share a load test: ``python -m speedqual.running.load.shards_worker``.

Orders come on stdin, records go out on stdout; everything else that prints goes to stderr. It ends when stdin does.
"""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import replace
from functools import partial
from typing import Any, cast

import speedqual
from speedqual.clock import SystemClock
from speedqual.endpoints.access import scrub_bytes
from speedqual.endpoints.client import Client
from speedqual.records import Attempt
from speedqual.running.load.breaker import Breaker, BreakerRule
from speedqual.running.load.health import LevelHealth
from speedqual.running.load.playing import Player
from speedqual.running.load.sending import Sender
from speedqual.running.load.shards_home import PLAY, Home, Outbox, broke
from speedqual.running.load.shards_messages import (
    Go,
    Halt,
    Job,
    Played,
    Prepare,
    Prepared,
    Ready,
    frames,
)
from speedqual.running.load.tally import Tally
from speedqual.running.route import asked
from speedqual.running.secret import secrets_of
from speedqual.running.session import Session
from speedqual.running.settings import Limits
from speedqual.running.together import task_group
from speedqual.running.trials import Trials
from speedqual.running.undisturbed import undisturbed
from speedqual.running.watching import Watchers

__all__ = ["main"]


class _HomeDecides(Breaker):
    """Never opens: home sees the trials of all processes."""

    def note(self, attempt: Attempt) -> None:
        pass


class _Desk:
    """Takes orders and carries them out."""

    def __init__(self, trials: Trials, home: Home, outbox: Outbox, group: asyncio.TaskGroup) -> None:
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
                    sender.stop(order.kind, order.why)

    def _prepare(self, order: Prepare) -> None:
        candidate = self._trials.plan.candidates[order.candidate]
        self._players[order.play] = Player(
            self._trials, order.level, candidate, order.schedule, order.answers, order.shard
        )
        if order.again:
            self._home.again.add(order.play)
        self._outbox.put(Prepared(order.play))

    async def _play(self, order: Go) -> None:
        PLAY.set(order.play)
        self._home.shifts[order.play] = order.shift_ns
        health, over_ns = LevelHealth(), 0
        sender = Sender(
            self._trials,
            _HomeDecides(BreakerRule()),
            Tally(()),
            health,
            start_ns=order.start_ns,
            by_ns=order.by_ns,
            drain_s=order.drain_s,
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


async def _work(reader: asyncio.StreamReader, outbox: Outbox) -> None:
    orders = frames(reader)
    job: Job = await anext(orders)
    environ = os.environ if job.environ is None else job.environ
    secrets = secrets_of(asked(job.plan.candidates.values()).values(), environ)
    home = Home(job, outbox, partial(scrub_bytes, secrets=secrets))
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


async def _serve(outbox: Outbox) -> None:
    reader = asyncio.StreamReader(limit=1 << 24)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    try:
        await _work(reader, outbox)
    except (_HomeIsGone, StopAsyncIteration):
        pass
    except Exception as fault:
        outbox.put(broke(fault))


def main() -> None:
    """Serve one run."""
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    outbox = Outbox(pipe)
    with undisturbed():
        asyncio.run(_serve(outbox))
    outbox.close()


if __name__ == "__main__":
    main()
