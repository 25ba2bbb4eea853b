"""All levels of a plan, one after another: who climbs on, who is left out, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from speedqual.records import GRADED_OUTCOMES, Candidate
from speedqual.running.load.book import Book
from speedqual.running.load.breaker import Breaker
from speedqual.running.load.level import Judge, LevelRun, n_planned
from speedqual.running.load.plan import Level, LoadPlan
from speedqual.running.load.search import Search, Tried
from speedqual.running.load.shards import SharedLevel
from speedqual.running.load.shards_crew import Crew
from speedqual.running.route import asked_by
from speedqual.running.trials import Trials
from speedqual.running.watching import LevelFinished

__all__ = ["Campaign"]

CLIMBS = ("long_input", "long_output", "concurrency", "arrivals")
"""Layers in which a higher level is harder."""


@dataclass(slots=True)
class Campaign:
    """One call of a load test. Candidates take turns at each level, so that a server that slows down slows all.
    ``crew``: the processes that send it all; None = this one."""

    trials: Trials
    plan: LoadPlan
    judge: Judge
    crew: Crew | None = None
    book: Book = field(init=False)
    _breakers: dict[str, Breaker] = field(init=False)
    _ceilings: dict[tuple[str, str], tuple[float, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.book = Book(self.trials.session)
        self._breakers = {name: Breaker(self.plan.breaker) for name in self.trials.plan.candidates}

    def n_known(self) -> int:
        """How many requests the levels have, those that last for a time and those of a search left out."""
        return sum(n_planned(level) or 0 for level in self.plan.levels for _ in self._asked(level))

    async def run(self) -> None:
        """Run what is not finished, until all is or a limit says stop."""
        for level in self.plan.levels:
            for candidate in self._asked(level):
                if await self._level(level, candidate) is None and self.trials.budget.stopped_by:
                    return
        if self.plan.search is not None:
            for candidate in self._asked(self.plan.search.level):
                await self._search(self.plan.search, candidate)

    def close(self) -> None:
        """All asking is over: say what the limit of time cut off, and how many trials there were."""
        stopped_by = self.trials.budget.stopped_by
        if stopped_by and self.book.entries and self.book.entries[-1]["ended"] == "interrupted":
            self.book.entries[-1] |= {"ended": "budget", "why": stopped_by}
        self.book.count()

    def _asked(self, level: Level) -> Iterator[Candidate]:
        for name, candidate in self.trials.plan.candidates.items():
            if not level.candidates or name in level.candidates:
                yield candidate

    async def _search(self, search: Search, candidate: Candidate) -> None:
        tried: Tried = {}
        while (x := search.next(tried)) is not None:
            entry = await self._level(search.at(x), candidate)
            if entry is None:
                return
            tried[x] = entry["held"] == "holds"

    async def _level(self, level: Level, candidate: Candidate) -> dict[str, Any] | None:
        """The entry of the level, run now or before; None when it was not run to its end."""
        entry = self.book.finished(candidate.name, level)
        if entry is None:
            if why := await self._obstacle(level, candidate):
                self._skip(level, candidate, why)
                return None
            entry = await self._run(level, candidate).run()
        if entry["ended"] == "slo" and level.layer in CLIMBS:
            self._ceilings.setdefault((candidate.name, level.layer), (level.x, f"{level.name}: {entry['why']}"))
        return entry if entry["ended"] != "budget" else None

    def _run(self, level: Level, candidate: Candidate) -> LevelRun:
        """In this process, or by the crew."""
        whole = (self.trials, self.plan, self.book, level, candidate, self._breakers[candidate.name], self.judge)
        return LevelRun(*whole) if self.crew is None else SharedLevel(*whole, crew=self.crew)

    async def _obstacle(self, level: Level, candidate: Candidate) -> str:
        """Why the level is not run; empty = nothing is in its way."""
        if self.trials.budget.stopped_by:
            return self.trials.budget.stopped_by
        x, why = self._ceilings.get((candidate.name, level.layer), (float("inf"), ""))
        if level.x > x:
            return f"an easier level broke its SLO ({why})"
        breaker = self._breakers[candidate.name]
        if breaker.opened and not await self._recovered(candidate, breaker):
            return f"the circuit breaker is open: {breaker.opened}"
        return ""

    async def _recovered(self, candidate: Candidate, breaker: Breaker) -> bool:
        """Half-open: a few small requests, of which one must succeed."""
        clock, rule = self.trials.clock, breaker.rule
        for _ in range(rule.probes):
            await clock.sleep_until(clock.now_ns() + int(rule.wait_s * 1e9))
            answers = [await self.trials.client.warm_up(one) for one in asked_by(candidate)]
            if all(answer.outcome in GRADED_OUTCOMES for answer in answers):
                breaker.close()
                return True
        return False

    def _skip(self, level: Level, candidate: Candidate, why: str) -> None:
        self.book.skip(candidate.name, level, why)
        self.trials.watchers.tell(
            LevelFinished(
                candidate=candidate.name,
                layer=level.layer,
                level=level.name,
                n_sent=0,
                ended="skipped",
                why=why,
                client_limit="",
            )
        )
