"""The eval sets that come with speedqual: inside an installed wheel, or beside the package in a source tree."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import speedqual

__all__ = ["builtin_folder", "builtin_names"]


@cache
def _root() -> Path:
    package = Path(speedqual.__file__).parent
    installed = package / "_builtin_evalsets"
    return installed if installed.is_dir() else package.parent / "evalsets"


def builtin_names() -> tuple[str, ...]:
    """Names of the built-in eval sets, sorted."""
    return tuple(sorted(folder.parent.name for folder in _root().glob("*/test.jsonl")))


def builtin_folder(name: str) -> Path | None:
    """The folder of the built-in set ``name``; None when there is none of that name."""
    return _root() / name if name in builtin_names() else None
