"""What is asked: eval sets as folders, their card, prompts and content hash."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "Problem": "problems",
    "build_prompt": "prompts",
    "builtin_names": "builtin",
    "check": "checking",
    "describe": "describing",
    "load": "loading",
    "minimal_sets": "minimal",
    "scaffold": "scaffolding",
    "scaffold_from_csv": "tables",
}

__all__ = [
    "Problem",
    "build_prompt",
    "builtin_names",
    "check",
    "describe",
    "load",
    "minimal_sets",
    "scaffold",
    "scaffold_from_csv",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
