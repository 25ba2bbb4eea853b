"""How long a run has to go: the trials that are left, at the pace of the last ones, over those in flight at once."""

from __future__ import annotations

from collections import deque
from statistics import median

__all__ = ["Pace", "clock_text"]

WINDOW = 50  # the last trials stand for "now"


class Pace:
    """Told when trials start and end (seconds of any steady clock); ``to_go_s`` is None until one has ended.

    Time since the start over trials done, which a plain bar goes by, is too long at first: it counts connecting,
    warming up and a first trial's whole length for the few that are done.
    """

    def __init__(self) -> None:
        self._started: dict[str, float] = {}
        self._took: deque[float] = deque(maxlen=WINDOW)
        self._lanes: deque[int] = deque(maxlen=WINDOW)

    def start(self, trial: str, now: float) -> None:
        self._started[trial] = now

    def end(self, trial: str, now: float) -> None:
        """A trial nobody saw start tells nothing."""
        if trial in self._started:
            self._lanes.append(len(self._started))
            self._took.append(now - self._started.pop(trial))

    def to_go_s(self, left: int) -> float | None:
        """Median time of the last trials × trials left ÷ trials in flight at once."""
        if not self._took:
            return None
        return median(self._took) * left / max(1.0, median(self._lanes))


def clock_text(seconds: float | None) -> str:
    """Minutes and seconds; hours from one on.

    >>> clock_text(75), clock_text(3725), clock_text(None)
    ('1:15', '1:02:05', '?')
    """
    if seconds is None:
        return "?"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
