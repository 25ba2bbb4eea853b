"""One trial: attempts until one succeeds or no more may be made, each kept on its own."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Protocol

from speedqual.clock import Clock
from speedqual.endpoints.deadlines import Deadlines
from speedqual.records import Attempt, Candidate, Prompt, Trial
from speedqual.running.settings import Retry

__all__ = ["Asker", "ask_until_done", "retry_wait_s", "tier_flags"]

STALE_AGAIN = 2
"""Connections that died while idle are no fault of a trial: this many are replaced without counting as a retry."""


class Asker(Protocol):
    """The part of a client that a run needs; tests bring their own."""

    async def ask(
        self, candidate: Candidate, prompt: Prompt, *, number: int = 1, deadlines: Deadlines | None = None
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
) -> tuple[Attempt, ...]:
    """Every attempt in order, faults of the endpoint being outcomes.

    ``first``: the number of the first attempt. Empty when ``may_request`` says no before the trial has come to its end:
    it is then no finished trial.
    """
    attempts: list[Attempt] = []
    stale = 0
    while True:
        if not may_request():
            return ()
        attempt = await client.ask(candidate, prompt, number=first + len(attempts), deadlines=deadlines)
        attempts.append(attempt)
        if "stale_connection" in attempt.flags and stale < STALE_AGAIN:
            stale += 1
            continue
        wait_s = retry_wait_s(attempt, trial, retry, seed, counted=len(attempts) - stale)
        if wait_s is None:
            return tuple(attempts)
        await clock.sleep_until(clock.now_ns() + int(wait_s * 1e9))


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
