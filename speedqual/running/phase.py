"""The timed phase: trials are asked, measured and handed to the disk; nothing else runs in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from speedqual.records import Trial
from speedqual.running.together import together
from speedqual.running.trials import Trials

__all__ = ["timed_phase"]

Sharing = Mapping[str, tuple[list[str], int]]
"""Lane → (candidate names, streams in flight): who shares slots."""


async def timed_phase(trials: Trials, sharing: Sharing) -> None:
    """Ask every trial that is not done yet, each lane in the order of the plan, until all is asked or a limit says
    stop."""
    async with trials.open(len(trials.plan.trials)):
        await together(_workers(trials, sharing))


def _workers(trials: Trials, sharing: Sharing) -> Iterator[Any]:
    for names, slots in sharing.values():
        pending = _pending(trials, frozenset(names))
        yield from (_work(trials, pending) for _ in range(slots))


def _pending(trials: Trials, names: frozenset[str]) -> Iterator[Trial]:
    for trial in trials.plan.trials:
        if trial.candidate in names and trial.key not in trials.session.done:
            yield trial


async def _work(trials: Trials, pending: Iterator[Trial]) -> None:
    for trial in pending:
        if not trials.budget.may_start():
            return
        await trials.ask(trial)
