"""One level to one candidate: arrivals, drain, and what is said of it afterwards."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from speedqual.records import Candidate
from speedqual.running.arrivals import Arrival, OpenLoop
from speedqual.running.load.book import Book
from speedqual.running.load.breaker import Breaker
from speedqual.running.load.health import LevelHealth
from speedqual.running.load.loops import Answers, number_of
from speedqual.running.load.plan import Level, LoadPlan
from speedqual.running.load.playing import Player, Schedule
from speedqual.running.load.sending import Sender
from speedqual.running.load.tally import Seen, Tally, broken
from speedqual.running.trials import Trials
from speedqual.running.watching import LevelFinished, LevelStarted
from speedqual.timing.goodput import Slo

__all__ = ["Judge", "LevelRun", "moved", "n_planned", "planned"]

LEAD_NS = 20_000_000
"""Between the last preparation and the first arrival."""

Judge = Callable[[Sequence[Seen], Sequence[Slo]], str]
"""Says of the requests in a level's window whether its SLOs hold: holds | fails | open."""


def planned(level: Level, answers: Answers) -> list[tuple[int, Arrival]] | None:
    """The (number, arrival) of an open loop that are still to be sent, moved so that the first of them comes at 0
    where some were sent before; None of a closed loop."""
    how = level.how
    if not isinstance(how, OpenLoop):
        return None
    schedule = enumerate(how.schedule(level.seed, level.duration_s or math.inf))
    found = list(islice(schedule, level.n))
    if not answers:
        return found
    done = {number_of(key) for key in answers}
    return moved([(number, arrival) for number, arrival in found if number not in done])


def moved(schedule: Sequence[tuple[int, Arrival]]) -> list[tuple[int, Arrival]]:
    """The same arrivals, the first of them at 0."""
    first_ns = schedule[0][1].at_ns if schedule else 0
    return [(number, replace(arrival, at_ns=arrival.at_ns - first_ns)) for number, arrival in schedule]


def n_planned(level: Level) -> int | None:
    """How many requests the whole level has; None = as many as fit into its time."""
    how = level.how
    if isinstance(how, OpenLoop):
        return len(planned(level, {}) or ())
    if level.n is None and level.duration_s is None and how.turns is not None:
        return how.streams * how.turns
    return level.n


@dataclass(slots=True)
class LevelRun:
    """Runs one level. ``judge``: how it is told whether the SLOs hold."""

    trials: Trials
    plan: LoadPlan
    book: Book
    level: Level
    candidate: Candidate
    breaker: Breaker
    judge: Judge

    async def run(self) -> dict[str, Any]:
        """The level's entry in the manifest, complete."""
        level = self.level
        answers = self.book.answers(self.candidate.name, level)
        schedule = planned(level, answers)
        n_left, now_ns = self._n_left(schedule, answers), self.trials.clock.now_ns()
        tally = Tally(self.plan.slos, self.book.seen(self.candidate.name, level) if self.plan.slos else ())
        entry = self.book.begin(self.candidate.name, level, n_left, now_ns)
        self._tell_started(entry)
        stopped, why = await self._play(entry, schedule, answers, tally)
        entry["ended"], entry["why"] = (stopped, why) if stopped else self._ended(tally, entry)
        entry["held"] = self._held(tally, entry)
        self.book.note()
        self._tell_finished(entry)
        return entry

    async def _play(self, entry: dict[str, Any], schedule: Schedule, answers: Answers, tally: Tally) -> tuple[str, str]:
        """Send it all; notes when, how much and by what client. What ended it early, and why; empty = nothing."""
        clock = self.trials.clock
        player = Player(self.trials, self.level, self.candidate, schedule, answers)
        start_ns = clock.now_ns() + LEAD_NS
        entry["start_ms"] = self.book.ms(start_ns)
        end_ns = self._end_ns(start_ns, schedule, answers)
        health = LevelHealth()
        by_ns = self.drained_by(end_ns)
        sender = Sender(
            self.trials, self.breaker, tally, health, start_ns=start_ns, by_ns=by_ns, drain_s=self.plan.drain_s
        )

        def over() -> None:
            health.stop()
            entry["end_ms"] = self.book.ms(clock.now_ns())

        try:
            await player.play(sender, self.book.start_ns, end_ns, over)
        finally:
            health.stop()
            now_ms = self.book.ms(clock.now_ns())
            entry |= {"n_sent": sender.n_sent, "drained_ms": now_ms, "client": health.to_dict()}
            entry["end_ms"] = entry["end_ms"] or now_ms
        return sender.stopped, sender.why

    def drained_by(self, end_ns: int | None) -> int | None:
        """When the last reply is over at the latest; None = as the deadlines say."""
        return None if end_ns is None else end_ns + int(self.plan.drain_s * 1e9)

    def _n_left(self, schedule: Schedule, answers: Answers) -> int | None:
        """How many requests are still to come; None = as many as fit into the time."""
        if schedule is not None:
            return len(schedule)
        whole = n_planned(self.level)
        return None if whole is None else whole - len(answers)

    def _end_ns(self, start_ns: int, schedule: Schedule, answers: Answers) -> int | None:
        """When the arrivals are over; None = after so many requests."""
        if self.level.duration_s is None:
            return None
        whole_ns = int(self.level.duration_s * 1e9)
        if not answers:
            return start_ns + whole_ns
        if schedule is not None:
            return start_ns + (schedule[-1][1].at_ns if schedule else 0)
        before = self.book.of(self.candidate.name, self.level)[:-1]
        sent_ms = sum(entry["end_ms"] - entry["start_ms"] for entry in before)
        return start_ns + max(0, whole_ns - int(sent_ms * 1e6))

    def _ended(self, tally: Tally, entry: dict[str, Any]) -> tuple[str, str]:
        if self.breaker.opened:  # by the last replies
            return "breaker", self.breaker.opened
        if entry["client"]["limited"]:
            return "completed", ""  # nothing here is the server's, its broken promises neither
        why = broken(self.plan.slos, tally.window(self.level)) if self.plan.early_stop else ""
        return ("slo", why) if why else ("completed", "")

    def _held(self, tally: Tally, entry: dict[str, Any]) -> str | None:
        """What the judge says; None where there is no SLO or the client was the limit."""
        if not self.plan.slos or entry["client"]["limited"]:
            return None
        return self.judge(tally.window(self.level), self.plan.slos)

    def _tell_started(self, entry: dict[str, Any]) -> None:
        told = {name: entry[name] for name in ("candidate", "layer", "level", "x", "unit", "n_planned")}
        self.trials.watchers.tell(LevelStarted(**told, duration_s=self.level.duration_s))

    def _tell_finished(self, entry: dict[str, Any]) -> None:
        told = {name: entry[name] for name in ("candidate", "layer", "level", "n_sent", "ended", "why")}
        self.trials.watchers.tell(LevelFinished(**told, client_limit=entry["client"]["why"]))
