"""Load tests: levels of arrivals sent to candidates, timed, graded and kept like any other run."""

from __future__ import annotations

from typing import Any

from speedqual.lazy import found

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
    return found(__name__, _HOMES, name)
