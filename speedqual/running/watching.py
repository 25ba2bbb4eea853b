"""Events of a run for whoever watches: progress bars, live views, logs. Watching never slows or breaks a run."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from speedqual import display
from speedqual.errors import SpeedqualError
from speedqual.records import Grade, Trial
from speedqual.running.settings import Limits

__all__ = [
    "Finished",
    "Graded",
    "LevelFinished",
    "LevelStarted",
    "Observer",
    "RunEvent",
    "Started",
    "TrialFinished",
    "TrialStarted",
    "Watchers",
]

_log = logging.getLogger("speedqual.running")


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """Asking begins. ``n_done`` trials of ``n_trials`` were finished by an earlier call."""

    run: str
    folder: str
    n_trials: int
    n_done: int
    candidates: tuple[str, ...]
    evalsets: tuple[str, ...]
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialStarted:
    """A trial's first request is about to be sent."""

    trial: Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialFinished:
    """A trial is on its way to the disk. ``metrics`` under the names of the metric contract."""

    trial: Trial
    outcome: str
    metrics: Mapping[str, float | int | str | None]
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """An answer was judged, after all timing was done."""

    trial: Trial
    grade: Grade
    n_graded: int
    n_to_grade: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The run is over: ``status`` finished | stopped | interrupted | failed, and why."""

    run: str
    status: str
    why: str
    n_trials: int
    n_done: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelStarted:
    """A level of a load test begins. ``n_planned`` requests, ``duration_s`` of arrivals; None = open-ended."""

    candidate: str
    layer: str
    level: str
    x: float
    unit: str
    n_planned: int | None
    duration_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelFinished:
    """A level is over and drained: ``ended`` completed | budget | slo | breaker | skipped, and why."""

    candidate: str
    layer: str
    level: str
    n_sent: int
    ended: str
    why: str
    client_limit: str  # why the client was the limit; empty = it was not


RunEvent = Started | TrialStarted | TrialFinished | LevelStarted | LevelFinished | Graded | Finished
Observer = Callable[[RunEvent], None]


class Watchers:
    """Calls every observer with every event, in order, on a thread of its own. One that raises is logged, no more.

    Where nobody brought one, a notebook offers its live view (``live:Watchers`` among the renderers).
    """

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._observers = tuple(observers) or self._offered()
        self._ended = False
        self._queue: queue.SimpleQueue[RunEvent | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="speedqual-watchers", daemon=True)

    def __enter__(self) -> Self:
        if self._observers:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._observers:
            if kind is not None and not self._ended:  # it failed before there was a folder to say so
                status = "failed" if issubclass(kind, Exception) else "interrupted"
                self.tell(Finished(run="", status=status, why=_words(exc), n_trials=0, n_done=0))
            self._queue.put(None)
            self._thread.join(timeout=10)  # an observer that hangs does not hold the run

    def _offered(self) -> tuple[Observer, ...]:
        offer = display.find("live", self)
        seen = None if offer is None else offer(self)
        return () if seen is None else (seen,)

    def tell(self, event: RunEvent) -> None:
        """Queue an event; returns at once."""
        if self._observers:
            self._ended = self._ended or isinstance(event, Finished)
            self._queue.put(event)

    def _work(self) -> None:
        while (event := self._queue.get()) is not None:
            for observer in self._observers:
                try:
                    observer(event)
                except Exception:
                    _log.warning("an observer failed at %s", type(event).__name__, exc_info=True)


def _words(fault: BaseException | None) -> str:
    """What a fault says of itself; that of others may hold a path, so only its name."""
    return str(fault) if isinstance(fault, SpeedqualError) else type(fault).__name__
