"""Asking: the evaluator, its plan and limits, and the run folder that it writes."""

from __future__ import annotations

from typing import Any

from speedqual.lazy import found

_HOMES = {
    "Estimate": "plan",
    "Finished": "watching",
    "Graded": "watching",
    "LevelFinished": "watching",
    "LevelStarted": "watching",
    "Limits": "settings",
    "Observer": "watching",
    "Policy": "policy",
    "Retry": "settings",
    "Route": "route",
    "Run": "run",
    "RunEvent": "watching",
    "Settings": "settings",
    "Started": "watching",
    "TrialFinished": "watching",
    "TrialStarted": "watching",
    "estimate": "evaluator",
    "evaluate": "evaluator",
    "regrade": "judging",
    "run_sync": "evaluator",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    return found(__name__, _HOMES, name)
