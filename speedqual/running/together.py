"""Several coroutines at once, with errors that come out as themselves."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any

from speedqual.errors import SpeedqualError

__all__ = ["together"]


async def together(works: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run coroutines in one task group. The first fault ends all and comes out as itself."""
    try:
        async with asyncio.TaskGroup() as group:
            for work in works:
                group.create_task(work)
    except BaseExceptionGroup as faults:
        raise _first(faults.subgroup(SpeedqualError) or faults) from faults


def _first(faults: BaseExceptionGroup[BaseException]) -> BaseException:
    fault: BaseException = faults
    while isinstance(fault, BaseExceptionGroup):
        fault = fault.exceptions[0]
    return fault
