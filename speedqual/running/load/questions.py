"""The questions of a level: which item its n-th request asks, and the prompt that is sent for it."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest

from speedqual.errors import UsageError
from speedqual.evalsets import build_prompt
from speedqual.evalsets.generators.unique import made_unique
from speedqual.records import Candidate, EvalSet, Item, Message, Place, Prompt, Trial
from speedqual.running.load.levels import Level
from speedqual.running.plan import approx_tokens
from speedqual.running.route import asked_by

__all__ = ["Context", "Questions", "Request"]

FEW = 4  # items of one length that a trace takes in turn

Context = Mapping[str, tuple[Message, ...]]
"""The conversation so far by the name of who is asked; empty before the first turn."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request ready to be sent: its trial, and its prompt by the name of who is asked."""

    trial: Trial
    prompts: Mapping[str, Prompt]

    def answered(self, text: str) -> Context:
        """What the next turn stands on: everything that was sent, and the reply."""
        reply = Message("assistant", text)
        return {name: (*prompt.messages, reply) for name, prompt in self.prompts.items()}


class Questions:
    """The requests of one level to one candidate, by number; prompts are built once, before anything is sent.

    The items come in an order drawn from the level's seed (as they are where the level says so) and start again when
    all were asked. ``run`` names the run: with it the first words of unique prompts differ from those of every other.
    """

    def __init__(self, level: Level, candidate: Candidate, evalsets: Mapping[str, EvalSet], run: str) -> None:
        self._level, self._run = level, run
        self._candidate, self._asked = candidate.name, asked_by(candidate)
        self._items = {name: _in_order(level, evalsets[name]) for name in level.sets}
        self._prompts = {
            (name, item.id, who.name): build_prompt(evalsets[name], item, who)
            for name, items in self._items.items()
            for item in items
            for who in self._asked
        }
        self._nearest: dict[tuple[str, int], Sequence[Item]] = {}

    def request(
        self,
        number: int,
        *,
        traffic: str = "",
        session: str = "",
        turn: int = 0,
        t_sched_ns: int | None = None,
        n_tokens: int | None = None,
        max_tokens: int | None = None,
        context: Context | None = None,
    ) -> Request:
        """The ``number``-th request. ``t_sched_ns`` counts from the start of the run. ``n_tokens`` and ``max_tokens``
        are those of a trace: the item is one of about that length, and the limit goes before the level's. ``context``:
        the earlier turns of its session."""
        level = self._level
        evalset = (level.traffic_sets or {}).get(traffic, level.evalset)
        items = self._items[evalset] if n_tokens is None else self._of_length(evalset, n_tokens)
        item = items[number % len(items)]
        place = Place(
            layer=level.layer,
            level=level.name,
            x=level.x,
            number=number,
            traffic=traffic,
            session=session,
            turn=turn,
            note=level.note or _note(item),
        )
        trial = Trial(
            candidate=self._candidate,
            evalset=evalset,
            item=item.id,
            repeat=number // len(items),
            t_sched_ns=t_sched_ns,
            load=place,
        )
        prompts = {who.name: self._prompt(trial, item, who.name, max_tokens, context or {}) for who in self._asked}
        return Request(trial, prompts)

    def _of_length(self, evalset: str, n_tokens: int) -> Sequence[Item]:
        """The few items whose prompts are nearest to so many tokens."""
        key = evalset, n_tokens
        if key not in self._nearest:
            who = self._asked[0].name
            sizes = {item.id: approx_tokens(self._prompts[evalset, item.id, who]) for item in self._items[evalset]}
            self._nearest[key] = nsmallest(FEW, self._items[evalset], key=lambda item: abs(sizes[item.id] - n_tokens))
        return self._nearest[key]

    def _prompt(self, trial: Trial, item: Item, who: str, max_tokens: int | None, context: Context) -> Prompt:
        level = self._level
        prompt: Prompt = self._prompts[trial.evalset, trial.item, who]
        assert trial.load is not None
        if context:
            own = (message for message in prompt.messages if message.role != "system")
            prompt = replace(prompt, messages=(*context[who], *own))
        elif level.unique:
            key = (self._run, trial.candidate, level.layer, level.name)
            prompt = made_unique(prompt, item, trial.load.number, *key)
        if max_tokens is not None:  # no endpoint takes a limit of 0
            return replace(prompt, max_tokens=max(1, max_tokens))
        return replace(prompt, max_tokens=level.max_tokens or prompt.max_tokens)


def _in_order(level: Level, evalset: EvalSet) -> Sequence[Item]:
    items = list(evalset.items)
    if level.items and evalset.name == level.evalset:
        by_id = {item.id: item for item in items}
        missing = next((name for name in level.items if name not in by_id), None)
        if missing is not None:
            where = f"level {level.name!r} of layer {level.layer!r}"
            raise UsageError(f"{evalset.name} has no item {missing!r}", where=where, fix="Name items of the eval set")
        items = [by_id[name] for name in level.items]
    if level.shuffled:
        random.Random(f"items/{level.seed}").shuffle(items)
    return items


def _note(item: Item) -> str:
    """Cold or warm, where the items of a set say which they are."""
    note = item.row.get("note")
    return note if isinstance(note, str) else ""
