"""What will be asked, in which order, and what it may cost."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from speedqual.endpoints.access import base_url_of, is_loopback
from speedqual.endpoints.registry import endpoint
from speedqual.errors import UsageError
from speedqual.evalsets import build_prompt
from speedqual.evalsets.hashing import with_hash
from speedqual.evalsets.tokens import text_tokens
from speedqual.records import Candidate, EvalSet, Message, Plain, Price, Prompt, Trial, Usage
from speedqual.running.route import asked, asked_by, asked_of
from speedqual.running.settings import Settings
from speedqual.timing.cost import usage_cost_usd

__all__ = [
    "CandidateEstimate",
    "Estimate",
    "Plan",
    "approx_tokens",
    "by_name",
    "estimated",
    "lanes",
    "machine_of",
    "make_plan",
]

IMAGE_TOKENS = 800

Named = TypeVar("Named", Candidate, EvalSet)


@dataclass(frozen=True, slots=True)
class Plan:
    """Every trial of a run in order, and the candidates and eval sets they name.

    ``load``: of a load test, which makes its trials as it goes, what the manifest keeps of its plan.
    """

    trials: tuple[Trial, ...]
    candidates: Mapping[str, Candidate]
    evalsets: Mapping[str, EvalSet]
    load: Mapping[str, Any] | None = None

    def prompts(self) -> Iterator[tuple[Trial, Candidate, Prompt]]:
        """Each trial, who may be asked it (a route: both its lanes), and the prompt of that one."""
        items = {name: {item.id: item for item in evalset.items} for name, evalset in self.evalsets.items()}
        for trial in self.trials:
            evalset = self.evalsets[trial.evalset]
            item = items[trial.evalset][trial.item]
            for one in asked_of(self.candidates[trial.candidate], evalset, item):
                yield trial, one, build_prompt(evalset, item, one)

    def estimate(self, prices: Mapping[str, Price | None]) -> Estimate:
        """Requests, tokens and money before anything is spent. ``prices`` by name of who is asked."""
        requests, read, written = Counter[_Payer](), Counter[_Payer](), Counter[_Payer]()
        endless = set[_Payer]()
        for trial, one, prompt in self.prompts():
            payer = trial.candidate, one.name
            requests[payer] += 1
            read[payer] += approx_tokens(prompt)
            written[payer] += prompt.max_tokens or 0
            if prompt.max_tokens is None:
                endless.add(payer)
        rows = {
            payer: estimated(
                payer[0], n, read[payer], written[payer], prices.get(payer[1]), bounded=payer not in endless
            )
            for payer, n in requests.items()
        }
        each = (_summed(name, [row for row in rows.values() if row.candidate == name]) for name in self.candidates)
        return Estimate(rows=tuple(each), bounded=not endless)


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateEstimate(Plain):
    """One candidate's share. ``output_tokens``: the most that the token limits allow (``bounded`` false: some requests
    have none, and are not in it); ``usd``: None = price unknown.

    Of a route: all that its lanes would get if it always had to fall back.
    """

    candidate: str
    requests: int
    prompt_tokens: int
    output_tokens: int
    usd: float | None
    bounded: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate(Plain):
    """What a run would ask: prompt tokens by rule of thumb, output by its limits (``bounded``: each prompt has one)."""

    rows: tuple[CandidateEstimate, ...]
    bounded: bool

    @property
    def requests(self) -> int:
        return sum(row.requests for row in self.rows)

    @property
    def tokens(self) -> int:
        return sum(row.prompt_tokens + row.output_tokens for row in self.rows)

    @property
    def usd(self) -> float | None:
        """An upper bound; None as soon as one price is unknown or one output unbounded."""
        if not self.bounded or any(row.usd is None for row in self.rows):
            return None
        return sum(row.usd or 0.0 for row in self.rows)


_Payer = tuple[str, str]
"""A candidate's name, and the name of the one who is asked for it: the same, but for a route."""


def _summed(name: str, rows: Sequence[CandidateEstimate]) -> CandidateEstimate:
    known = all(row.usd is not None for row in rows)
    return CandidateEstimate(
        candidate=name,
        requests=sum(row.requests for row in rows),
        prompt_tokens=sum(row.prompt_tokens for row in rows),
        output_tokens=sum(row.output_tokens for row in rows),
        usd=sum(row.usd or 0.0 for row in rows) if known else None,
        bounded=all(row.bounded for row in rows),
    )


def estimated(
    name: str, requests: int, prompt: int, output: int, price: Price | None, *, bounded: bool = True
) -> CandidateEstimate:
    """What so many requests of so many tokens cost at a price."""
    usd = usage_cost_usd(Usage(n_prompt=prompt, n_out=output), price) if price is not None else None
    return CandidateEstimate(
        candidate=name,
        requests=requests,
        prompt_tokens=prompt,
        output_tokens=output,
        usd=usd if isinstance(usd, float) else None,
        bounded=bounded,
    )


def approx_tokens(prompt: Prompt) -> int:
    """About how many tokens a prompt holds: 4 ASCII or 1.25 other characters a token, 4 a message, 800 an image."""
    return sum(4 + _message_tokens(message) for message in prompt.messages)


def _message_tokens(message: Message) -> int:
    if isinstance(message.content, str):
        return text_tokens(message.content)
    return sum(text_tokens(str(part.get("text", ""))) if "text" in part else IMAGE_TOKENS for part in message.content)


def make_plan(candidates: Sequence[Candidate], evalsets: Sequence[EvalSet], settings: Settings) -> Plan:
    """Every item to every candidate, repeated; shuffled by the seed in blocks of one item over all candidates.

    So a machine that slows down in mid-run slows all candidates alike. The same arguments give the same order.
    """
    who = by_name("candidate", candidates)
    asked(candidates)  # a lane must not be named like another candidate
    sets = by_name("eval set", [with_hash(one) for one in evalsets])
    if not who or not sets or not all(evalset.items for evalset in evalsets):
        raise UsageError("nothing to ask", fix="Give at least one candidate, and eval sets that have items")
    rng = random.Random(settings.seed)
    questions = [
        (repeat, evalset.name, item.id)
        for evalset in evalsets
        for repeat in range(settings.repeats or evalset.repeats)
        for item in evalset.items
    ]
    rng.shuffle(questions)
    questions.sort(key=lambda question: question[0])  # a whole repeat before the next; the shuffle stays inside
    trials: list[Trial] = []
    for repeat, evalset_name, item_id in questions:
        block = list(who)
        rng.shuffle(block)
        trials += [Trial(candidate=name, evalset=evalset_name, item=item_id, repeat=repeat) for name in block]
    return Plan(tuple(trials), who, sets)


def by_name(kind: str, things: Sequence[Named]) -> dict[str, Named]:
    """The things by their names. Raises UsageError when two have the same."""
    found: dict[str, Named] = {}
    for thing in things:
        if thing.name in found:
            raise UsageError(f"two {kind}s are named {thing.name!r}", fix="Give each a name of its own")
        found[thing.name] = thing
    return found


def lanes(plan: Plan, settings: Settings, environ: Mapping[str, str]) -> dict[str, tuple[list[str], int]]:
    """Who shares slots: lane name → (candidate names, streams in flight).

    A route is on the machines of both its lanes: where these are two, they share one slot.
    """
    shared: list[tuple[set[str], list[str]]] = []
    found: dict[str, tuple[list[str], int]] = {}
    for name, candidate in plan.candidates.items():
        slots = settings.slots(name)
        machines = {machine_of(one, environ) for one in asked_by(candidate)} - {""} if slots == 1 else set[str]()
        if not machines:
            found[f"candidate {name}"] = ([name], slots)
            continue
        mine = [lane for lane in shared if lane[0] & machines]
        shared = [lane for lane in shared if lane not in mine]
        names = [other for _, others in mine for other in others]
        shared.append((machines.union(*(held for held, _ in mine)), [*names, name]))
    return {f"group {' + '.join(sorted(machines))}": (names, 1) for machines, names in shared} | found


def machine_of(candidate: Candidate, environ: Mapping[str, str]) -> str:
    """The machine that a candidate is known to share with others: its group, or this one for a loopback address."""
    if candidate.group:
        return candidate.group
    url = base_url_of(candidate, endpoint(candidate.endpoint), environ)
    return "this machine" if is_loopback(url) else ""
