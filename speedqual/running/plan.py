"""What will be asked, in which order, and what it may cost."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from speedqual.endpoints.access import base_url_of, is_loopback
from speedqual.endpoints.registry import endpoint
from speedqual.errors import UsageError
from speedqual.evalsets import build_prompt
from speedqual.records import Candidate, EvalSet, Message, Plain, Price, Prompt, Trial, Usage
from speedqual.running.settings import Settings
from speedqual.timing.cost import usage_cost_usd

__all__ = ["CandidateEstimate", "Estimate", "Plan", "approx_tokens", "lanes", "machine_of", "make_plan"]

IMAGE_TOKENS = 800

Named = TypeVar("Named", Candidate, EvalSet)


@dataclass(frozen=True, slots=True)
class Plan:
    """Every trial of a run in order, and the candidates and eval sets they name."""

    trials: tuple[Trial, ...]
    candidates: Mapping[str, Candidate]
    evalsets: Mapping[str, EvalSet]

    def prompts(self) -> Iterator[tuple[Trial, Prompt]]:
        """The prompt of each trial."""
        items = {name: {item.id: item for item in evalset.items} for name, evalset in self.evalsets.items()}
        for trial in self.trials:
            evalset = self.evalsets[trial.evalset]
            yield trial, build_prompt(evalset, items[trial.evalset][trial.item], self.candidates[trial.candidate])

    def estimate(self, prices: Mapping[str, Price | None]) -> Estimate:
        """Requests, tokens and money before anything is spent. ``prices`` by candidate name."""
        requests, read, written = Counter[str](), Counter[str](), Counter[str]()
        unbounded = False
        for trial, prompt in self.prompts():
            requests[trial.candidate] += 1
            read[trial.candidate] += approx_tokens(prompt)
            written[trial.candidate] += prompt.max_tokens or 0
            unbounded = unbounded or prompt.max_tokens is None
        rows = (_row(name, requests[name], read[name], written[name], prices.get(name)) for name in self.candidates)
        return Estimate(rows=tuple(rows), bounded=not unbounded)


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateEstimate(Plain):
    """One candidate's share. ``output_tokens``: the most that the token limits allow; ``usd``: None = price unknown."""

    candidate: str
    requests: int
    prompt_tokens: int
    output_tokens: int
    usd: float | None


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


def _row(name: str, requests: int, prompt: int, output: int, price: Price | None) -> CandidateEstimate:
    usd = usage_cost_usd(Usage(n_prompt=prompt, n_out=output), price) if price is not None else None
    return CandidateEstimate(
        candidate=name,
        requests=requests,
        prompt_tokens=prompt,
        output_tokens=output,
        usd=usd if isinstance(usd, float) else None,
    )


def approx_tokens(prompt: Prompt) -> int:
    """About how many tokens a prompt holds: 4 ASCII or 1.25 other characters a token, 4 a message, 800 an image."""
    return sum(4 + _message_tokens(message) for message in prompt.messages)


def _message_tokens(message: Message) -> int:
    if isinstance(message.content, str):
        return _text_tokens(message.content)
    return sum(_text_tokens(str(part.get("text", ""))) if "text" in part else IMAGE_TOKENS for part in message.content)


def _text_tokens(text: str) -> int:
    n_ascii = len(text.encode("ascii", "ignore"))
    return round(n_ascii / 4 + (len(text) - n_ascii) * 0.8)


def make_plan(candidates: Sequence[Candidate], evalsets: Sequence[EvalSet], settings: Settings) -> Plan:
    """Every item to every candidate, repeated; shuffled by the seed in blocks of one item over all candidates.

    So a machine that slows down in mid-run slows all candidates alike. The same arguments give the same order.
    """
    by_name = _by_name("candidate", candidates)
    sets = _by_name("eval set", evalsets)
    if not by_name or not sets or not all(evalset.items for evalset in evalsets):
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
        block = list(by_name)
        rng.shuffle(block)
        trials += [Trial(candidate=name, evalset=evalset_name, item=item_id, repeat=repeat) for name in block]
    return Plan(tuple(trials), by_name, sets)


def _by_name(kind: str, things: Sequence[Named]) -> dict[str, Named]:
    found: dict[str, Named] = {}
    for thing in things:
        if thing.name in found:
            raise UsageError(f"two {kind}s are named {thing.name!r}", fix="Give each a name of its own")
        found[thing.name] = thing
    return found


def lanes(plan: Plan, settings: Settings, environ: Mapping[str, str]) -> dict[str, tuple[list[str], int]]:
    """Who shares slots: lane name → (candidate names, streams in flight)."""
    found: dict[str, tuple[list[str], int]] = {}
    for name, candidate in plan.candidates.items():
        slots = settings.slots(name)
        group = machine_of(candidate, environ)
        lane = f"group {group}" if slots == 1 and group else f"candidate {name}"
        found.setdefault(lane, ([], slots))[0].append(name)
    return found


def machine_of(candidate: Candidate, environ: Mapping[str, str]) -> str:
    """The machine that a candidate is known to share with others: its group, or this one for a loopback address."""
    if candidate.group:
        return candidate.group
    url = base_url_of(candidate, endpoint(candidate.endpoint), environ)
    return "this machine" if is_loopback(url) else ""
