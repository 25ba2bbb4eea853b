"""What moves in a notebook: for each kind of view one script and one style, no bundler, nothing fetched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any, Protocol

__all__ = ["Bridge", "open_bridge", "script", "style"]


class Bridge(Protocol):
    """A way to a front end. ``awake``: one has drawn the view; ``key``: the name of its element."""

    @property
    def key(self) -> str: ...

    @property
    def awake(self) -> bool: ...

    def send_view(self, view: dict[str, Any]) -> None:
        """Replace the whole view."""

    def on_choice(self, told: Callable[[Mapping[str, Any]], None]) -> None:
        """Call ``told`` with what somebody chose in the view, each time."""

    def close(self) -> None: ...


def open_bridge(kind: str) -> Bridge | None:
    """A bridge for views of one kind (``status``, ``plane``, ``race``); None where anywidget is not installed."""
    try:
        from speedqual.notebook.widgets.bridge import KINDS
    except ImportError:
        return None
    return KINDS[kind](kind)


def script(kind: str) -> str:
    """The module of a kind: what wakes elements, then what draws the kind. It imports nothing."""
    return _read("wake.js") + _read(f"{kind}.js") + f"\nexport default views({kind});\n"


def style(kind: str) -> str:
    """The style of a kind after the colours that all share."""
    return _read("theme.css") + _read(f"{kind}.css")


def _read(name: str) -> str:
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
