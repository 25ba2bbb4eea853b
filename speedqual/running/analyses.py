"""Analyses by name, found when they are called: the room above offers them, so that no import points upward."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from speedqual.errors import MissingDependencyError

__all__ = ["GROUP", "analysis"]

GROUP = "speedqual.analyses"


@cache
def analysis(name: str) -> Callable[..., Any]:
    """The class of parameters that is offered under ``name``. Raises MissingDependencyError when none is."""
    for found in entry_points(group=GROUP, name=name):
        made: Callable[..., Any] = found.load()
        return made
    raise MissingDependencyError(f"nothing installed offers the analysis {name!r}", fix="Reinstall speedqual")
