"""Draws a few times a second on a thread of its own, however many events come: watching slows nothing."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

__all__ = ["PERIOD_S", "Painter"]

PERIOD_S = 0.25
REST = 19  # times as long as it drew it rests
IDLE_S = 1.0  # elapsed time moves on even where nothing happens
FORGOTTEN_S = 3600.0  # a run that has said nothing for so long has gone without a word

_log = logging.getLogger("speedqual.notebook")


class Painter:
    """Calls ``draw`` soon after ``touch``, at most every ``PERIOD_S`` and for at most a twentieth of the time.

    ``finish`` draws once more and stops.
    """

    def __init__(self, draw: Callable[[], None]) -> None:
        self._draw = draw
        self._touched, self._over = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    def touch(self) -> None:
        """Say that something has changed; returns at once."""
        self._touched.set()
        if self._thread is None or not self._thread.is_alive():
            self._over.clear()
            self._thread = threading.Thread(target=self._work, name="speedqual-painter", daemon=True)
            self._thread.start()

    def finish(self) -> None:
        """Stop, then draw the last state here and now."""
        self._over.set()
        if self._thread is not None:
            self._thread.join(timeout=5)
        self._safely()

    def _work(self) -> None:
        silent_s = 0.0
        while silent_s < FORGOTTEN_S and not self._over.is_set():
            changed = self._touched.wait(IDLE_S)
            self._touched.clear()
            silent_s = 0.0 if changed else silent_s + IDLE_S
            begin_s = time.monotonic()
            self._safely()
            self._over.wait(max(PERIOD_S, REST * (time.monotonic() - begin_s)))

    def _safely(self) -> None:
        try:
            self._draw()
        except Exception:
            _log.warning("a live view could not be drawn", exc_info=True)
