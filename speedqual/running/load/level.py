"""One level to one candidate: arrivals, drain, and what is said of it afterwards."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from speedqual.records import Candidate
from speedqual.running.arrivals import Arrival, OpenLoop
from speedqual.running.load.book import Book
from speedqual.running.load.breaker import Breaker
from speedqual.running.load.health import LevelHealth
from speedqual.running.load.loops import Answers, Streams, open_loop
from speedqual.running.load.plan import Level, LoadPlan
from speedqual.running.load.questions import Questions
from speedqual.running.load.sending import Sender
from speedqual.running.load.tally import Seen, Tally, broken
from speedqual.running.together import task_group
from speedqual.running.trials import Trials
from speedqual.running.watching import LevelFinished, LevelStarted
from speedqual.timing.goodput import Slo

__all__ = ["Judge", "LevelRun", "n_planned", "planned"]

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
    done = {int(key.rpartition(",")[2].strip(" ]")) for key in answers}
    left = [(number, arrival) for number, arrival in found if number not in done]
    return [
        (number, Arrival(one.at_ns - left[0][1].at_ns, one.traffic, one.input_tokens, one.output_tokens))
        for number, one in left
    ]


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
        trials, level = self.trials, self.level
        answers = self.book.answers(self.candidate.name, level)
        questions = Questions(level, self.candidate, trials.plan.evalsets, trials.session.run)
        arrivals = planned(level, answers)
        tally = Tally(self.plan.slos)
        if settle := getattr(trials.client, "settle", None):
            settle()
        entry = self.book.begin(self.candidate.name, level, self._n_left(arrivals, answers), trials.clock.now_ns())
        self._tell_started(entry)
        start_ns = trials.clock.now_ns() + LEAD_NS
        entry["start_ms"] = self.book.ms(start_ns)
        end_ns = self._end_ns(start_ns, arrivals, answers)
        by_ns = None if end_ns is None else end_ns + int(self.plan.drain_s * 1e9)
        health = LevelHealth()
        sender = Sender(trials, self.breaker, tally, health, start_ns=start_ns, by_ns=by_ns)
        try:
            async with task_group() as group:
                await self._send(sender, questions, arrivals, answers, end_ns, group)
                health.stop()
                entry["end_ms"] = self.book.ms(trials.clock.now_ns())
        finally:
            health.stop()
            now_ms = self.book.ms(trials.clock.now_ns())
            entry |= {"n_sent": sender.n_sent, "drained_ms": now_ms, "client": health.to_dict()}
            entry["end_ms"] = entry["end_ms"] or now_ms
        entry["ended"], entry["why"] = self._ended(sender, tally, entry)
        entry["held"] = self._held(tally, entry)
        self.book.note()
        self._tell_finished(entry)
        return entry

    def _n_left(self, arrivals: Sequence[object] | None, answers: Answers) -> int | None:
        """How many requests are still to come; None = as many as fit into the time."""
        whole = n_planned(self.level) if arrivals is None else len(arrivals)
        return whole if whole is None or arrivals is not None else whole - len(answers)

    def _end_ns(self, start_ns: int, arrivals: Sequence[tuple[int, Arrival]] | None, answers: Answers) -> int | None:
        """When the arrivals are over; None = after so many requests."""
        if self.level.duration_s is None:
            return None
        whole_ns = int(self.level.duration_s * 1e9)
        if not answers:
            return start_ns + whole_ns
        if arrivals is not None:
            return start_ns + (arrivals[-1][1].at_ns if arrivals else 0)
        before = self.book.of(self.candidate.name, self.level)[:-1]
        sent_ms = sum(entry["end_ms"] - entry["start_ms"] for entry in before)
        return start_ns + max(0, whole_ns - int(sent_ms * 1e6))

    async def _send(
        self,
        sender: Sender,
        questions: Questions,
        arrivals: Sequence[tuple[int, Arrival]] | None,
        answers: Answers,
        end_ns: int | None,
        group: asyncio.TaskGroup,
    ) -> None:
        """Returns when the arrivals are over; what is in flight is drained by the group."""
        how = self.level.how
        if arrivals is not None:
            await open_loop(sender, questions, arrivals, self.book.start_ns, group)
            if end_ns is not None and not sender.stopped:
                await sender.clock.sleep_until(end_ns)
            return
        assert not isinstance(how, OpenLoop)
        await sender.clock.sleep_until(sender.start_ns)
        streams = Streams(sender, questions, self.level, how, answers, end_ns)
        running = group.create_task(streams.run())
        if end_ns is None:
            await running
            return
        await asyncio.wait([running], timeout=max(0.0, (end_ns - sender.clock.now_ns()) / 1e9))

    def _ended(self, sender: Sender, tally: Tally, entry: dict[str, Any]) -> tuple[str, str]:
        if sender.stopped:
            return sender.stopped, sender.why
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
