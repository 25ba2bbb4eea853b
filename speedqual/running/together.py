"""Several coroutines at once, with errors that come out as themselves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any

from speedqual.errors import SpeedqualError

__all__ = ["task_group", "together"]


async def together(works: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run coroutines in one task group."""
    async with task_group() as group:
        for work in works:
            group.create_task(work)


@asynccontextmanager
async def task_group() -> AsyncIterator[asyncio.TaskGroup]:
    """A task group whose first fault ends all and comes out as itself."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as faults:
        raise _first(faults.subgroup(SpeedqualError) or faults) from faults


def _first(faults: BaseExceptionGroup[BaseException]) -> BaseException:
    fault: BaseException = faults
    while isinstance(fault, BaseExceptionGroup):
        fault = fault.exceptions[0]
    return fault
