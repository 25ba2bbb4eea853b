"""Several coroutines at once, with errors that come out as themselves."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any

from speedqual.errors import SpeedqualError

__all__ = ["together"]


async def together(works: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run coroutines in one task group; a fault of ours comes out as itself, not inside a group."""
    try:
        async with asyncio.TaskGroup() as group:
            for work in works:
                group.create_task(work)
    except BaseExceptionGroup as faults:
        ours, others = faults.split(SpeedqualError)
        if ours is None or others is not None:
            raise
        raise _first(ours) from None


def _first(faults: BaseExceptionGroup[SpeedqualError]) -> SpeedqualError:
    fault: BaseException = faults
    while isinstance(fault, BaseExceptionGroup):
        fault = fault.exceptions[0]
    return fault  # type: ignore[return-value]
