"""Load tests: levels of arrivals sent to candidates, timed, graded and kept like any other run."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "BreakerRule": "breaker",
    "Judge": "level",
    "Level": "plan",
    "LoadPlan": "plan",
    "Search": "search",
    "Seen": "tally",
    "load_test": "tester",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
