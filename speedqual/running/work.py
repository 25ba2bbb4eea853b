"""What every kind of run does around its asking: checks beforehand, the client, the folder, grading afterwards."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from threading import Event
from typing import Any

from speedqual.clock import SystemClock
from speedqual.endpoints.access import scrub_bytes
from speedqual.endpoints.client import Client
from speedqual.errors import ConfigError, UsageError
from speedqual.evalsets import build_prompt
from speedqual.grading.base import grader_for
from speedqual.records import Price, Trial
from speedqual.running.asking import Asker
from speedqual.running.judging import grade_run
from speedqual.running.layout import Layout
from speedqual.running.manifest import HIDDEN
from speedqual.running.phase import Sharing
from speedqual.running.plan import Plan, lanes
from speedqual.running.route import Route, asked, known_before
from speedqual.running.run import Run
from speedqual.running.secret import secrets_of
from speedqual.running.session import opened
from speedqual.running.settings import Limits, Settings
from speedqual.running.together import together
from speedqual.running.trials import Trials
from speedqual.running.watching import Finished, Graded, Observer, Watchers

__all__ = ["Phase", "Work", "check_plan", "new_name"]

Phase = Callable[[Trials, Sharing], Awaitable[None]]
"""The asking itself, with everything open."""


def new_name() -> str:
    """A name for a run that nobody named: when it began, and a few hex digits."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def check_plan(plan: Plan, *, grade: bool) -> None:
    """What would only break in mid-run breaks here: examples that a set lacks, a grader, headers that were not kept."""
    for candidate in asked(plan.candidates.values()).values():
        if HIDDEN in candidate.headers.values():
            raise ConfigError(
                "its headers are not kept in the run folder",
                where=f"candidate {candidate.name!r}",
                fix="Give the candidate again, from code or the settings file",
            )
        for evalset in plan.evalsets.values():
            build_prompt(evalset, evalset.items[0], candidate)
    for evalset in plan.evalsets.values():
        if grade:
            grader_for(evalset)
    for candidate in plan.candidates.values():
        if isinstance(candidate, Route):
            _check_column(candidate, plan)


def _check_column(route: Route, plan: Plan) -> None:
    """A column that no item has would send nothing to the fast lane, unsaid."""
    column = route.policy.column
    for evalset in plan.evalsets.values():
        if column and not any(known_before(evalset, item).get(column) for item in evalset.items):
            raise ConfigError(
                f"the policy chooses by {column!r}, and no item of {evalset.name} has that",
                where=f"candidate {route.name!r}",
                fix="Make the policy from a run of this eval set",
            )


def _check_money(limits: Limits, prices: Mapping[str, Price | None]) -> None:
    unknown = [name for name, price in prices.items() if price is None]
    if limits.usd is not None and unknown:
        raise UsageError(
            f"a limit in USD cannot be kept: the price of {', '.join(unknown)} is unknown",
            where="limits.usd",
            fix="Give prices, or limit requests or tokens",
        )


@asynccontextmanager
async def _client(client: Asker | None, settings: Settings, environ: Mapping[str, str]) -> AsyncIterator[Asker]:
    if client is not None:
        yield client
        return
    async with Client(deadlines=settings.deadlines, environ=environ) as own:
        yield own


@dataclass(frozen=True, slots=True)
class Work:
    """What one call is about. ``left``: the candidates that still have to be asked."""

    name: str
    layout: Layout
    plan: Plan
    settings: Settings
    prices: Mapping[str, Price | None]
    environ: Mapping[str, str]
    left: frozenset[str]

    async def run(
        self, phase: Phase, *, client: Asker | None = None, grade: bool = True, observers: Sequence[Observer] = ()
    ) -> Run:
        """Ask, grade, and return the run; whatever happens, observers hear how it ended."""
        with Watchers(observers) as watchers:
            try:
                await self._ask(phase, client, watchers)
                if grade:
                    await _grade(self.layout, self.plan, watchers)
                run = Run.open(self.layout.folder)
                await asyncio.to_thread(lambda: run.df)
            finally:
                if self.layout.manifest.exists():
                    watchers.tell(_finished(self.layout.read_manifest()))
        return run

    async def _ask(self, phase: Phase, client: Asker | None, watchers: Watchers) -> None:
        """Open client and folder, make sure that every endpoint answers, then ask everything that is not done."""
        _check_money(self.settings.limits, self.prices)
        scrub = partial(scrub_bytes, secrets=secrets_of(asked(self.plan.candidates.values()).values(), self.environ))
        clock = SystemClock()
        sharing = lanes(self.plan, self.settings, self.environ)
        async with _client(client, self.settings, self.environ) as asker:
            await self._prepare(asker, sharing)
            if isinstance(asker, Client):
                asker.settle()
            with opened(self.layout, self.name, self.plan, self.settings, self.prices, clock, scrub) as session:
                trials = Trials(asker, self.plan, self.settings, self.prices, session, watchers, clock)
                await phase(trials, sharing)

    async def _prepare(self, client: Asker, sharing: Sharing) -> None:
        """Preflight or warm-up of each endpoint and model once, unrecorded, one at a time on a shared machine."""

        async def lane(names: Iterable[str]) -> None:
            seen: set[tuple[str, ...]] = set()
            for candidate in asked(self.plan.candidates[name] for name in names if name in self.left).values():
                same = (candidate.endpoint, candidate.base_url, candidate.model, candidate.api_key_env, candidate.tier)
                if same in seen:
                    continue
                seen.add(same)
                if self.settings.preflight:
                    await client.check(candidate)
                elif self.settings.warm_up:
                    await client.warm_up(candidate)

        await together(lane(names) for names, _ in sharing.values())


async def _grade(layout: Layout, plan: Plan, watchers: Watchers) -> None:
    """Grade what has no grade yet, in a thread; the folder is locked while its grades grow."""

    def told(trial: Trial, grade: Any, n: int, of: int) -> None:
        watchers.tell(Graded(trial=trial, grade=grade, n_graded=n, n_to_grade=of))

    def work() -> None:
        with layout.locked():
            done = set(Run.open(layout.folder).grades)
            grade_run(layout, list(plan.evalsets.values()), done, told, stop)

    stop = Event()
    try:
        await asyncio.to_thread(work)
    finally:
        stop.set()  # the thread outlives a cancelled wait for it


def _finished(manifest: Mapping[str, Any]) -> Finished:
    return Finished(
        run=manifest["run"],
        status=manifest["status"],
        why=manifest["why"],
        n_trials=manifest["n_trials"],
        n_done=manifest.get("n_done", 0),
    )
