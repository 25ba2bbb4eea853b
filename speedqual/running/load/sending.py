"""Sends the requests of one level: counts them, and stops when a limit or the breaker says so."""

from __future__ import annotations

from collections.abc import Callable

from speedqual.endpoints.slot import Slot, Until
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

    ``stopped`` is budget or breaker once one of them ended the sending, with ``why``. From then on what is in flight
    has ``drain_s``.
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
        drain_s: float,
    ) -> None:
        self.trials, self.clock = trials, trials.clock
        self.start_ns, self._until, self._drain_s = start_ns, Until(by_ns), drain_s
        self.n_sent = 0
        self.stopped = self.why = ""
        self._breaker, self._tally, self._health = breaker, tally, health

    def may_send(self) -> bool:
        """Whether one more request may go out; counts it if so."""
        if self.stopped:
            return False
        if self._breaker.opened:
            self.stop("breaker", self._breaker.opened)
            return False
        if not self.trials.budget.may_start():
            self.stop("budget", self.trials.budget.stopped_by)
            return False
        self.n_sent += 1
        return True

    def stop(self, kind: str, why: str) -> None:
        """Send nothing more; the first reason counts."""
        if not self.stopped:
            self.stopped, self.why = kind, why
            self._until.bring_forward(self.clock.now_ns() + int(self._drain_s * 1e9))

    async def send(
        self, request: Request, t_sched: int | None = None, over: Callable[[], None] | None = None
    ) -> Record | None:
        """Send what ``may_send`` let through; None when a limit ended it before its time. ``over``: see ``Slot``."""
        slot = Slot(t_sched=t_sched, until=self._until, over=over)
        record = await self.trials.ask(request.trial, request.prompts, slot)
        if record is None:
            self.n_sent -= 1
            return None
        self._breaker.note(record.last)
        if self._breaker.opened:
            self.stop("breaker", self._breaker.opened)
        self._tally.note(record, self.start_ns)
        self._health.note(record)
        return record
