"""Processes on this machine that share a load test. They read the same clock as home does."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from speedqual.running.load.shards_crew import Lost, Offset
from speedqual.running.load.shards_messages import frames, to_frame

__all__ = ["WORKER", "ProcessMember", "local_processes"]

WORKER = "speedqual.running.load.shards_worker"
_BUFFER = 1 << 22


@dataclass(frozen=True, slots=True)
class ProcessMember:
    """A child process, spoken to through its pipes."""

    name: str
    process: Process
    lead_ns: int = 50_000_000

    async def send(self, message: Any) -> None:
        pipe = self.process.stdin
        assert pipe is not None
        try:
            pipe.write(to_frame(message))
            await pipe.drain()
        except (BrokenPipeError, ConnectionError):
            raise Lost from None

    def messages(self) -> AsyncIterator[Any]:
        assert self.process.stdout is not None
        return frames(self.process.stdout)

    async def offset(self) -> Offset:
        return Offset()

    async def close(self) -> None:
        """End it: it stops when its stdin does, and is killed when that takes too long."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            async with asyncio.timeout(5):
                await self.process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                self.process.kill()
            await self.process.wait()


@asynccontextmanager
async def local_processes(n: int) -> AsyncIterator[list[ProcessMember]]:
    """Start ``n``, end all of them afterwards."""
    members: list[ProcessMember] = []
    try:
        for number in range(1, n + 1):
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", WORKER, stdin=PIPE, stdout=PIPE, limit=_BUFFER, start_new_session=True
            )  # a session of its own: Ctrl-C is home's to handle
            members.append(ProcessMember(f"process {number}", process))
        yield members
    finally:
        await asyncio.gather(*(member.close() for member in members))
