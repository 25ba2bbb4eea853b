"""Single trials: asked until done, measured, paid from the budget, handed to the disk, told to whoever watches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from speedqual.clock import Clock
from speedqual.endpoints.deadlines import Deadlines
from speedqual.endpoints.slot import Slot
from speedqual.evalsets import build_prompt
from speedqual.records import Attempt, Candidate, EvalSet, Item, Price, Prompt, Record, Trial
from speedqual.running.asking import Asker, ask_until_done, tier_flags
from speedqual.running.fallback import ask_route, lane_of, route_flags
from speedqual.running.limits import Budget, spent
from speedqual.running.plan import Plan, approx_tokens
from speedqual.running.route import Route, known_before
from speedqual.running.route_metrics import measure_route
from speedqual.running.session import Session
from speedqual.running.settings import Settings
from speedqual.running.undisturbed import undisturbed
from speedqual.running.watching import Started, TrialFinished, TrialStarted, Watchers
from speedqual.timing import measure

if TYPE_CHECKING:
    from speedqual.running.structure import Checks

__all__ = ["Trials"]


class Trials:
    """What the asking of one run shares: client, budget, journal, watchers, clock."""

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
        self.client, self.plan, self.settings, self.session = client, plan, settings, session
        self.watchers, self.clock = watchers, clock
        self.budget = Budget(settings.limits)
        self._prices = prices
        self._deadlines = {name: _within(settings.deadlines, evalset) for name, evalset in plan.evalsets.items()}
        self._items: dict[str, dict[str, Item]] = {
            name: {item.id: item for item in evalset.items} for name, evalset in plan.evalsets.items()
        }

    @cached_property
    def _checks(self) -> Checks:
        """Only routes need them, and with them the graders."""
        from speedqual.running.structure import Checks

        return Checks()

    @asynccontextmanager
    async def open(self, n_trials: int) -> AsyncIterator[None]:
        """Around all asking: says that it begins, keeps the limit of time, notes how it ended and the client's health.

        ``n_trials``: how many are planned, done ones included.
        """
        session, limits = self.session, self.settings.limits
        n_before = session.n_done
        self._tell_started(n_trials)
        try:
            with undisturbed():
                async with asyncio.timeout(limits.wall_s) as wall:
                    yield
        except TimeoutError:
            if not wall.expired():  # somebody else's
                raise
            self.budget.stopped_by = f"the limit of {limits.wall_s:g} s"
        finally:
            health = getattr(self.client, "health", None)
            asked = session.n_done > n_before  # a session that asked nobody was not the limit of anything
            session.client = health().to_dict() if asked and health is not None else {}
        session.status = "stopped" if self.budget.stopped_by else "finished"
        session.why = self.budget.stopped_by

    def _tell_started(self, n_trials: int) -> None:
        session, plan = self.session, self.plan
        self.watchers.tell(
            Started(
                run=session.run,
                folder=session.layout.name,
                n_trials=n_trials,
                n_done=session.n_done,
                candidates=tuple(plan.candidates),
                evalsets=tuple(plan.evalsets),
                limits=self.settings.limits,
            )
        )

    async def ask(
        self,
        trial: Trial,
        prompts: Mapping[str, Prompt] | None = None,
        slot: Slot | None = None,
    ) -> Record | None:
        """Ask one trial that the budget has let start, and keep it; None when a limit ended it before its time.

        ``prompts`` by name of who is asked, where they are not simply those of the eval set. ``slot``: its place in a
        load test's time; that its reply is over is told early only where nothing else can follow from the reply.
        """
        candidate = self.plan.candidates[trial.candidate]
        question = _Question(
            trial,
            self.plan.evalsets[trial.evalset],
            self._items[trial.evalset][trial.item],
            prompts,
            self._told(slot, candidate),
        )
        self.watchers.tell(TrialStarted(trial=trial))
        if isinstance(candidate, Route):
            attempts = await self._route(candidate, question)
        else:
            attempts = await self._ask(candidate, question)
        if not attempts:
            self.budget.finish(0, 0.0)
            return None
        record = self._record(trial, candidate, attempts)
        self.budget.finish(*self._spent(candidate, attempts, question))
        await self.session.keep(record)
        told = TrialFinished(trial=trial, outcome=record.last.outcome, metrics=record.metrics, flags=record.flags)
        self.watchers.tell(told)
        return record

    def _told(self, slot: Slot | None, candidate: Candidate) -> Slot | None:
        one_shot = self.settings.retry.attempts == 1 and not isinstance(candidate, Route)
        return slot if slot is None or one_shot else replace(slot, over=None)

    async def _ask(
        self,
        who: Candidate,
        question: _Question,
        *,
        first: int = 1,
        within_ms: float | None = None,
        retried: bool = True,
    ) -> tuple[Attempt, ...]:
        return await ask_until_done(
            self.client,
            who,
            question.prompt(who),
            question.trial,
            retry=self.settings.retry if retried else replace(self.settings.retry, attempts=1),
            seed=self.settings.seed,
            clock=self.clock,
            may_request=self.budget.may_request,
            deadlines=_no_later(self._deadlines[question.evalset.name], within_ms),
            first=first,
            slot=question.slot,
        )

    async def _route(self, route: Route, question: _Question) -> tuple[Attempt, ...]:
        async def ask(lane: Candidate, **how: Any) -> tuple[Attempt, ...]:
            return await self._ask(lane, question, **how)

        async def check(attempt: Attempt) -> str:
            return await self._checks.fault(attempt, question.item, question.evalset, perfect=route.policy.perfect)

        to_fast = route.policy.goes_fast(known_before(question.evalset, question.item))
        return await ask_route(route, to_fast=to_fast, ask=ask, check=check, clock=self.clock)

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

    def _spent(self, candidate: Candidate, attempts: Iterable[Attempt], question: _Question) -> tuple[int, float]:
        """Tokens and USD of a trial as its limits count them."""
        tokens, usd = 0, 0.0
        for attempt in attempts:
            who = lane_of(candidate, attempt)
            more_tokens, more_usd = spent(attempt, partial(question.prompt_tokens, who), self._prices[who.name])
            tokens, usd = tokens + more_tokens, usd + more_usd
        return tokens, usd


class _Question:
    """A trial with all that is needed to ask it."""

    def __init__(
        self,
        trial: Trial,
        evalset: EvalSet,
        item: Item,
        prompts: Mapping[str, Prompt] | None,
        slot: Slot | None,
    ) -> None:
        self.trial, self.evalset, self.item = trial, evalset, item
        self.slot, self._prompts = slot, prompts

    def prompt(self, who: Candidate) -> Prompt:
        return build_prompt(self.evalset, self.item, who) if self._prompts is None else self._prompts[who.name]

    def prompt_tokens(self, who: Candidate) -> int:
        return approx_tokens(self.prompt(who))


def _within(deadlines: Deadlines, evalset: EvalSet) -> Deadlines:
    """The deadlines of one answer: no later than the eval set allows."""
    if evalset.timeout_s is None:
        return deadlines
    return replace(deadlines, total_s=min(deadlines.total_s, evalset.timeout_s))


def _no_later(deadlines: Deadlines, within_ms: float | None) -> Deadlines:
    return deadlines if within_ms is None else replace(deadlines, total_s=min(deadlines.total_s, within_ms / 1000))
