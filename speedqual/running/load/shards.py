"""A level shared by several processes: one common start, every record to the one journal, nothing lost or kept twice.

Requests go to shards by number, streams of a closed loop by theirs. When a process is lost, what it had not finished
is sent again by another one, on a schedule that begins then, and its records carry the flag ``sent_again``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from speedqual.records import Record, Trial
from speedqual.running.arrivals import OpenLoop
from speedqual.running.load.level import LevelRun, moved
from speedqual.running.load.loops import Answers, Shard, number_of
from speedqual.running.load.playing import Schedule
from speedqual.running.load.shards_crew import Crew, Lost, Member
from speedqual.running.load.shards_messages import Begun, Go, Kept, Played, Prepare, Prepared
from speedqual.running.load.tally import Tally
from speedqual.running.together import together
from speedqual.running.watching import TrialFinished, TrialStarted

__all__ = ["SharedLevel"]


@dataclass(slots=True, kw_only=True)
class SharedLevel(LevelRun):
    """``LevelRun`` with its requests sent by a crew."""

    crew: Crew

    async def _play(self, entry: dict[str, Any], schedule: Schedule, answers: Answers, tally: Tally) -> tuple[str, str]:
        await self.crew.welcome()
        n = self._n_shards(schedule)
        game = _Game(self, entry, schedule, answers, tally, n)
        try:
            await together(game.shard(k) for k in range(n))
        finally:
            now_ns = self.trials.clock.now_ns()
            over_ns = max((played.over_ns for _, played in game.played), default=now_ns)
            entry |= {"end_ms": self.book.ms(over_ns), "drained_ms": self.book.ms(now_ns)}
            entry |= {"n_sent": len(game.begun), "client": _together(game.played)}
            self.book.note_workers(list(self.crew.workers.values()))
        return game.stopped

    def _n_shards(self, schedule: Schedule) -> int:
        """As many as there are processes, and no more than there is work for at once."""
        how = self.level.how
        most = len(schedule or ()) if isinstance(how, OpenLoop) else how.streams
        return max(1, min(len(self.crew.alive), most))

    def ends(self, start_ns: int, schedule: Schedule, answers: Answers) -> tuple[int | None, int | None]:
        """When the arrivals of a level that starts then are over, and when its last reply is due."""
        end_ns = self._end_ns(start_ns, schedule, answers)
        return end_ns, self.drained_by(end_ns)


class _Game:
    """One level being played by the shards of it."""

    def __init__(
        self, run: SharedLevel, entry: dict[str, Any], schedule: Schedule, answers: Answers, tally: Tally, n: int
    ) -> None:
        self._run, self._crew, self._clock = run, run.crew, run.trials.clock
        self._entry, self._schedule, self._answers, self._tally, self._n = entry, schedule, answers, tally, n
        self._kept: dict[str, str | None] = {}  # key → text of the reply, None where it failed
        self.begun: dict[str, Trial] = {}
        self.played: list[tuple[str, Played]] = []  # by name of a member
        self.stopped = "", ""
        self._waiting = set(range(n))  # shards that are not prepared for the common start
        self._lead_ns = 0
        self._start: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def shard(self, k: int) -> None:
        """One shard, by whoever is there to play it."""
        again = False
        while True:
            member = self._crew.pick(k)
            number, inbox = self._crew.open_play(member)
            try:
                return await self._on(member, number, inbox, (k, self._n), again=again)
            except Lost:
                again = self._start.done()
                if self.stopped[0]:
                    return None
            finally:
                self._crew.close_play(number)

    async def _on(self, member: Member, number: int, inbox: asyncio.Queue[Any], shard: Shard, *, again: bool) -> None:
        run, left = self._run, _part(self._schedule, shard)
        if again and left is not None:
            left = moved([(number, arrival) for number, arrival in left if number not in self._numbers()])
        answers = {**self._answers, **self._kept} if again else self._answers
        await member.send(Prepare(number, run.level, run.candidate.name, left, answers, shard, again))
        await _expect(inbox, Prepared)
        offset_ns = (await self._crew.note_offset(member)).ns
        start_ns = self._clock.now_ns() + member.lead_ns if again else await self._common_start(shard[0], member)
        go = Go(number, run.book.start_ns, start_ns, *self._ends(start_ns, left, again=again), run.plan.drain_s)
        await member.send(go.on_clock(offset_ns))
        await self._hear(member, inbox, start_ns)

    def _numbers(self) -> set[int]:
        return {number_of(key) for key in self._kept}

    async def _common_start(self, k: int, member: Member) -> int:
        """The instant at which every shard starts, agreed on once each is prepared."""
        self._waiting.discard(k)
        self._lead_ns = max(self._lead_ns, member.lead_ns)
        if not self._waiting and not self._start.done():
            start_ns = self._clock.now_ns() + self._lead_ns
            self._entry["start_ms"] = self._run.book.ms(start_ns)
            self._start.set_result(start_ns)
        return await asyncio.shield(self._start)

    def _ends(self, start_ns: int, left: Schedule, *, again: bool) -> tuple[int | None, int | None]:
        """Of a shard that is sent again: an open loop is sent whole, a closed one goes on until the level is over."""
        if again and left is not None:
            end_ns = start_ns + (left[-1][1].at_ns if left else 0)
            return end_ns, self._run.drained_by(end_ns)
        return self._run.ends(self._start.result(), self._schedule, self._answers)

    async def _hear(self, member: Member, inbox: asyncio.Queue[Any], start_ns: int) -> None:
        while True:
            match await inbox.get():
                case Begun(trial=trial):
                    self.begun[trial.key] = trial
                    self._run.trials.watchers.tell(TrialStarted(trial=trial))
                case Kept() as kept:
                    await self._keep(member, kept, start_ns)
                case Played() as played:
                    self.played.append((member.name, played))
                    return
                case BaseException() as fault:
                    raise fault

    async def _keep(self, member: Member, kept: Kept, start_ns: int) -> None:
        """To the journal, unless it is there already; then see whether that was enough."""
        self._pay(member, kept)
        if kept.key in self._kept:
            return
        run, record = self._run, kept.record(self.begun[kept.key])
        self._kept[kept.key] = kept.text if kept.outcome == "ok" else None
        await run.trials.session.keep(record, kept.packed)
        run.trials.watchers.tell(_finished(record))
        run.breaker.note(record.last)
        self._tally.note(record, start_ns)
        if not self.stopped[0] and (stop := self._stop()):
            self.stopped = stop
            await self._crew.halt(*stop)

    def _pay(self, member: Member, kept: Kept) -> None:
        """The budget holds what all processes have spent; a limit is overshot by what is in flight when it is met."""
        self._crew.spent[member.name] = kept.spent
        budget, spent = self._run.trials.budget, self._crew.spent.values()
        budget.requests, budget.tokens = sum(one[0] for one in spent), sum(one[1] for one in spent)
        budget.usd = sum(one[2] for one in spent)

    def _stop(self) -> tuple[str, str] | None:
        """Why nothing more may be sent."""
        if self._run.breaker.opened:
            return "breaker", self._run.breaker.opened
        budget = self._run.trials.budget
        if not budget.may_start():
            return "budget", budget.stopped_by
        budget.finish(0, 0.0)
        return None


def _part(schedule: Schedule, shard: Shard) -> Schedule:
    """The shard's part of an open loop."""
    first, step = shard
    return schedule and [(number, arrival) for number, arrival in schedule if number % step == first]


async def _expect(inbox: asyncio.Queue[Any], kind: type) -> None:
    message = await inbox.get()
    if isinstance(message, BaseException):
        raise message
    assert isinstance(message, kind)


def _finished(record: Record) -> TrialFinished:
    return TrialFinished(trial=record.trial, outcome=record.last.outcome, metrics=record.metrics, flags=record.flags)


def _together(played: Sequence[tuple[str, Played]]) -> dict[str, Any]:
    """The client of a level: the worst of each figure, and ``processes``, each on its own."""
    processes = [{"name": name, **one.level} for name, one in played]
    limited = next((one for one in processes if one["limited"]), None)
    figures = ("loop_lag_p99_ms", "sched_lag_p99_ms", "cpu_share")
    worst = {name: max((one[name] for one in processes if one[name] is not None), default=None) for name in figures}
    why = "" if limited is None else f"{limited['name']}: {limited['why']}"
    return {**worst, "limited": limited is not None, "why": why, "processes": processes}
