"""The evaluator: asks every item of every candidate, keeps all that came back, grades it afterwards."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

from speedqual.endpoints.deadlines import Deadlines
from speedqual.endpoints.naming import parse_candidate
from speedqual.endpoints.prices import price_of
from speedqual.errors import UsageError
from speedqual.evalsets import load
from speedqual.records import Candidate, EvalSet, Price
from speedqual.running.asking import Asker
from speedqual.running.codec import key_of
from speedqual.running.layout import Layout
from speedqual.running.own_grader import with_grader
from speedqual.running.phase import timed_phase
from speedqual.running.plan import Estimate, Plan, make_plan
from speedqual.running.route import asked, with_routes
from speedqual.running.run import Run
from speedqual.running.session import begun_with, prices_of, refuse_unless_fit
from speedqual.running.settings import Limits, Retry, Settings
from speedqual.running.watching import Observer
from speedqual.running.work import Work, check_plan, new_name

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
    grader: Callable[..., Any] | None = None,
    **how: Unpack[How],
) -> Run:
    """Ask every item of every eval set of every candidate, time the streams, grade the answers, and return the run.

    ``folder``: where the run is kept (default: a new one under ``runs/``). ``resume``: go on with the run in it,
    neither losing nor repeating a finished trial; seed and repeats stay those it was begun with. ``prices`` by name of
    a candidate or model go before the dated snapshot. ``client``: an open client to use. ``grader``: a plain function
    that judges all answers in place of the sets' own graders, such as one of a notebook cell. The other keywords are
    those of ``Settings``.

    Cancelled or cut off by a limit, it leaves a folder that can be read and resumed. Raises the EndpointError of the
    first candidate that fails its preflight, before anything is spent; StorageError when the disk gives out.
    """
    environ = os.environ if environ is None else environ
    name = new_name()
    layout = Layout(Path("runs", name) if folder is None else Path(folder))
    settings = begun_with(layout, _settings(how)) if resume else _settings(how)
    plan = _plan(candidates, evalsets, settings, grader)
    refuse_unless_fit(layout, plan, settings, resume=resume)
    check_plan(plan, grade=grade)
    done = {key_of(line) for line in layout.lines(layout.records)}
    left = frozenset(trial.candidate for trial in plan.trials if trial.key not in done)
    work = Work(name, layout, plan, settings, prices_of(layout, _prices(plan, prices)), environ, left)
    return await work.run(timed_phase, client=client, grade=grade, observers=observers)


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


def _plan(
    candidates: Candidates, evalsets: EvalSets, settings: Settings, grader: Callable[..., Any] | None = None
) -> Plan:
    who = with_routes([parse_candidate(one) if isinstance(one, str) else one for one in candidates])
    what = [one if isinstance(one, EvalSet) else load(one) for one in evalsets]
    what = [with_grader(one, grader) for one in what] if grader is not None else what
    return make_plan(who, what, settings)


def _prices(plan: Plan, overrides: Mapping[str, Price] | None) -> dict[str, Price | None]:
    return {name: price_of(one, overrides) for name, one in asked(plan.candidates.values()).items()}
