"""What home and the processes that share a load test say to each other: frozen records, pickled, each in a frame.

Both ends are the same program, started by the same user; nothing else is ever read as such a frame.
"""

from __future__ import annotations

import asyncio
import pickle
import struct
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import IO, Any, NamedTuple

from speedqual.endpoints.transport.lag import ClientHealth
from speedqual.records import Attempt, Outcome, Price, Record, Timeline, Trial
from speedqual.running.codec import Packed
from speedqual.running.load.levels import Level
from speedqual.running.load.loops import Answers, Shard
from speedqual.running.load.playing import Schedule
from speedqual.running.plan import Plan
from speedqual.running.settings import Settings

__all__ = [
    "Begun",
    "Broke",
    "Go",
    "Halt",
    "Job",
    "Kept",
    "Played",
    "Prepare",
    "Prepared",
    "Ready",
    "frames",
    "read_frame",
    "to_frame",
]

_LENGTH = struct.Struct(">Q")


@dataclass(frozen=True, slots=True)
class Job:
    """Home to worker, once: what the run is about. ``environ`` None: the worker's own."""

    run: str
    session: int
    plan: Plan
    settings: Settings
    prices: Mapping[str, Price | None]
    environ: Mapping[str, str] | None


@dataclass(frozen=True, slots=True)
class Prepare:
    """Home to worker: make everything for a shard of a level ready. ``again``: another worker was lost with it."""

    play: int
    level: Level
    candidate: str
    schedule: Schedule
    answers: Answers
    shard: Shard
    again: bool


@dataclass(frozen=True, slots=True)
class Go:
    """Home to worker: send it. ``shift_ns`` is added to the stamps of its records, which so are on home's clock."""

    play: int
    run_start_ns: int
    start_ns: int
    end_ns: int | None
    by_ns: int | None
    drain_s: float
    shift_ns: int = 0

    def on_clock(self, offset_ns: int) -> Go:
        """The same instants on a clock that is ``offset_ns`` ahead."""
        return Go(
            self.play,
            self.run_start_ns + offset_ns,
            self.start_ns + offset_ns,
            None if self.end_ns is None else self.end_ns + offset_ns,
            None if self.by_ns is None else self.by_ns + offset_ns,
            self.drain_s,
            -offset_ns,
        )


@dataclass(frozen=True, slots=True)
class Halt:
    """Home to worker: send no more, for this reason."""

    kind: str
    why: str


@dataclass(frozen=True, slots=True)
class Ready:
    """Worker to home: the job is understood, the client is open."""

    version: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """Worker to home: ready to go."""

    play: int


@dataclass(frozen=True, slots=True)
class Begun:
    """Worker to home: a trial's first request is about to be sent."""

    play: int
    trial: Trial


class Kept(NamedTuple):
    """Worker to home: a finished trial, packed for the journal, what home looks at of it, and what this worker has
    spent so far. A plain tuple: there is one for every request."""

    play: int
    key: str
    outcome: Outcome
    status: int | None
    text: str
    served_model: str | None
    t_sched: int | None
    t_send: int | None
    metrics: Mapping[str, float | int | str | None]
    flags: tuple[str, ...]
    packed: Packed
    spent: tuple[int, int, float]  # requests, tokens, USD

    def record(self, trial: Trial) -> Record:
        """The record as far as home needs it: no events, and one attempt, sent as the first and ended as the last."""
        attempt = Attempt(
            number=1,
            outcome=self.outcome,
            timeline=Timeline(t_send=self.t_send, t_sched=self.t_sched),
            status=self.status,
            text=self.text,
            served_model=self.served_model,
        )
        return Record(trial=trial, attempts=(attempt,), metrics=self.metrics, flags=self.flags)


@dataclass(frozen=True, slots=True)
class Played:
    """Worker to home: all is sent and drained. ``over_ns``: the end of the arrivals, on home's clock; ``level`` and
    ``client``: what this process did to the figures, of the level and so far."""

    play: int
    over_ns: int
    level: Mapping[str, Any]
    client: ClientHealth


@dataclass(frozen=True, slots=True)
class Broke:
    """Worker to home: a fault that ends the run."""

    fault: BaseException


def to_frame(*messages: Any) -> bytes:
    """Length and pickle. What goes together is cheaper: the names of its classes are looked up once."""
    data = pickle.dumps(messages, pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(data)) + data


def read_frame(pipe: IO[bytes]) -> bytes:
    """The next messages as their pickle; empty at the end."""
    head = pipe.read(_LENGTH.size)
    return pipe.read(_LENGTH.unpack(head)[0]) if len(head) == _LENGTH.size else b""


async def frames(reader: asyncio.StreamReader) -> AsyncIterator[Any]:
    """Message after message, until the other end is gone."""
    try:
        while True:
            (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
            for message in pickle.loads(await reader.readexactly(length)):
                yield message
    except (asyncio.IncompleteReadError, ConnectionError):
        return
