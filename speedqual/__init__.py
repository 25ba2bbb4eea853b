"""speedqual: which model, on which tier, is fast enough AND good enough, and where does it fall off a cliff?

Public names are imported when first used, so that ``import speedqual`` stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "Candidate": "speedqual.records",
    "EvalSet": "speedqual.records",
    "Grade": "speedqual.records",
    "Record": "speedqual.records",
    "SpeedqualError": "speedqual.errors",
}

__all__ = [*sorted(_HOMES), "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'speedqual' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
