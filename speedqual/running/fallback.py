"""One trial of a route: the fast lane first where the policy says so, the strong one when that does not do.

Every request is an attempt of the record. Flags say whose it was (``lane_fast``, ``lane_strong``), and of a fast reply
that came whole and was turned down ``rejected`` with ``check_`` and the reason.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Protocol

from speedqual.clock import Clock
from speedqual.records import Attempt, Candidate
from speedqual.running.route import Route

__all__ = ["FAST", "STRONG", "AskLane", "Check", "ask_route", "lane_of", "route_flags"]

FAST, STRONG = "lane_fast", "lane_strong"

Check = Callable[[Attempt], Awaitable[str]]
"""The reason to turn a reply down, "" = it passes."""


class AskLane(Protocol):
    """Asks one lane. ``first``: number of its first attempt; ``within_ms``: for the whole reply, and it is not retried.

    No attempts = a limit said no.
    """

    async def __call__(
        self, lane: Candidate, *, first: int = 1, within_ms: float | None = None, retried: bool = True
    ) -> tuple[Attempt, ...]: ...


async def ask_route(route: Route, *, to_fast: bool, ask: AskLane, check: Check, clock: Clock) -> tuple[Attempt, ...]:
    """Every attempt in order; the last one is the reply that the user gets. Empty when a limit said no in between."""
    if not to_fast:
        return _flagged(await ask(route.strong), STRONG)
    t_begun = clock.now_ns()
    tried = _flagged(await ask(route.fast, within_ms=route.policy.deadline_ms, retried=False), FAST)
    if not tried:
        return ()
    first = replace(tried[0], timeline=replace(tried[0].timeline, t_begun=t_begun))
    *before, last = (first, *tried[1:])
    if last.outcome == "ok" and route.policy.check:
        last = await _checked(last, check, clock)
    if last.outcome == "ok" and "rejected" not in last.flags:
        return (*before, last)
    more = await ask(route.strong, first=len(tried) + 1)
    return (*before, last, *_flagged(more, STRONG)) if more else ()


def _flagged(attempts: Sequence[Attempt], *flags: str) -> tuple[Attempt, ...]:
    return tuple(replace(attempt, flags=(*attempt.flags, *flags)) for attempt in attempts)


async def _checked(attempt: Attempt, check: Check, clock: Clock) -> Attempt:
    """The reply was held back for the check: what it took is the route's own time."""
    fault = await check(attempt)
    flags = ("rejected", f"check_{fault}") if fault else ()
    timeline = replace(attempt.timeline, t_checked=clock.now_ns())
    return replace(attempt, timeline=timeline, flags=(*attempt.flags, *flags))


def lane_of(candidate: Candidate, attempt: Attempt) -> Candidate:
    """Who was asked in this attempt: a lane of a route, else the candidate itself."""
    if not isinstance(candidate, Route):
        return candidate
    return candidate.fast if FAST in attempt.flags else candidate.strong


def route_flags(route: Route, attempts: Sequence[Attempt]) -> tuple[str, ...]:
    """Why the strong lane took over, ``fell_back_check``, ``_late`` or ``_failed``, and what the policy assumes."""
    fast = [attempt for attempt in attempts if FAST in attempt.flags]
    assumes = ("assumes_perfect_check",) if fast and route.policy.check and route.policy.perfect else ()
    if not fast or FAST in attempts[-1].flags:
        return assumes
    if "rejected" in fast[-1].flags:
        return ("fell_back_check", *assumes)
    return ("fell_back_late" if fast[-1].outcome == "timeout" else "fell_back_failed", *assumes)
