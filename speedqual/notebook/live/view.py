"""The live view of a run: an observer that shows counts, speeds, cost and time to go, and stays after the run."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from speedqual.notebook.live.painter import Painter
from speedqual.notebook.live.picture import picture
from speedqual.notebook.live.tally import Tally
from speedqual.notebook.screens import Screen, in_kernel, screen_here
from speedqual.notebook.words import notebook_words
from speedqual.running.watching import Finished, Observer, RunEvent

__all__ = ["LiveView", "automatic"]


class LiveView:
    """Shows a run as it goes on: trials by outcome, TTFT, tokens a second, cost against budget, time to go.

    In a notebook every run has one of its own accord; give one as an observer for other words, or elsewhere::

        run = await sq.evaluate(candidates, evalsets, observers=[sq.LiveView(lang="zh")])

    In a notebook it is one output that changes in place, and what stays there after the run is plain HTML and text.
    Elsewhere it is a line on stderr. It counts on the watchers' thread and draws four times a second at most.
    """

    def __init__(self, *, lang: str = "en", screen: Screen | None = None) -> None:
        self._say = notebook_words(lang)
        self._screen = screen_here("status") if screen is None else screen
        self._tally, self._lock = Tally(), threading.Lock()
        self._painter = Painter(self._draw)
        self._clock: Callable[[], float] = time.monotonic
        self._draw()

    def __call__(self, event: RunEvent) -> None:
        with self._lock:
            self._tally.take(event, self._clock())
        if isinstance(event, Finished):
            self._painter.finish()
        else:
            self._painter.touch()

    def _draw(self) -> None:
        with self._lock:
            standing = self._tally.standing(self._clock())
        shown = picture(standing, self._say)
        self._screen.show(shown.html(), shown.text(), shown.state(), line=shown.line(), final=standing.over)


def automatic(watchers: object) -> Observer | None:
    """The view of a run that nobody brought an observer for: one in a notebook, none elsewhere."""
    return LiveView() if in_kernel() else None
