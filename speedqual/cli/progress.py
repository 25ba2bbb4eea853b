"""Progress of a run on stderr: what is done, what failed, how fast, how long to go. An observer of run events."""

from __future__ import annotations

import sys
import time
from collections import deque
from statistics import median
from typing import NoReturn

from tqdm import tqdm

from speedqual.cli.pace import WINDOW, Pace, clock_text
from speedqual.running import Finished, Graded, RunEvent, Started, TrialFinished, TrialStarted

__all__ = ["Progress"]

QUIET_S = 10.0  # seconds between two lines where stderr is a file
GRADING = "{desc} {percentage:3.0f} %|{bar:24}| {n_fmt}/{total_fmt}  {elapsed} elapsed, {remaining} to go"
LIVE = "{desc} {percentage:3.0f} %|{bar:24}| {n_fmt}/{total_fmt}  {elapsed} elapsed{postfix}"


class Progress:
    """Draws one moving line where stderr is a terminal, and a line now and then where it is a file."""

    def __init__(self) -> None:
        self._bar: tqdm[NoReturn] | None = None
        self._live = sys.stderr.isatty()
        self._said = 0.0
        self._failed = 0
        self._pace = Pace()
        self._ttft: deque[float] = deque(maxlen=WINDOW)
        self._rate: deque[float] = deque(maxlen=WINDOW)

    def __call__(self, event: RunEvent) -> None:
        if isinstance(event, Started):
            self._open("asking", event.n_trials, event.n_done)
        elif isinstance(event, TrialStarted):
            self._pace.start(event.trial.key, time.monotonic())
        elif isinstance(event, TrialFinished):
            self._pace.end(event.trial.key, time.monotonic())
            self._count(event)
        elif isinstance(event, Graded):
            self._grade(event)
        elif isinstance(event, Finished):
            self._close()

    def _open(self, label: str, total: int, done: int = 0) -> None:
        self._close()
        mute = None if self._live else _Nowhere()
        form = LIVE if label == "asking" else GRADING
        self._bar = tqdm(
            total=total, initial=done, desc=label, file=mute, dynamic_ncols=True, bar_format=form, ascii=" ━"
        )

    def _count(self, event: TrialFinished) -> None:
        if self._bar is None or event.trial.phase != "main":
            return
        self._failed += event.outcome != "ok"
        for kept, name in ((self._ttft, "ttft_ms"), (self._rate, "decode_tok_s")):
            value = event.metrics.get(name)
            if isinstance(value, (int, float)):
                kept.append(float(value))
        self._bar.set_postfix_str(self._now((self._bar.total or 0) - self._bar.n - 1), refresh=False)
        self._step(1)

    def _now(self, left: float) -> str:
        parts = [f"{clock_text(self._pace.to_go_s(int(left)))} to go"] if left > 0 else []
        parts += [f"{self._failed} failed"] if self._failed else []
        if self._ttft:
            parts.append(f"TTFT {median(self._ttft):,.0f} ms")
        if self._rate:
            parts.append(f"{median(self._rate):,.0f} tokens/s")
        return "  ".join(parts)

    def _grade(self, event: Graded) -> None:
        if self._bar is None or self._bar.desc != "grading":
            self._open("grading", event.n_to_grade)
        assert self._bar is not None
        self._step(event.n_graded - self._bar.n)

    def _step(self, n: float) -> None:
        assert self._bar is not None
        self._bar.update(n)
        now = time.monotonic()
        if not self._live and (now - self._said >= QUIET_S or self._bar.n == self._bar.total):
            self._said = now
            print(str(self._bar).strip(), file=sys.stderr, flush=True)

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class _Nowhere:
    """Where the moving line goes when nobody sees it move."""

    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        return None
