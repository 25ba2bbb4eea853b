"""The comm of a view, by anywidget. Only imported where anywidget is installed."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from typing import Any

import anywidget
import traitlets

from speedqual.notebook.widgets import script, style

__all__ = ["KINDS", "Comm"]


class Comm(anywidget.AnyWidget):
    """Carries a view to every front end that listens, and what is chosen there back.

    ``initialize`` of the script runs as soon as the comm opens: it wakes the elements of this ``key`` wherever they
    are shown. So no output holds a widget view, and none is dead when the notebook is opened again without its kernel.
    As any anywidget it can also be displayed itself, where a front end only starts a widget that is displayed.
    """

    key = traitlets.Unicode().tag(sync=True)
    view = traitlets.Dict().tag(sync=True)
    choice = traitlets.Dict().tag(sync=True)

    def __init__(self, kind: str) -> None:
        self._esm, self._css = script(kind), style(kind)
        self.awake = False
        super().__init__(key=secrets.token_hex(8))
        self.on_msg(self._heard)

    def send_view(self, view: dict[str, Any]) -> None:
        self.view = view

    def on_choice(self, told: Callable[[Mapping[str, Any]], None]) -> None:
        self.observe(lambda change: told(change["new"]), names="choice")

    def _heard(self, _widget: object, content: object, _buffers: object) -> None:
        if isinstance(content, dict) and content.get("awake"):
            self.awake = True


class _Status(Comm):
    pass


class _Plane(Comm):
    pass


class _Race(Comm):
    pass


KINDS: Mapping[str, type[Comm]] = {"status": _Status, "plane": _Plane, "race": _Race}
"""A class for each kind: anywidget keeps one style a class, and the last one made would win."""
