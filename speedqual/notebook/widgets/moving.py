"""What the plane and the race share: outputs that are drawn on, a comm where a front end may take part."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from speedqual.notebook.live.painter import Painter
from speedqual.notebook.screens import Cell, bridge_here
from speedqual.notebook.widgets import Bridge, open_bridge

__all__ = ["Drawn", "Moving"]


class Drawn(Protocol):
    """A moment in its three forms: static HTML, text, and what the script draws."""

    def html(self) -> str: ...

    def text(self) -> str: ...

    def view(self) -> dict[str, Any]: ...


class Moving(ABC):
    """Shows what ``_picture`` gives in every cell that it was displayed in."""

    _kind: ClassVar[str]

    def __init__(self) -> None:
        self._cells: list[Cell] = []
        self._painter = Painter(self._show)
        self._bridge: Bridge | None = None
        self._connect(bridge_here(self._kind))

    @property
    def widget(self) -> Any:
        """The anywidget itself, to display or to lay out with others; None where anywidget is not installed."""
        if self._bridge is None:
            self._connect(open_bridge(self._kind))
            self._show()
        return self._bridge

    @abstractmethod
    def _picture(self) -> Drawn: ...

    @property
    @abstractmethod
    def _over(self) -> bool:
        """Whether what is shown is what stays."""

    def _choose(self, choice: Mapping[str, Any]) -> None:
        """Take up what somebody chose in a front end; where nothing can be chosen there is nothing to do."""
        return

    def _connect(self, bridge: Bridge | None) -> None:
        self._bridge = bridge
        if bridge is not None:
            bridge.on_choice(self._choose)

    def _show(self) -> None:
        shown = self._picture()
        if self._bridge is not None:
            self._bridge.send_view(shown.view())
        for cell in self._cells:
            cell.show(shown.html(), shown.text(), shown.view(), final=self._over)

    def _ipython_display_(self) -> None:
        self._cells.append(Cell(self._bridge, lasting=True))
        self._show()

    def _repr_html_(self) -> str:
        return self._picture().html()
