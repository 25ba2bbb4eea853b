"""speedqual: which model, on which tier, is fast enough AND good enough, and where does it fall off a cliff?

Public names are imported when first used, so that ``import speedqual`` stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "Candidate": "speedqual.records:Candidate",
    "Cliffs": "speedqual.analysis.cliffs:Cliffs",
    "EvalSet": "speedqual.records:EvalSet",
    "Frontier": "speedqual.analysis.frontier:Frontier",
    "Limits": "speedqual.running:Limits",
    "LiveView": "speedqual.notebook.live.view:LiveView",
    "Plane": "speedqual.notebook.widgets.plane:Plane",
    "Race": "speedqual.notebook.widgets.race:Race",
    "Retry": "speedqual.running:Retry",
    "Run": "speedqual.running:Run",
    "Scoreboard": "speedqual.analysis.scoreboard:Scoreboard",
    "SpeedqualError": "speedqual.errors:SpeedqualError",
    "candidate": "speedqual.endpoints.naming:parse_candidate",
    "evaluate": "speedqual.running:evaluate",
    "from_table": "speedqual.analysis:from_table",
    "load_evalset": "speedqual.evalsets:load",
    "load_test": "speedqual.running.load:load_test",
    "run_sync": "speedqual.running:run_sync",
    "with_grader": "speedqual.running.own_grader:with_grader",
    "write_report": "speedqual.report:write",
}
"""Public name → where it lives."""

__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'speedqual' has no attribute {name!r}")
    module, attribute = _HOMES[name].split(":")
    value = getattr(import_module(module), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
