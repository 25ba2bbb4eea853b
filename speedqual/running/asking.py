"""One trial: attempts until one succeeds or no more may be made, each kept on its own."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any, Protocol

from speedqual.clock import Clock
from speedqual.endpoints.deadlines import Deadlines
from speedqual.endpoints.slot import Slot, Until
from speedqual.records import Attempt, Candidate, Prompt, Trial
from speedqual.running.settings import Retry

__all__ = ["Asker", "ask_until_done", "retry_wait_s", "tier_flags"]

STALE_AGAIN = 2
"""Connections that died while idle are no fault of a trial: this many are replaced without counting as a retry."""


class Asker(Protocol):
    """The part of a client that a run needs; tests bring their own."""

    async def ask(
        self,
        candidate: Candidate,
        prompt: Prompt,
        *,
        number: int = 1,
        slot: Slot | None = None,
        deadlines: Deadlines | None = None,
    ) -> Attempt: ...

    async def check(self, candidate: Candidate) -> Attempt: ...

    async def warm_up(self, candidate: Candidate) -> Attempt: ...


async def ask_until_done(
    client: Asker,
    candidate: Candidate,
    prompt: Prompt,
    trial: Trial,
    *,
    retry: Retry,
    seed: int,
    clock: Clock,
    may_request: Callable[[], bool],
    deadlines: Deadlines | None = None,
    first: int = 1,
    slot: Slot | None = None,
) -> tuple[Attempt, ...]:
    """Every attempt in order, faults of the endpoint being outcomes.

    ``first``: the number of the first attempt. ``slot``: an attempt that is not over by its end is cut off as a
    timeout, and no other begins later. Empty when ``may_request`` says no before the trial has come to its end: it is
    then no finished trial.
    """
    attempts: list[Attempt] = []
    stale = 0
    wanted: dict[str, Any] = {} if slot is None else {"slot": slot}
    while True:
        if not may_request():
            return ()
        attempt = await client.ask(candidate, prompt, number=first + len(attempts), deadlines=deadlines, **wanted)
        attempts.append(attempt)
        if "stale_connection" in attempt.flags and stale < STALE_AGAIN:
            stale += 1
            continue
        wait_s = retry_wait_s(attempt, trial, retry, seed, counted=len(attempts) - stale)
        if wait_s is None:
            return tuple(attempts)
        again_ns = clock.now_ns() + int(wait_s * 1e9)
        if not await _waited(clock, again_ns, Until() if slot is None or slot.until is None else slot.until):
            return tuple(attempts)


async def _waited(clock: Clock, again_ns: int, until: Until) -> bool:
    """False as soon as the end is known to come first."""
    waiting = asyncio.ensure_future(clock.sleep_until(again_ns))

    def moved() -> None:
        if until.before(again_ns):
            waiting.cancel()

    until.follow(moved)
    moved()
    try:
        await asyncio.wait([waiting])
    finally:
        until.leave(moved)
        waiting.cancel()
    return not waiting.cancelled()


def retry_wait_s(attempt: Attempt, trial: Trial, retry: Retry, seed: int, *, counted: int) -> float | None:
    """Seconds to wait after the ``counted``-th attempt; None = this was the last one."""
    if attempt.outcome == "ok" or not attempt.retryable or counted >= retry.attempts:
        return None
    if attempt.retry_after_s is not None:
        return attempt.retry_after_s if attempt.retry_after_s <= retry.longest_s else None
    draw = random.Random(f"{seed}/{trial.key}/{counted}").random()
    return float(min(retry.longest_s, retry.base_s * 2 ** (counted - 1)) * (1 + retry.jitter * draw))


_SAME_TIER = {"standard_only": "standard", "default": "standard", "on_demand": "standard"}


def tier_flags(candidate: Candidate, attempt: Attempt) -> tuple[str, ...]:
    """``other_tier``: the reply says that it was served on another tier than asked; ``tier_unknown``: it is silent."""
    asked = candidate.tier.lower()
    if not asked or asked == "auto" or attempt.outcome != "ok":
        return ()
    if attempt.served_tier is None:
        return ("tier_unknown",)
    served = attempt.served_tier.lower()
    return () if _SAME_TIER.get(served, served) == _SAME_TIER.get(asked, asked) else ("other_tier",)
