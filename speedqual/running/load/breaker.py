"""The circuit breaker: a candidate that only fails is asked no more, and the level ends saying why."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from speedqual.errors import UsageError
from speedqual.records import GRADED_OUTCOMES, Attempt, Plain

__all__ = ["Breaker", "BreakerRule", "is_fault"]

REFUSED = 20
"""So many requests in a row that were refused as wrongly asked are enough: a closed loop would go on with them as fast
as it can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerRule(Plain):
    """When it opens: after ``in_a_row`` faults, or when ``share`` of the last ``window`` trials were faults.

    An open one lets ``probes`` small requests through, ``wait_s`` before each; one that succeeds closes it.
    """

    in_a_row: int = 10
    window: int = 100
    share: float = 0.8
    probes: int = 2
    wait_s: float = 5.0

    def __post_init__(self) -> None:
        fits = {
            "in_a_row": self.in_a_row >= 1,
            "window": self.window >= 1,
            "share": 0 < self.share <= 1,
            "probes": self.probes >= 0,
            "wait_s": self.wait_s >= 0,
        }
        for name, is_so in fits.items():
            if not is_so:
                raise UsageError(f"{name} is {getattr(self, name)!r}", where="breaker", fix="Give a share or a count")


def is_fault(attempt: Attempt) -> bool:
    """Whether the endpoint failed: unreachable, broken off, too late, 408, 429 or 5xx. A refused request is the asker's
    fault (400, 404, 413), and so is one that was cancelled."""
    if attempt.outcome in GRADED_OUTCOMES or attempt.outcome == "cancelled":
        return False
    if attempt.outcome == "http_error":
        return attempt.status is None or attempt.status in (408, 429) or attempt.status >= 500
    return True


class Breaker:
    """Counts the trials of one candidate; ``opened`` says why it opened, empty while it is closed.

    It opens as well after ``REFUSED`` refusals in a row.
    """

    def __init__(self, rule: BreakerRule) -> None:
        self.rule = rule
        self.opened = ""
        self._row = self._refused = 0
        self._last: deque[bool] = deque(maxlen=rule.window)

    def note(self, attempt: Attempt) -> None:
        """Count how a trial ended."""
        fault = is_fault(attempt)
        self._row = self._row + 1 if fault else 0
        self._refused = self._refused + 1 if attempt.outcome == "http_error" and not fault else 0
        self._last.append(fault)
        if not self.opened:
            self.opened = self._why(attempt)

    def close(self) -> None:
        """A probe succeeded: begin anew."""
        self.opened, self._row, self._refused = "", 0, 0
        self._last.clear()

    def _why(self, attempt: Attempt) -> str:
        last = attempt.outcome if attempt.status is None else f"{attempt.outcome} {attempt.status}"
        if self._row >= self.rule.in_a_row:
            return f"{self._row} requests in a row failed, the last one with {last}"
        if self._refused >= REFUSED:
            return f"{self._refused} requests in a row were refused, the last one with {last}: mend what is asked"
        n = sum(self._last)
        if len(self._last) == self.rule.window and n >= self.rule.share * self.rule.window:
            return f"{n} of the last {self.rule.window} requests failed, the last one with {last}"
        return ""
