"""Progress of a load test on stderr: one moving line a level, and one line that stays when it is over."""

from __future__ import annotations

import sys
import time
from collections import deque
from statistics import quantiles

from speedqual.display.safe import visible
from speedqual.running import LevelFinished, LevelStarted, RunEvent, TrialFinished, TrialStarted

__all__ = ["LoadProgress"]

WINDOW = 200  # the last replies stand for "now"
REDRAW_S = 0.2


class LoadProgress:
    """Draws where stderr is a terminal; where it is a file only the ends of levels are said."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._level: LevelStarted | None = None
        self._drawn = self._begun = 0.0
        self._sent = self._done = self._failed = 0
        self._ttft: deque[float] = deque(maxlen=WINDOW)

    def __call__(self, event: RunEvent) -> None:
        if isinstance(event, LevelStarted):
            self._begin(event)
        elif isinstance(event, TrialStarted):
            self._sent += 1
        elif isinstance(event, TrialFinished):
            self._count(event)
        elif isinstance(event, LevelFinished):
            self._end(event)

    def _begin(self, event: LevelStarted) -> None:
        self._level, self._begun = event, time.monotonic()
        self._sent = self._done = self._failed = 0
        self._ttft.clear()

    def _count(self, event: TrialFinished) -> None:
        self._done += 1
        self._sent = max(self._sent, self._done)  # other processes tell of their ends alone
        self._failed += event.outcome != "ok"
        value = event.metrics.get("ttft_ms")
        if isinstance(value, (int, float)):
            self._ttft.append(float(value))
        now = time.monotonic()
        if self._live and self._level is not None and now - self._drawn >= REDRAW_S:
            self._drawn = now
            self._draw(f"{self._name(self._level)}: {self._now(now)}")

    def _now(self, now: float) -> str:
        of = f" of {self._level.n_planned:,}" if self._level is not None and self._level.n_planned else ""
        rate = self._sent / max(now - self._begun, 1e-9)
        parts = [f"{self._sent - self._done} in flight", f"{self._sent:,}{of} sent, {rate:,.1f}/s"]
        parts += [f"{self._failed} failed"] if self._failed else []
        if len(self._ttft) > 1:
            cuts = quantiles(self._ttft, n=20, method="inclusive")
            parts.append(f"TTFT p50 {cuts[9]:,.0f} p95 {cuts[18]:,.0f} ms")
        return "  ".join(parts)

    def _end(self, event: LevelFinished) -> None:
        if self._live:
            self._draw("")
        said = "done" if event.ended == "completed" else f"{event.ended}: {event.why}"
        limit = f" (the client was the limit: {event.client_limit})" if event.client_limit else ""
        counts = f"{event.n_sent:,} sent, {self._failed} failed, " if event.ended != "skipped" else ""
        print(visible(f"{self._name(event)}: {counts}{said}{limit}", 400), file=sys.stderr, flush=True)

    def _name(self, event: LevelStarted | LevelFinished) -> str:
        return f"{event.candidate}  {event.layer}, {event.level}"

    def _draw(self, text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{visible(text, 200)}")
        sys.stderr.flush()
