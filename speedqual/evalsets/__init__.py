"""What is asked: eval sets as folders, their card, prompts and content hash."""

from __future__ import annotations

from typing import Any

from speedqual.lazy import found

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
    return found(__name__, _HOMES, name)
