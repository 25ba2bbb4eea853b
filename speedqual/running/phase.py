"""The timed phase: trials are asked, measured and handed to the disk; nothing else runs in it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from speedqual.clock import Clock
from speedqual.endpoints.deadlines import Deadlines
from speedqual.evalsets import build_prompt
from speedqual.records import Attempt, Candidate, EvalSet, Item, Price, Record, Trial
from speedqual.running.asking import Asker, ask_until_done, tier_flags
from speedqual.running.fallback import ask_route, lane_of, route_flags
from speedqual.running.limits import Budget, spent
from speedqual.running.plan import Plan, approx_tokens
from speedqual.running.route import Route, known_before
from speedqual.running.route_metrics import measure_route
from speedqual.running.session import Session
from speedqual.running.settings import Settings
from speedqual.running.structure import Checks
from speedqual.running.together import together
from speedqual.running.watching import Started, TrialFinished, TrialStarted, Watchers
from speedqual.timing import measure

__all__ = ["TimedPhase"]


class TimedPhase:
    """Every trial that is not done yet, each lane in the order of the plan."""

    def __init__(
        self,
        client: Asker,
        plan: Plan,
        settings: Settings,
        prices: Mapping[str, Price | None],
        session: Session,
        watchers: Watchers,
        clock: Clock,
    ) -> None:
        self._client, self._plan, self._settings, self._prices = client, plan, settings, prices
        self._session, self._watchers, self._clock = session, watchers, clock
        self._budget, self._checks = Budget(settings.limits), Checks()
        self._deadlines = {name: _within(settings.deadlines, evalset) for name, evalset in plan.evalsets.items()}
        self._items: dict[str, dict[str, Item]] = {
            name: {item.id: item for item in evalset.items} for name, evalset in plan.evalsets.items()
        }

    async def run(self, sharing: Mapping[str, tuple[list[str], int]]) -> None:
        """Ask until everything is asked or a limit says stop."""
        session = self._session
        self._watchers.tell(
            Started(
                run=session.run,
                folder=session.layout.name,
                n_trials=len(self._plan.trials),
                n_done=session.n_done,
                candidates=tuple(self._plan.candidates),
                evalsets=tuple(self._plan.evalsets),
            )
        )
        n_before = session.n_done
        wall_s = self._settings.limits.wall_s
        try:
            with _quick_turns():
                async with asyncio.timeout(wall_s) as wall:
                    await together(self._workers(sharing))
        except TimeoutError:
            if not wall.expired():  # somebody else's
                raise
            self._budget.stopped_by = f"the limit of {wall_s:g} s"
        finally:
            health = getattr(self._client, "health", None)
            asked = session.n_done > n_before  # a session that asked nobody was not the limit of anything
            session.client = health().to_dict() if asked and health is not None else {}
        session.status = "stopped" if self._budget.stopped_by else "finished"
        session.why = self._budget.stopped_by

    def _workers(self, sharing: Mapping[str, tuple[list[str], int]]) -> Iterator[Any]:
        for names, slots in sharing.values():
            pending = self._pending(frozenset(names))
            yield from (self._work(pending) for _ in range(slots))

    def _pending(self, names: frozenset[str]) -> Iterator[Trial]:
        for trial in self._plan.trials:
            if trial.candidate in names and trial.key not in self._session.done:
                yield trial

    async def _work(self, pending: Iterator[Trial]) -> None:
        for trial in pending:
            if not self._budget.may_start():
                return
            await self._trial(trial)

    async def _trial(self, trial: Trial) -> None:
        candidate = self._plan.candidates[trial.candidate]
        evalset, item = self._plan.evalsets[trial.evalset], self._items[trial.evalset][trial.item]
        self._watchers.tell(TrialStarted(trial=trial))
        if isinstance(candidate, Route):
            attempts = await self._route(candidate, trial, evalset, item)
        else:
            attempts = await self._ask(trial, candidate, evalset, item)
        if not attempts:
            self._budget.finish(0, 0.0)
            return
        record = self._record(trial, candidate, attempts)
        self._budget.finish(*self._spent(candidate, attempts, evalset, item))
        await self._session.keep(record)
        last = record.last
        self._watchers.tell(
            TrialFinished(trial=trial, outcome=last.outcome, metrics=record.metrics, flags=record.flags)
        )

    async def _ask(
        self,
        trial: Trial,
        who: Candidate,
        evalset: EvalSet,
        item: Item,
        *,
        first: int = 1,
        within_ms: float | None = None,
        retried: bool = True,
    ) -> tuple[Attempt, ...]:
        return await ask_until_done(
            self._client,
            who,
            build_prompt(evalset, item, who),
            trial,
            retry=self._settings.retry if retried else replace(self._settings.retry, attempts=1),
            seed=self._settings.seed,
            clock=self._clock,
            may_request=self._budget.may_request,
            deadlines=_no_later(self._deadlines[evalset.name], within_ms),
            first=first,
        )

    async def _route(self, route: Route, trial: Trial, evalset: EvalSet, item: Item) -> tuple[Attempt, ...]:
        async def ask(lane: Candidate, **how: Any) -> tuple[Attempt, ...]:
            return await self._ask(trial, lane, evalset, item, **how)

        async def check(attempt: Attempt) -> str:
            return await self._checks.fault(attempt, item, evalset, perfect=route.policy.perfect)

        to_fast = route.policy.goes_fast(known_before(evalset, item))
        return await ask_route(route, to_fast=to_fast, ask=ask, check=check, clock=self._clock)

    def _record(self, trial: Trial, candidate: Candidate, attempts: tuple[Attempt, ...]) -> Record:
        if isinstance(candidate, Route):
            measured, more = measure_route(candidate, attempts, self._prices), route_flags(candidate, attempts)
        else:
            measured, more = measure(attempts, price=self._prices[candidate.name]), ()
        return Record(
            trial=trial,
            attempts=attempts,
            metrics=measured.metrics,
            missing=measured.missing,
            flags=(*measured.flags, *more, *tier_flags(lane_of(candidate, attempts[-1]), attempts[-1])),
        )

    def _spent(
        self, candidate: Candidate, attempts: Iterable[Attempt], evalset: EvalSet, item: Item
    ) -> tuple[int, float]:
        """Tokens and USD of a trial as its limits count them."""
        tokens, usd = 0, 0.0
        for attempt in attempts:
            who = lane_of(candidate, attempt)
            prompt_tokens = partial(_prompt_tokens, evalset, item, who)
            more_tokens, more_usd = spent(attempt, prompt_tokens, self._prices[who.name])
            tokens, usd = tokens + more_tokens, usd + more_usd
        return tokens, usd


def _within(deadlines: Deadlines, evalset: EvalSet) -> Deadlines:
    """The deadlines of one answer: no later than the eval set allows."""
    if evalset.timeout_s is None:
        return deadlines
    return replace(deadlines, total_s=min(deadlines.total_s, evalset.timeout_s))


def _no_later(deadlines: Deadlines, within_ms: float | None) -> Deadlines:
    return deadlines if within_ms is None else replace(deadlines, total_s=min(deadlines.total_s, within_ms / 1000))


@contextmanager
def _quick_turns() -> Iterator[None]:
    """Let the event loop have the interpreter back from the journal's thread after 0.5 ms instead of 5."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.0005)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def _prompt_tokens(evalset: EvalSet, item: Item, who: Candidate) -> int:
    return approx_tokens(build_prompt(evalset, item, who))
