"""Show something in another language, or without a notebook's own choice of how."""

from __future__ import annotations

from typing import Any

from speedqual import display

__all__ = ["Shown", "show"]


class Shown:
    """What a cell shows of ``thing``: HTML made with the given options, and its line of text."""

    def __init__(self, thing: Any, **options: Any) -> None:
        self._thing, self._options = thing, options

    def _repr_html_(self) -> str:
        return str(display.render("html", self._thing, **self._options))

    def __repr__(self) -> str:
        line = display.find("text", self._thing)
        return repr(self._thing) if line is None else str(line(self._thing))


def show(thing: Any, lang: str = "en") -> Shown:
    """A run, an eval set or the result of an analysis as a cell shows it, in ``lang``."""
    return Shown(thing, lang=lang)
