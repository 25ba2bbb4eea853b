"""The workers of a Dask cluster as members of a crew.

On each runs one task for as long as the run lasts: it starts the process that sends, so that no client shares an
interpreter with Dask, hands its messages to the scheduler's event log, and home hears them from there. Orders come
straight to the worker. Workers must have this very version of speedqual, and the keys in their own environment.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import pickle
import secrets
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from speedqual.errors import MissingDependencyError, UnreachableError
from speedqual.running.load.shards_crew import Lost, Offset
from speedqual.running.load.shards_messages import read_frame, to_frame
from speedqual.running.load.shards_processes import WORKER

__all__ = ["DaskMember", "dask_workers"]

CONNECT_S = 10.0
START_S = 60.0
"""How long a worker may take to import speedqual and start the process that sends."""
TRIPS, TRIPS_MOST, GOOD_NS = 12, 60, 1_000_000
"""Round trips by which a clock is measured: so many, and up to so many more until one is that quick."""
LOOK_S = 0.5
"""How often home looks whether all workers are still there."""

_BEGUN, _ENDED = b"begun", b"ended"  # no pickle looks like that

_children: dict[str, subprocess.Popen[bytes]] = {}
"""On a worker: topic → the process that sends."""


def _carry(topic: str, name: str) -> None:
    """On a worker: start the process and carry its messages to home until it ends."""
    from distributed import get_worker

    worker = get_worker()
    child = subprocess.Popen(
        [sys.executable, "-m", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    _children[topic] = child
    worker.log_event(topic, (name, _BEGUN))
    assert child.stdin is not None and child.stdout is not None
    try:
        while frame := read_frame(child.stdout):
            worker.log_event(topic, (name, frame))
    finally:
        del _children[topic]
        child.stdin.close()
        child.wait()
        worker.log_event(topic, (name, _ENDED))


def _order(topic: str, frame: bytes) -> None:
    """On a worker: hand an order to the process. An empty one ends it."""
    child = _children.get(topic)
    if child is None or child.stdin is None:
        return
    if frame:
        child.stdin.write(frame)
        child.stdin.flush()
    else:
        child.stdin.close()


@dataclass(eq=False)
class DaskMember:
    """One worker. ``client`` is home's connection to the cluster."""

    name: str
    client: Any
    topic: str
    inbox: asyncio.Queue[bytes | None] = field(default_factory=asyncio.Queue)
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    lead_ns: int = 500_000_000

    async def send(self, message: Any) -> None:
        await self._run(_order, self.topic, to_frame(message))

    async def close(self) -> None:
        with contextlib.suppress(Lost):
            await self._run(_order, self.topic, b"")

    async def messages(self) -> AsyncIterator[Any]:
        while (frame := await self.inbox.get()) is not None:
            for message in pickle.loads(frame):
                yield message

    async def offset(self) -> Offset:
        """The middle of the quickest of some round trips, ± half of it."""
        trips: list[tuple[int, int]] = []
        while len(trips) < TRIPS or (len(trips) < TRIPS_MOST and min(trips)[0] > GOOD_NS):
            trips.append(await self._trip())
        took_ns, ns = min(trips)
        return Offset(ns, (took_ns + 1) // 2, len(trips))

    async def _trip(self) -> tuple[int, int]:
        before_ns = time.perf_counter_ns()
        there_ns = await self._run(time.perf_counter_ns)
        after_ns = time.perf_counter_ns()
        return after_ns - before_ns, there_ns - (before_ns + after_ns) // 2

    async def _run(self, work: Any, *arguments: Any) -> Any:
        """Call a function on the worker, outside of its tasks. Raises Lost; Dask itself waits 30 s for a dead one."""
        call = asyncio.ensure_future(self.client.run(work, *arguments, workers=[self.name]))
        gone = asyncio.ensure_future(self.gone.wait())
        await asyncio.wait([call, gone], return_when=asyncio.FIRST_COMPLETED)
        gone.cancel()
        if not call.done():
            call.cancel()
            raise Lost
        try:
            return call.result()[self.name]
        except (OSError, ValueError, KeyError, TimeoutError):
            raise Lost from None

    def lose(self) -> None:
        """It will say nothing more."""
        self.gone.set()
        self.inbox.put_nowait(None)


@asynccontextmanager
async def dask_workers(address: str) -> AsyncIterator[Sequence[DaskMember]]:
    """All workers that the cluster has now; those that join later are added to the list once they can take orders.

    Raises UnreachableError when it cannot be reached or has none.
    """
    try:
        from distributed import Client
    except ImportError:
        fix = "Install the extra: pip install 'speedqual[dask]'"
        raise MissingDependencyError("Dask is not installed", fix=fix) from None
    with _quiet():
        client: Any = Client(address, asynchronous=True, timeout=CONNECT_S, set_as_default=False)  # type: ignore[no-untyped-call]
        try:
            await client
        except (OSError, TimeoutError, ValueError):
            fix = "Start one: dask scheduler; dask worker …"
            raise UnreachableError("no Dask scheduler answers", where=address, fix=fix) from None
        async with client, _Cluster(client).open(address) as members:
            yield members


@dataclass(eq=False)
class _Cluster:
    """Who works there, from home's point of view."""

    client: Any
    topic: str = field(default_factory=lambda: f"speedqual-{secrets.token_hex(8)}")
    hired: dict[str, DaskMember] = field(default_factory=dict)
    at_work: list[DaskMember] = field(default_factory=list)
    tasks: list[Any] = field(default_factory=list)

    @asynccontextmanager
    async def open(self, address: str) -> AsyncIterator[Sequence[DaskMember]]:
        names = await self._names()
        if not names:
            raise UnreachableError("the Dask cluster has no workers", where=address, fix="Start some: dask worker …")
        self.client.subscribe_topic(self.topic, self._hear)
        for name in names:
            self._hire(name)
        watch = asyncio.create_task(self._watch())
        try:
            await self._all_at_work()
            yield self.at_work
        finally:
            watch.cancel()
            await asyncio.gather(*(member.close() for member in self.hired.values()), watch, return_exceptions=True)
            await self.client.cancel(self.tasks, force=True)
            self.client.unsubscribe_topic(self.topic)

    async def _names(self) -> list[str]:
        return list((await self.client.scheduler.identity())["workers"])

    def _hire(self, name: str) -> None:
        self.hired[name] = DaskMember(name, self.client, self.topic)
        how = {"workers": [name], "allow_other_workers": False, "pure": False, "retries": 0}
        self.tasks.append(self.client.submit(_carry, self.topic, name, **how))

    def _hear(self, event: tuple[float, tuple[str, bytes]]) -> None:
        name, frame = event[1]
        if frame == _BEGUN:
            self.at_work.append(self.hired[name])
        elif frame == _ENDED:
            self.hired[name].lose()
        else:
            self.hired[name].inbox.put_nowait(frame)

    async def _all_at_work(self) -> None:
        """Return when every task has started its process. Raises UnreachableError for one that cannot."""
        try:
            async with asyncio.timeout(START_S):
                while len(self.at_work) < len(self.tasks):
                    broken = next((task for task in self.tasks if task.status == "error"), None)
                    if broken is not None:
                        fault = await broken.exception()
                        fix = "Install this version of speedqual where the workers run"
                        raise UnreachableError(f"a Dask worker cannot begin ({type(fault).__name__}: {fault})", fix=fix)
                    await asyncio.sleep(0.05)
        except TimeoutError:
            fix = "See whether its workers are busy with other tasks"
            raise UnreachableError("the Dask workers do not begin", fix=fix) from None

    async def _watch(self) -> None:
        """Tell the members whose workers are gone, and hire those that joined: Dask replaces a worker that died."""
        while True:
            await asyncio.sleep(LOOK_S)
            there = await self._names()
            for name, member in self.hired.items():
                if name not in there and not member.gone.is_set():
                    member.lose()
            for name in there:
                if name not in self.hired:
                    self._hire(name)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Dask's own log of lost connections is no news here: the manifest says who was lost."""
    log = logging.getLogger("distributed")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)
