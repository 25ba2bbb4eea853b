"""The evaluator: asks every item of every candidate, keeps all that came back, grades it afterwards."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, TypedDict, Unpack

from speedqual.clock import SystemClock
from speedqual.endpoints.access import scrub_bytes
from speedqual.endpoints.client import Client
from speedqual.endpoints.deadlines import Deadlines
from speedqual.endpoints.naming import parse_candidate
from speedqual.endpoints.prices import price_of
from speedqual.errors import ConfigError, UsageError
from speedqual.evalsets import build_prompt, load
from speedqual.grading.base import grader_for
from speedqual.records import Candidate, EvalSet, Price, Trial
from speedqual.running.asking import Asker
from speedqual.running.codec import key_of
from speedqual.running.judging import grade_run
from speedqual.running.layout import Layout
from speedqual.running.manifest import HIDDEN
from speedqual.running.phase import TimedPhase
from speedqual.running.plan import Estimate, Plan, lanes, make_plan
from speedqual.running.route import Route, asked, known_before, with_routes
from speedqual.running.run import Run
from speedqual.running.secret import secrets_of
from speedqual.running.session import begun_with, opened, prices_of, refuse_unless_fit
from speedqual.running.settings import Limits, Retry, Settings
from speedqual.running.together import together
from speedqual.running.watching import Finished, Graded, Observer, Watchers

__all__ = ["estimate", "evaluate", "run_sync"]


class How(TypedDict, total=False):
    """The settings that ``evaluate`` takes as keywords: see ``Settings``. None stands for the default."""

    repeats: int | None
    seed: int
    concurrency: int | Mapping[str, int]
    limits: Limits | None
    retry: Retry | None
    deadlines: Deadlines | None
    preflight: bool
    warm_up: bool


Candidates = Sequence[Candidate | str]
EvalSets = Sequence[EvalSet | str | Path]


async def evaluate(
    candidates: Candidates,
    evalsets: EvalSets,
    *,
    folder: str | Path | None = None,
    resume: bool = False,
    grade: bool = True,
    observers: Sequence[Observer] = (),
    prices: Mapping[str, Price] | None = None,
    environ: Mapping[str, str] | None = None,
    client: Asker | None = None,
    **how: Unpack[How],
) -> Run:
    """Ask every item of every eval set of every candidate, time the streams, grade the answers, and return the run.

    ``folder``: where the run is kept (default: a new one under ``runs/``). ``resume``: go on with the run in it,
    neither losing nor repeating a finished trial; seed and repeats stay those it was begun with. ``prices`` by name of
    a candidate or model go before the dated snapshot. ``client``: an open client to use. The other keywords are those
    of ``Settings``.

    Cancelled or cut off by a limit, it leaves a folder that can be read and resumed. Raises the EndpointError of the
    first candidate that fails its preflight, before anything is spent; StorageError when the disk gives out.
    """
    environ = os.environ if environ is None else environ
    name = _new_name()
    layout = Layout(Path("runs", name) if folder is None else Path(folder))
    settings = begun_with(layout, _settings(how)) if resume else _settings(how)
    plan = _plan(candidates, evalsets, settings)
    refuse_unless_fit(layout, plan, settings, resume=resume)
    _check(plan, grade=grade)
    work = _Work(name, layout, plan, settings, prices_of(layout, _prices(plan, prices)), environ)
    with Watchers(observers) as watchers:
        try:
            await work.ask(client, watchers)
            if grade:
                await _grade(layout, plan, watchers)
            run = Run.open(layout.folder)
            await asyncio.to_thread(lambda: run.df)
        finally:
            if layout.manifest.exists():
                watchers.tell(_finished(layout.read_manifest()))
    return run


def run_sync(candidates: Candidates, evalsets: EvalSets, **options: Any) -> Run:
    """``evaluate`` for scripts. Inside a running event loop (a notebook) use ``await evaluate(…)`` instead."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(evaluate(candidates, evalsets, **options))
    raise UsageError("an event loop is running already", where="run_sync", fix="Write: run = await evaluate(…)")


def estimate(
    candidates: Candidates, evalsets: EvalSets, *, prices: Mapping[str, Price] | None = None, **how: Unpack[How]
) -> Estimate:
    """What ``evaluate`` with the same arguments would ask and might cost; nothing is sent."""
    plan = _plan(candidates, evalsets, _settings(how))
    return plan.estimate(_prices(plan, prices))


def _settings(how: How) -> Settings:
    given: dict[str, Any] = {name: value for name, value in how.items() if value is not None}
    return Settings(**given)


def _plan(candidates: Candidates, evalsets: EvalSets, settings: Settings) -> Plan:
    who = with_routes([parse_candidate(one) if isinstance(one, str) else one for one in candidates])
    what = [one if isinstance(one, EvalSet) else load(one) for one in evalsets]
    return make_plan(who, what, settings)


def _prices(plan: Plan, overrides: Mapping[str, Price] | None) -> dict[str, Price | None]:
    return {name: price_of(one, overrides) for name, one in asked(plan.candidates.values()).items()}


def _check(plan: Plan, *, grade: bool) -> None:
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


def _new_name() -> str:
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


@asynccontextmanager
async def _client(client: Asker | None, settings: Settings, environ: Mapping[str, str]) -> AsyncIterator[Asker]:
    if client is not None:
        yield client
        return
    async with Client(deadlines=settings.deadlines, environ=environ) as own:
        yield own


@dataclass(frozen=True, slots=True)
class _Work:
    """What one call of ``evaluate`` is about."""

    name: str
    layout: Layout
    plan: Plan
    settings: Settings
    prices: Mapping[str, Price | None]
    environ: Mapping[str, str]

    async def ask(self, client: Asker | None, watchers: Watchers) -> None:
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
                phase = TimedPhase(asker, self.plan, self.settings, self.prices, session, watchers, clock)
                await phase.run(sharing)

    async def _prepare(self, client: Asker, sharing: Mapping[str, tuple[list[str], int]]) -> None:
        """Preflight or warm-up of each endpoint and model once, unrecorded, one at a time on a shared machine."""
        done = {key_of(line) for line in self.layout.lines(self.layout.records)}
        left = {trial.candidate for trial in self.plan.trials if trial.key not in done}

        async def lane(names: Iterable[str]) -> None:
            seen: set[tuple[str, ...]] = set()
            for candidate in asked(self.plan.candidates[name] for name in names if name in left).values():
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
