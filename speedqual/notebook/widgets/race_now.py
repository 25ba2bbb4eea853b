"""A race held now: all candidates asked together, their text shown as it comes, graded when the last has finished."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

from speedqual.endpoints.client import Client
from speedqual.endpoints.naming import parse_candidate
from speedqual.evalsets import build_prompt
from speedqual.grading.base import grade_all, grader_for
from speedqual.notebook.widgets.lanes import Lane, lane_of, shortened
from speedqual.records import GRADED_OUTCOMES, Answer, Attempt, Candidate, EvalSet, Item
from speedqual.running.together import together

__all__ = ["Asking"]


class Asking:
    """``lanes`` grow while ``run`` runs; ``told`` hears of each change, in the event loop."""

    def __init__(
        self,
        candidates: Sequence[Candidate | str],
        evalset: EvalSet,
        item: Item,
        told: Callable[[tuple[Lane, ...]], None],
    ) -> None:
        self._who = [parse_candidate(one) if isinstance(one, str) else one for one in candidates]
        self._evalset, self._item, self._told = evalset, item, told
        self._lanes = [Lane(name=candidate.name) for candidate in self._who]
        self._attempts: dict[int, Attempt] = {}

    @property
    def lanes(self) -> tuple[Lane, ...]:
        return tuple(self._lanes)

    async def run(self, client: Client | None = None) -> None:
        """Ask all, then grade what may be graded."""
        async with Client() if client is None else nullcontext(client) as asker:
            await together(self._ask(asker, at) for at in range(len(self._who)))
        grades = await asyncio.to_thread(self._grades)
        self._lanes = [replace(lane, grade=grades.get(at)) for at, lane in enumerate(self._lanes)]

    async def _ask(self, client: Client, at: int) -> None:
        candidate = self._who[at]
        prompt = build_prompt(self._evalset, self._item, candidate)
        heard = partial(self._hear, at, time.perf_counter())
        attempt = await client.ask(candidate, prompt, watch=heard)
        self._attempts[at] = attempt
        self._change(at, lane_of(candidate.name, attempt))

    def _hear(self, at: int, begin_s: float, channel: str, text: str) -> None:
        """A sample of the stream, up to a quarter of a second late; the stamped times follow at the end."""
        ms = 1000 * (time.perf_counter() - begin_s)
        lane = self._lanes[at]
        more, lost = shortened([(ms, channel == "reasoning", text)], shown=len(lane.text))
        self._change(at, replace(lane, pieces=(*lane.pieces, *more), lost=lane.lost + lost))

    def _change(self, at: int, lane: Lane) -> None:
        self._lanes[at] = lane
        self._told(self.lanes)

    def _grades(self) -> dict[int, Any]:
        able = {at: one for at, one in self._attempts.items() if one.outcome in GRADED_OUTCOMES}
        answers = [
            Answer(text=one.text, stop=one.stop, tool_calls=one.tool_calls, outcome=one.outcome)
            for one in able.values()
        ]
        grades = grade_all(grader_for(self._evalset), [(answer, self._item) for answer in answers])
        return dict(zip(able, grades, strict=True))
