"""Who sends the requests of a load test: this process, several on this machine, or the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace

from speedqual.errors import UsageError
from speedqual.running.asking import Asker
from speedqual.running.load.shards_crew import Crew, CrewClient, Member
from speedqual.running.load.shards_messages import Job
from speedqual.running.trials import Trials

__all__ = ["Hands", "mustered"]


class Hands:
    """``processes`` on this machine, or ``dask``: the address of a scheduler, all of whose workers take part."""

    def __init__(self, processes: int = 1, dask: str = "", client: Asker | None = None) -> None:
        if processes < 1:
            raise UsageError(f"processes is {processes}", where="load test", fix="Give at least 1")
        if processes > 1 and dask:
            fix = "Start as many workers as there should be processes"
            raise UsageError("processes and dask are both given", where="load test", fix=fix)
        self.processes, self.dask = processes, dask
        self.shared = processes > 1 or bool(dask)
        if self.shared and client is not None:
            fix = "Leave one of them out"
            raise UsageError("a client of your own cannot be shared by processes", where="load test", fix=fix)

    def members(self) -> AbstractAsyncContextManager[Sequence[Member]]:
        """Those who send, started; ended with the context."""
        if self.dask:
            from speedqual.running.load.dask_workers import dask_workers

            return dask_workers(self.dask)
        from speedqual.running.load.shards_processes import local_processes

        return local_processes(self.processes)


@asynccontextmanager
async def mustered(hands: Hands, trials: Trials, job: Job, environ: Mapping[str, str]) -> AsyncIterator[Crew | None]:
    """The crew, ready to play; None where this process sends.

    Keys go to processes on this machine alone: elsewhere each worker takes those of its own environment.
    """
    if not hands.shared:
        yield None
        return
    async with hands.members() as members:
        crew = Crew(members)
        try:
            await crew.start(replace(job, environ=None if hands.dask else dict(environ)))
            trials.client = CrewClient(trials.client, crew)
            yield crew
        finally:
            await crew.close()
