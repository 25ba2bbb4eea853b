"""The processes that share a load test, as home sees them: each a member that takes orders and sends messages."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

import speedqual
from speedqual.endpoints.transport.lag import ClientHealth
from speedqual.errors import RefusedError, UnreachableError
from speedqual.records import Attempt, Candidate, Prompt
from speedqual.running.asking import Asker
from speedqual.running.load.shards_messages import Broke, Halt, Job, Played, Ready

__all__ = ["Crew", "CrewClient", "Lost", "Member", "Offset"]

READY_S = 60.0


@dataclass(frozen=True, slots=True)
class Offset:
    """A worker's clock minus home's, from the quickest of ``n`` round trips: ``ns`` ± ``half_width_ns``."""

    ns: int = 0
    half_width_ns: int = 0
    n: int = 0

    def agrees(self, other: Offset) -> bool:
        """Whether one offset can explain both: if not, the clocks have drifted."""
        return abs(self.ns - other.ns) <= self.half_width_ns + other.half_width_ns


class Lost(Exception):
    """A member is gone in the middle of its work."""


class Member(Protocol):
    """One process elsewhere. ``lead_ns``: how long an order takes to get there at most."""

    @property
    def name(self) -> str: ...

    @property
    def lead_ns(self) -> int: ...

    async def send(self, message: Any) -> None:
        """Give an order. Raises Lost when the member is gone."""
        ...

    def messages(self) -> AsyncIterator[Any]:
        """What it says, until it is gone."""
        ...

    async def offset(self) -> Offset:
        """How its clock stands to home's, measured now."""
        ...


class Crew:
    """All members of one run. ``start`` and ``close`` it; a level's shards are played through ``open_play``.

    ``members`` may grow: ``welcome`` takes in who has joined. What the members are and how their clocks stand goes to
    ``workers``, for the manifest.
    """

    def __init__(self, members: Sequence[Member]) -> None:
        self._members = members
        self._job: Job | None = None
        self.alive: list[Member] = []
        self.workers: dict[str, dict[str, Any]] = {}
        self.health: dict[str, ClientHealth] = {}
        self.spent: dict[str, tuple[int, int, float]] = {}  # requests, tokens, USD of each member so far
        self._offsets: dict[str, Offset] = {}
        self._inboxes: dict[int, tuple[Member, asyncio.Queue[Any]]] = {}
        self._numbers = itertools.count()
        self._readers: list[asyncio.Task[None]] = []
        self._ready: dict[str, asyncio.Future[Ready]] = {}

    async def start(self, job: Job) -> None:
        """Tell everybody what the run is about, and wait until all clients are open."""
        self._job = job
        try:
            async with asyncio.timeout(READY_S):
                await asyncio.gather(*(self._begin(member, job) for member in self._newcomers()))
        except (TimeoutError, Lost):
            fix = "See what it printed; speedqual must be installed where it runs"
            raise UnreachableError("a process of the load test did not start", where="load test", fix=fix) from None

    async def welcome(self) -> None:
        """Take in those who have joined since; one who cannot begin is left out."""
        assert self._job is not None
        begin = (asyncio.wait_for(self._begin(member, self._job), READY_S) for member in self._newcomers())
        await asyncio.gather(*begin, return_exceptions=True)

    def _newcomers(self) -> list[Member]:
        new = [member for member in self._members if member.name not in self.workers]
        for member in new:
            self.workers[member.name] = {"name": member.name, "lost": False}
            self._ready[member.name] = asyncio.get_running_loop().create_future()
            self._readers.append(asyncio.create_task(self._read(member)))
        return new

    async def _begin(self, member: Member, job: Job) -> None:
        await member.send(job)
        ready = await self._ready[member.name]
        if ready.version != speedqual.__version__:
            raise RefusedError(
                f"it runs speedqual {ready.version}, and this is {speedqual.__version__}",
                where=f"worker {member.name}",
                fix="Install the same version everywhere",
            )
        self.alive.append(member)

    def open_play(self, member: Member) -> tuple[int, asyncio.Queue[Any]]:
        """A number for a shard that the member plays, and where its messages arrive; the last one is ``Lost`` where it
        is gone."""
        number, inbox = next(self._numbers), asyncio.Queue[Any]()
        self._inboxes[number] = member, inbox
        if member not in self.alive:
            inbox.put_nowait(Lost())
        return number, inbox

    def close_play(self, number: int) -> None:
        """Nothing more is awaited of it; what still comes is dropped."""
        self._inboxes.pop(number, None)

    def pick(self, k: int) -> Member:
        """Who plays shard ``k``. Raises UnreachableError when nobody is left."""
        if not self.alive:
            fix = "Start workers again and resume the run; all that was finished is kept"
            raise UnreachableError("every process of the load test is gone", where="load test", fix=fix)
        return self.alive[k % len(self.alive)]

    async def halt(self, kind: str, why: str) -> None:
        """Nobody sends any more."""
        for member in tuple(self.alive):
            with suppress(Lost):
                await member.send(Halt(kind, why))

    async def note_offset(self, member: Member) -> Offset:
        """How its clock stands: measured anew, and the narrower of that and the one known where both may be true."""
        found, known = await member.offset(), self._offsets.get(member.name)
        if known is not None and known.agrees(found) and known.half_width_ns <= found.half_width_ns:
            found = known
        self._offsets[member.name] = found
        told = {"offset_ms": found.ns / 1e6, "half_width_ms": found.half_width_ns / 1e6, "round_trips": found.n}
        self.workers[member.name] |= told
        return found

    async def close(self) -> None:
        """Stop reading."""
        for reader in self._readers:
            reader.cancel()
        await asyncio.gather(*self._readers, return_exceptions=True)

    async def _read(self, member: Member) -> None:
        try:
            async for message in member.messages():
                self._hear(member, message)
        finally:
            self._lose(member)

    def _hear(self, member: Member, message: Any) -> None:
        if isinstance(message, Ready):
            self._ready[member.name].set_result(message)
        elif isinstance(message, Broke):
            for _, inbox in self._of(member):
                inbox.put_nowait(message.fault)
            if not self._ready[member.name].done():
                self._ready[member.name].set_exception(message.fault)
        else:
            if isinstance(message, Played):
                self.health[member.name] = message.client
            found = self._inboxes.get(message.play)
            if found is not None:
                found[1].put_nowait(message)

    def _lose(self, member: Member) -> None:
        self.alive = [one for one in self.alive if one is not member]
        self.workers[member.name]["lost"] = True
        for _, inbox in self._of(member):
            inbox.put_nowait(Lost())
        ready = self._ready[member.name]
        if not ready.done():
            ready.set_exception(Lost())

    def _of(self, member: Member) -> list[tuple[Member, asyncio.Queue[Any]]]:
        return [entry for entry in self._inboxes.values() if entry[0] is member]


class CrewClient:
    """Home's own client for small requests; its health is that of the processes that sent the load."""

    def __init__(self, client: Asker, crew: Crew) -> None:
        self._client, self._crew = client, crew
        if rest := getattr(client, "rest", None):
            rest()

    async def ask(self, candidate: Candidate, prompt: Prompt, **how: Any) -> Attempt:
        return await self._client.ask(candidate, prompt, **how)

    async def check(self, candidate: Candidate) -> Attempt:
        return await self._client.check(candidate)

    async def warm_up(self, candidate: Candidate) -> Attempt:
        return await self._client.warm_up(candidate)

    def health(self) -> ClientHealth:
        return _worst(self._crew.health)


_FIGURES = (
    "loop_lag_ms_p50", "loop_lag_ms_p99", "loop_lag_ms_max", "cpu_share", "merged_share", "queued_to_sent_ms_p50",
    "queued_to_sent_ms_p99", "kernel_to_read_ms_p50", "kernel_to_read_ms_p99",
)  # fmt: skip


def _worst(health: Mapping[str, ClientHealth]) -> ClientHealth:
    """The worst of each figure over all processes, sums of counts."""
    each = [one.to_dict() for one in health.values()]
    limited = next(((name, one.why) for name, one in health.items() if one.limited), None)

    def summed(figure: str) -> dict[str, int]:
        return dict(sum((Counter(one[figure]) for one in each), Counter[str]()))

    worst: dict[str, Any] = {
        name: max((one[name] for one in each if one[name] is not None), default=None) for name in _FIGURES
    }
    return ClientHealth(
        requests=sum(one["requests"] for one in each),
        stamps=summed("stamps"),
        connections=summed("connections"),
        trust_env=any(one["trust_env"] for one in each),
        limited=limited is not None,
        why="" if limited is None else f"{limited[0]}: {limited[1]}",
        **worst,
    )
