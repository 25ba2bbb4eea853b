"""Sends the requests of one level: counts them, and stops when a limit or the breaker says so."""

from __future__ import annotations

from speedqual.records import Record
from speedqual.running.load.breaker import Breaker
from speedqual.running.load.health import LevelHealth
from speedqual.running.load.questions import Request
from speedqual.running.load.tally import Tally
from speedqual.running.trials import Trials

__all__ = ["Sender"]


class Sender:
    """Between the arrivals of one level and the trials. ``start_ns``: the level's start; ``by_ns``: when the last
    reply is over at the latest, None = as the deadlines say.

    ``stopped`` is budget or breaker once one of them ended the sending, with ``why``.
    """

    def __init__(
        self,
        trials: Trials,
        breaker: Breaker,
        tally: Tally,
        health: LevelHealth,
        *,
        start_ns: int,
        by_ns: int | None,
    ) -> None:
        self.trials, self.clock = trials, trials.clock
        self.start_ns, self._by_ns = start_ns, by_ns
        self.n_sent = 0
        self.stopped = self.why = ""
        self._breaker, self._tally, self._health = breaker, tally, health

    def may_send(self) -> bool:
        """Whether one more request may go out; counts it if so."""
        if self.stopped:
            return False
        if self._breaker.opened:
            self.stopped, self.why = "breaker", self._breaker.opened
            return False
        if not self.trials.budget.may_start():
            self.stopped, self.why = "budget", self.trials.budget.stopped_by
            return False
        self.n_sent += 1
        return True

    async def send(self, request: Request, t_sched: int | None = None) -> Record | None:
        """Send what ``may_send`` let through; None when a limit ended it before its time."""
        record = await self.trials.ask(request.trial, request.prompts, t_sched=t_sched, by_ns=self._by_ns)
        if record is None:
            self.n_sent -= 1
            return None
        self._breaker.note(record.last)
        self._tally.note(record, self.start_ns)
        self._health.note(record)
        return record
