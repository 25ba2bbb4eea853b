"""Progress of a run on stderr: what is done, what failed, how fast, how long to go. An observer of run events."""

from __future__ import annotations

import sys
from collections import deque
from statistics import median
from typing import Any

from speedqual.running import Finished, Graded, RunEvent, Started, TrialFinished

__all__ = ["Progress"]

WINDOW = 50  # the last trials stand for "now"
QUIET_S = 10.0  # seconds between two lines where stderr is a file


class Progress:
    """Draws one line where stderr is a terminal, and a line now and then where it is a file."""

    def __init__(self, label: str = "asking") -> None:
        self._label = label
        self._bar: Any = None
        self._failed = 0
        self._ttft: deque[float] = deque(maxlen=WINDOW)
        self._rate: deque[float] = deque(maxlen=WINDOW)

    def __call__(self, event: RunEvent) -> None:
        if isinstance(event, Started):
            self._open(self._label, event.n_trials, event.n_done)
        elif isinstance(event, TrialFinished):
            self._count(event)
        elif isinstance(event, Graded):
            self._grade(event)
        elif isinstance(event, Finished):
            self._close()

    def _open(self, label: str, total: int, done: int = 0) -> None:
        from tqdm import tqdm

        self._close()
        live = sys.stderr.isatty()
        self._bar = tqdm(
            total=total,
            initial=done,
            desc=label,
            file=sys.stderr,
            dynamic_ncols=live,
            mininterval=0.2 if live else QUIET_S,
            bar_format="{desc} {percentage:3.0f} %|{bar:24}| {n_fmt}/{total_fmt}  {elapsed} < {remaining}  {postfix}",
            ascii=" ━" if live else " #",
        )

    def _count(self, event: TrialFinished) -> None:
        if self._bar is None or event.trial.phase != "main":
            return
        self._failed += event.outcome != "ok"
        for kept, name in ((self._ttft, "ttft_ms"), (self._rate, "decode_tok_s")):
            value = event.metrics.get(name)
            if isinstance(value, (int, float)):
                kept.append(float(value))
        self._bar.set_postfix_str(self._now(), refresh=False)
        self._bar.update(1)

    def _now(self) -> str:
        parts = [f"failed {self._failed}"] if self._failed else []
        if self._ttft:
            parts.append(f"TTFT {median(self._ttft):.0f} ms")
        if self._rate:
            parts.append(f"{median(self._rate):.0f} tok/s")
        return "  ".join(parts)

    def _grade(self, event: Graded) -> None:
        if self._bar is None or self._bar.desc != "grading":
            self._open("grading", event.n_to_grade)
        self._bar.update(event.n_graded - self._bar.n)

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
