"""Public names of a package that are imported when they are first asked for, so that a package costs little."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

__all__ = ["found"]


def found(package: str, homes: Mapping[str, str], name: str) -> Any:
    """What ``name`` of ``package`` stands for; ``homes`` gives its module there. For a package's ``__getattr__``."""
    if name not in homes:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    return getattr(import_module(f"{package}.{homes[name]}"), name)
