"""Where a live view is shown: an output of a notebook cell, or a line of text.

What is in a cell is always complete in itself, as HTML and as text: it survives saving, conversion and a front end
that knows no widgets. Where anywidget is installed a comm is opened beside it, and a front end that takes part
*wakes* the HTML: it draws into its element in place, and the output is only replaced once more, at the end.
"""

from __future__ import annotations

import os
import sys
import time
from html import escape
from typing import Any, Protocol, TextIO

from speedqual.notebook.widgets import Bridge, open_bridge

__all__ = ["Cell", "Screen", "Terminal", "bridge_here", "element", "in_kernel", "screen_here"]

TAG = "speedqual-view"
LINE_S = 10.0  # seconds between two lines where stderr is a file
UNWOKEN_S = 0.5  # between two outputs where the front end wakes none


class Screen(Protocol):
    """A place that can be drawn on again and again; ``final`` is what stays."""

    def show(self, html: str, text: str, state: dict[str, Any], *, line: str, final: bool) -> None: ...


class Cell:
    """One output of the cell that it is first shown in. Safe to call from any thread.

    ``lasting``: it can still be woken when it is final; otherwise its comm ends with it.

    Outputs and comm messages go out through the kernel's own output thread, as ipywidgets documents for updates from a
    thread.
    """

    def __init__(self, bridge: Bridge | None = None, *, lasting: bool = False) -> None:
        self._bridge, self._lasting = bridge, lasting
        self._handle: Any = None
        self._shown_s = 0.0

    def show(self, html: str, text: str, state: dict[str, Any], *, line: str = "", final: bool = False) -> None:
        """Send the state to where it is awake; replace the output where it is not, and at the end."""
        if self._bridge is not None:
            self._bridge.send_view(state)
        now_s = time.monotonic()
        awake = self._bridge is not None and self._bridge.awake
        if self._handle is None or final or (not awake and now_s - self._shown_s >= UNWOKEN_S):
            self._shown_s = now_s
            self._output({"text/html": self._element(html, final), "text/plain": text})
        if final and not self._lasting and self._bridge is not None:
            self._bridge.close()

    def _output(self, bundle: dict[str, str]) -> None:
        from IPython.display import DisplayHandle

        if self._handle is None:
            self._handle = DisplayHandle()  # type: ignore[no-untyped-call]
            self._handle.display(bundle, raw=True)
        else:
            self._handle.update(bundle, raw=True)

    def _element(self, html: str, final: bool) -> str:
        asleep = self._bridge is None or (final and not self._lasting)
        return html if asleep or self._bridge is None else element(self._bridge.key, html)


class Terminal:
    """A line that is written over where there is a terminal, a line now and then where there is a file."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._live = self._stream.isatty()
        self._shown_s = -LINE_S

    def show(self, html: str, text: str, state: dict[str, Any], *, line: str, final: bool) -> None:
        now_s = time.monotonic()
        if self._live:
            self._stream.write(f"\r\x1b[2K{line}" + ("\n" if final else ""))
        elif final or now_s - self._shown_s >= LINE_S:
            self._shown_s = now_s
            self._stream.write(f"{line}\n")
        self._stream.flush()


def element(key: str, html: str) -> str:
    """``html`` inside the element that a front end may wake under ``key``."""
    return f'<{TAG} data-view="{escape(key)}">{html}</{TAG}>'


def in_kernel() -> bool:
    """Whether this is a notebook: an IPython shell with a kernel. Nothing is imported to find out."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


def bridge_here(kind: str) -> Bridge | None:
    """A bridge where a notebook server has started this kernel, as its sessions say in the environment.

    A notebook that is run by a program (nbconvert, papermill) has nobody to wake it, and would only carry the scripts.
    """
    return open_bridge(kind) if in_kernel() and os.environ.get("JPY_SESSION_NAME") else None


def screen_here(kind: str) -> Screen:
    """A cell's output in a notebook, else stderr."""
    return Cell(bridge_here(kind)) if in_kernel() else Terminal()
