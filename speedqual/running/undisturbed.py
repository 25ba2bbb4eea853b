"""How the interpreter behaves while streams are open: its own housekeeping must not hold up the event loop."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["undisturbed"]

SWITCH_S = 0.0005
YOUNG, MIDDLE = 700, 10
OLD = 500
"""Full collections come fifty times as seldom as by default: each walks everything that the open streams hold, 100 ms
with a thousand of them, and finds a few cycles a request. Young ones go on as ever."""


@contextmanager
def undisturbed() -> Iterator[None]:
    """The loop has the interpreter back from another thread after 0.5 ms instead of 5, and rarely waits for a full
    garbage collection."""
    switch_s, thresholds = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(SWITCH_S)
    gc.set_threshold(YOUNG, MIDDLE, OLD)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        sys.setswitchinterval(switch_s)
