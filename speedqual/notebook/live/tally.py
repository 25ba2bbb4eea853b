"""What a run has come to so far, out of its events: pure counting, cheap at each event, summed up when drawn."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from speedqual.records import Trial
from speedqual.running.settings import Limits
from speedqual.running.watching import (
    Finished,
    Graded,
    LevelFinished,
    RunEvent,
    Started,
    TrialFinished,
    TrialStarted,
)

__all__ = ["Row", "Standing", "Tally"]

LEAST_FOR_P95 = 20
"""With fewer replies the 95th percentile is the slowest reply or what lies beside it: it is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One candidate so far, or one level that it went through in a load test. Percentiles are over ``ok`` replies."""

    candidate: str
    level: str = ""
    outcomes: Mapping[str, int]
    in_flight: int = 0
    req_s: float | None = None  # ends a second, from the first start to the last end
    ttft_ms_p50: float | None = None
    ttft_ms_p95: float | None = None
    decode_tok_s_p50: float | None = None
    cost_usd: float | None = None  # what is known to have been spent
    n_unpriced: int = 0  # complete replies whose cost is not known
    ended: str = ""  # how a level ended, where it did not run to its plan: budget | slo | breaker | skipped
    why: str = ""  # and why

    @property
    def n_ended(self) -> int:
        return sum(self.outcomes.values())

    @property
    def n_failed(self) -> int:
        return self.n_ended - self.outcomes.get("ok", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A moment of a run. ``status``: preparing | asking | grading, or how it ended; seconds since asking began."""

    status: str = "preparing"
    why: str = ""
    n_trials: int = 0
    n_done: int = 0
    n_before: int = 0  # of n_done: finished by an earlier call
    n_graded: int = 0
    n_to_grade: int = 0
    elapsed_s: float = 0.0
    left_s: float | None = None
    limits: Limits = field(default_factory=Limits)
    rows: tuple[Row, ...] = ()

    @property
    def over(self) -> bool:
        return self.status not in ("preparing", "asking", "grading")

    @property
    def in_flight(self) -> int:
        return sum(row.in_flight for row in self.rows)

    @property
    def cost_usd(self) -> float | None:
        """All that is known to have been spent by this call; None when nothing is known."""
        known = [row.cost_usd for row in self.rows if row.cost_usd is not None]
        return sum(known) if known else None

    @property
    def partly_priced(self) -> bool:
        """Whether some replies had no price, so that the cost is at least what is shown."""
        return any(row.n_unpriced for row in self.rows)


@dataclass
class _Group:
    """The trials of one row, counted."""

    candidate: str
    level: str
    n_begun: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    cost_usd: float | None = None
    n_unpriced: int = 0
    began_s: float | None = None
    ended_s: float | None = None
    ended: str = ""
    why: str = ""
    ttft_ms: array[float] = field(default_factory=lambda: array("d"))
    decode_tok_s: array[float] = field(default_factory=lambda: array("d"))

    def begin(self, now_s: float) -> None:
        self.n_begun += 1
        self.began_s = now_s if self.began_s is None else self.began_s

    def end(self, event: TrialFinished, now_s: float) -> None:
        self.outcomes[event.outcome] += 1
        self.ended_s = now_s
        for kept, name in ((self.ttft_ms, "ttft_ms"), (self.decode_tok_s, "decode_tok_s")):
            value = event.metrics.get(name)
            if isinstance(value, (int, float)):
                kept.append(value)
        cost = event.metrics.get("cost_usd")
        if isinstance(cost, (int, float)):
            self.cost_usd = (self.cost_usd or 0.0) + cost
        elif event.outcome == "ok":
            self.n_unpriced += 1

    def row(self) -> Row:
        n_ended = self.outcomes.total()
        return Row(
            candidate=self.candidate,
            level=self.level,
            outcomes=dict(self.outcomes),
            in_flight=max(0, self.n_begun - n_ended),
            req_s=self._req_s(n_ended),
            ttft_ms_p50=_quantile(self.ttft_ms, 0.5),
            ttft_ms_p95=_quantile(self.ttft_ms, 0.95, least=LEAST_FOR_P95),
            decode_tok_s_p50=_quantile(self.decode_tok_s, 0.5),
            cost_usd=self.cost_usd,
            n_unpriced=self.n_unpriced,
            ended=self.ended,
            why=self.why,
        )

    def _req_s(self, n_ended: int) -> float | None:
        if self.began_s is None or self.ended_s is None or n_ended < 2 or self.ended_s <= self.began_s:
            return None
        return n_ended / (self.ended_s - self.began_s)


class Tally:
    """Takes events, gives a ``Standing``. Times come in as arguments, in seconds of any one monotonic clock."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, str, str], _Group] = {}
        self._started: Started | None = None
        self._began_s = self._last_s = 0.0
        self._ended_s: float | None = None
        self._status, self._why = "preparing", ""
        self._n_graded = self._n_to_grade = 0

    def take(self, event: RunEvent, now_s: float) -> None:
        """Count one event."""
        match event:
            case Started():
                self._started, self._began_s, self._status = event, now_s, "asking"
                self._groups = {(name, "", ""): _Group(name, "") for name in event.candidates}
            case TrialStarted(trial=trial) if trial.phase == "main":
                self._group(trial).begin(now_s)
            case TrialFinished(trial=trial) if trial.phase == "main":
                self._group(trial).end(event, now_s)
                self._last_s = now_s
            case LevelFinished():
                group = self._of(event.candidate, event.layer, event.level)
                group.ended = "" if event.ended == "completed" else event.ended
                group.why = event.why or event.client_limit
            case Graded():
                self._status = "grading"
                self._n_graded, self._n_to_grade = event.n_graded, event.n_to_grade
            case Finished():
                self._status, self._why, self._ended_s = event.status, event.why, now_s
            case _:
                pass

    def standing(self, now_s: float) -> Standing:
        """The sums at ``now_s``."""
        begun = self._started
        if begun is None:
            return Standing(status=self._status, why=self._why)
        ended_s = now_s if self._ended_s is None else self._ended_s
        rows = tuple(group.row() for group in self._shown())
        return Standing(
            status=self._status,
            why=self._why,
            n_trials=begun.n_trials,
            n_done=begun.n_done + sum(row.n_ended for row in rows),
            n_before=begun.n_done,
            n_graded=self._n_graded,
            n_to_grade=self._n_to_grade,
            elapsed_s=ended_s - self._began_s,
            left_s=self._left_s(begun, rows, now_s) if self._status == "asking" else None,
            limits=begun.limits,
            rows=rows,
        )

    def _group(self, trial: Trial) -> _Group:
        place = trial.load
        return self._of(trial.candidate, *(("", "") if place is None else (place.layer, place.level)))

    def _of(self, candidate: str, layer: str, level: str) -> _Group:
        return self._groups.setdefault((candidate, layer, level), _Group(candidate, level))

    def _shown(self) -> list[_Group]:
        """A candidate's row without a level gives way to those of its levels."""
        levelled = {group.candidate for group in self._groups.values() if group.level}
        return [group for group in self._groups.values() if group.level or group.candidate not in levelled]

    def _left_s(self, begun: Started, rows: tuple[Row, ...], now_s: float) -> float | None:
        """Seconds to go: the rest at the pace so far, or the slowest candidate's own rest, whichever is longer.

        None before three trials have ended, and in a load test, where levels and not trials take the time.
        """
        n_now = sum(row.n_ended for row in rows)
        if n_now < 3 or any(row.level for row in rows):
            return None
        to_ask = begun.n_trials - begun.n_done
        share = to_ask / len(rows)  # every candidate is asked the same
        own = [(share - row.n_ended) / row.n_ended for row in rows if row.n_ended]
        at_last_s = (self._last_s - self._began_s) * max((to_ask - n_now) / n_now, *own, 0.0)
        return max(0.0, at_last_s - (now_s - self._last_s))


def _quantile(values: array[float], q: float, least: int = 1) -> float | None:
    """By linear interpolation; None below ``least`` values."""
    return float(np.quantile(np.frombuffer(values), q)) if len(values) >= least else None
