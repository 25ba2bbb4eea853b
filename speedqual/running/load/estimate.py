"""What a load test would send and might cost, before anything is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from speedqual.records import Candidate, EvalSet, Plain, Price
from speedqual.running.load.level import n_planned
from speedqual.running.load.levels import Level
from speedqual.running.load.plan import LoadPlan
from speedqual.running.load.questions import Questions
from speedqual.running.plan import CandidateEstimate, approx_tokens, estimated

__all__ = ["LoadEstimate", "estimate_load"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadEstimate(Plain):
    """A row a candidate, over the levels whose number of requests is known: prompt tokens by rule of thumb (the growing
    context of conversations is not in them), output by its limits, of a route all to its first lane.

    ``open_ended``: the levels that send as many as replies allow. ``bounded``: every prompt has a limit of output.
    """

    rows: tuple[CandidateEstimate, ...]
    open_ended: tuple[str, ...]
    bounded: bool


def estimate_load(
    candidates: Sequence[Candidate],
    plan: LoadPlan,
    evalsets: Sequence[EvalSet],
    prices: Mapping[str, Price | None],
) -> LoadEstimate:
    """Requests, tokens and money of the levels of a plan; a search for the knee is not in it."""
    sets = {evalset.name: evalset for evalset in evalsets}
    rows = tuple(_row(one, plan, sets, prices.get(one.name)) for one in candidates)
    open_ended = [level.name for level in plan.levels if n_planned(level) is None]
    return LoadEstimate(rows=rows, open_ended=tuple(open_ended), bounded=all(row.bounded for row in rows))


def _row(candidate: Candidate, plan: LoadPlan, sets: Mapping[str, EvalSet], price: Price | None) -> CandidateEstimate:
    requests = read = written = 0
    bounded = True
    for level in plan.levels:
        n = n_planned(level)
        if n is None or (level.candidates and candidate.name not in level.candidates):
            continue
        prompt, limit = _per_request(candidate, level, sets)
        requests, read, written = requests + n, read + round(n * prompt), written + round(n * (limit or 0))
        bounded = bounded and limit is not None
    return estimated(candidate.name, requests, read, written, price, bounded=bounded)


def _per_request(candidate: Candidate, level: Level, sets: Mapping[str, EvalSet]) -> tuple[float, float | None]:
    """Mean tokens of a prompt, and of the longest reply; None = without a limit."""
    questions = Questions(level, candidate, sets, "estimate")
    n = len(level.items) or len(sets[level.evalset].items)
    prompts = [next(iter(questions.request(number).prompts.values())) for number in range(n)]
    limits = [prompt.max_tokens for prompt in prompts]
    mean = sum(map(approx_tokens, prompts)) / n
    return mean, None if None in limits else sum(limit or 0 for limit in limits) / n
