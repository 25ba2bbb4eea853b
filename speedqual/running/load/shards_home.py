"""Home, as a process of several that share a load test sees it: where its records go."""

from __future__ import annotations

import queue
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import Any, BinaryIO

from speedqual.errors import SpeedqualError
from speedqual.records import Attempt, Event, Record
from speedqual.running.codec import pack
from speedqual.running.limits import Budget
from speedqual.running.load.shards_messages import Begun, Broke, Job, Kept, to_frame
from speedqual.running.settings import Limits
from speedqual.running.watching import RunEvent, TrialStarted

__all__ = ["PLAY", "Home", "Outbox", "broke", "moved"]

BATCH_S = 0.05
"""Messages wait for so long to leave together."""

PLAY: ContextVar[int] = ContextVar("speedqual_play")


class Outbox:
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
            making = [make for make in batch if make is not None]
            try:
                self._pipe.write(_frame(making) if making else b"")
                self._pipe.flush()
            except OSError:  # home is gone
                return
            time.sleep(BATCH_S)  # few big writes: each wakes home once


def _frame(batch: Sequence[Callable[[], Any]]) -> bytes:
    """Of a batch with a fault in it goes home what there is besides."""
    made: list[Any] = []
    try:
        made += (make() for make in batch)
        return to_frame(*made)
    except Exception as fault:
        return to_frame(*filter(_can_be_sent, made), broke(fault))


def _can_be_sent(message: Any) -> bool:
    try:
        to_frame(message)
    except Exception:
        return False
    return True


def broke(fault: Exception) -> Broke:
    """What goes home of a fault; one that nobody raised on purpose is told here with its whole trace."""
    if isinstance(fault, SpeedqualError):
        return Broke(fault)
    traceback.print_exception(fault)
    return Broke(RuntimeError(f"a process of the load test broke: {type(fault).__name__}: {fault}"))


class Home:
    """Stands in for the run folder and for whoever watches: records and beginnings of trials go home."""

    def __init__(self, job: Job, outbox: Outbox, scrub: Callable[[bytes], bytes]) -> None:
        self.run, self.done, self.n_done = job.run, set[str](), 0
        self.shifts: dict[int, int] = {}  # play → what is added to its stamps
        self.again: set[int] = set()  # plays whose trials another worker was lost with
        self.budget = Budget(Limits())
        self._number, self._outbox, self._scrub = job.session, outbox, scrub

    async def keep(self, record: Record) -> None:
        play, budget = PLAY.get(), self.budget
        if play in self.again:
            record = replace(record, flags=(*record.flags, "sent_again"))
        spent = budget.requests, budget.tokens, budget.usd
        self._outbox.put_later(partial(self._kept, play, record, self.shifts[play], spent))

    def _kept(self, play: int, record: Record, shift_ns: int, spent: tuple[int, int, float]) -> Kept:
        record = moved(record, shift_ns) if shift_ns else record
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
            self._outbox.put(Begun(PLAY.get(), event.trial))


_STAMPS = ("t_send", "t_sched", "t_headers", "t_usage", "t_end", "t_close", "t_begun", "t_checked")


def moved(record: Record, ns: int) -> Record:
    """The record with every stamp ``ns`` later."""
    return replace(record, attempts=tuple(_moved_attempt(one, ns) for one in record.attempts))


def _moved_attempt(attempt: Attempt, ns: int) -> Attempt:
    line = attempt.timeline
    stamps: dict[str, Any] = {name: None if (at := getattr(line, name)) is None else at + ns for name in _STAMPS}
    events = tuple(Event(e.t_ns + ns, e.channel, e.text, e.read, e.n_tokens) for e in line.events)
    return replace(attempt, timeline=replace(line, events=events, **stamps))
