"""``load_test``: a run whose trials carry scheduled times. Same records, journal, limits, grading as ``evaluate``.

Levels run one after another (``campaign``), each sent by this process (``level``) or by several that share it
(``shards``). What those must agree on is small: ``planned(level, answers)`` is the same list of numbered arrivals
everywhere, a shard is a subset of its numbers, and ``Player`` plays it from an absolute start; records come home to one
journal.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict, Unpack

from speedqual.endpoints.deadlines import Deadlines
from speedqual.endpoints.naming import parse_candidate
from speedqual.endpoints.prices import price_of
from speedqual.evalsets import load
from speedqual.evalsets.hashing import with_hash
from speedqual.records import Candidate, EvalSet, Price
from speedqual.running.asking import Asker
from speedqual.running.layout import Layout
from speedqual.running.load.book import first_page
from speedqual.running.load.campaign import Campaign
from speedqual.running.load.level import Judge
from speedqual.running.load.plan import LoadPlan
from speedqual.running.load.shards_messages import Job
from speedqual.running.load.shards_muster import Hands, mustered
from speedqual.running.load.tally import at_a_glance
from speedqual.running.phase import Sharing
from speedqual.running.plan import Plan, by_name
from speedqual.running.route import asked, with_routes
from speedqual.running.run import Run
from speedqual.running.session import begun_with, prices_of, refuse_unless_fit
from speedqual.running.settings import Limits, Retry, Settings
from speedqual.running.trials import Trials
from speedqual.running.watching import Observer
from speedqual.running.work import Work, check_plan, new_name

__all__ = ["load_test"]


class How(TypedDict, total=False):
    """The settings that ``load_test`` takes as keywords: see ``Settings``. None stands for the default.

    Of ``retry`` that is a single attempt: a request turned away and served later would look like one that was served.
    More attempts keep to Retry-After, each is counted, and ``ttft_user_ms`` runs from the first.
    """

    seed: int
    limits: Limits | None
    retry: Retry | None
    deadlines: Deadlines | None
    preflight: bool
    warm_up: bool


async def load_test(
    candidates: Sequence[Candidate | str],
    plan: LoadPlan,
    *,
    evalsets: Sequence[EvalSet] = (),
    folder: str | Path | None = None,
    resume: bool = False,
    grade: bool = True,
    observers: Sequence[Observer] = (),
    prices: Mapping[str, Price] | None = None,
    environ: Mapping[str, str] | None = None,
    client: Asker | None = None,
    judge: Judge = at_a_glance,
    processes: int = 1,
    dask: str = "",
    **how: Unpack[How],
) -> Run:
    """Send every level of the plan to every candidate, keep all that came back, grade it afterwards, return the run.

    ``evalsets``: those that the plan names; what is not among them is loaded by its name. ``judge``: says whether a
    level holds its SLOs, by which the search for the knee goes. ``resume``: go on with the run in ``folder``: finished
    trials are neither lost nor repeated; the rest of a level that was interrupted is sent on a fresh schedule, as an
    entry of its own in the manifest. ``processes``: so many on this machine share the requests, each with a client of
    its own; ``dask``: the workers of the cluster with this scheduler address do. For the other arguments, and what is
    raised, see ``evaluate``.
    """
    environ = os.environ if environ is None else environ
    hands = Hands(processes, dask, client)
    stated = {"retry": Retry(attempts=1)} | {name: value for name, value in how.items() if value is not None}
    given = Settings(**stated)  # type: ignore[arg-type]
    name = new_name()
    layout = Layout(Path("runs", name) if folder is None else Path(folder))
    settings = begun_with(layout, given) if resume else given
    asked_for = _plan(candidates, plan, evalsets)
    refuse_unless_fit(layout, asked_for, settings, resume=resume)
    check_plan(asked_for, grade=grade)
    found = {name: price_of(one, prices) for name, one in asked(asked_for.candidates.values()).items()}
    over = layout.manifest.exists() and layout.read_manifest()["status"] == "finished"
    left = frozenset[str]() if over else frozenset(asked_for.candidates)
    work = Work(name, layout, asked_for, settings, prices_of(layout, found), environ, left)

    async def phase(trials: Trials, sharing: Sharing) -> None:
        job = Job(trials.session.run, trials.session.number, asked_for, settings, work.prices, None)
        async with mustered(hands, trials, job, environ) as crew:
            await _phase(Campaign(trials, plan, judge, crew))

    return await work.run(phase, client=client, grade=grade, observers=observers)


def _plan(candidates: Sequence[Candidate | str], plan: LoadPlan, evalsets: Sequence[EvalSet]) -> Plan:
    who = with_routes([parse_candidate(one) if isinstance(one, str) else one for one in candidates])
    given = by_name("eval set", [with_hash(one) for one in evalsets])
    what = {name: given[name] if name in given else load(name) for name in plan.sets}
    return Plan((), by_name("candidate", who), what, first_page(plan))


async def _phase(campaign: Campaign) -> None:
    n_known = campaign.n_known()
    campaign.book.expect(n_known)
    async with campaign.trials.open(n_known):
        await campaign.run()
    campaign.close()
