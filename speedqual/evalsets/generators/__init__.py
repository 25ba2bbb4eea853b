"""Items made from a seed, so that no model can have learnt them. A card names a generator; the code is ours alone.

``rows(name, seed)`` gives the same rows for the same seed in every process. What a folder ships is ``shipped_rows``, of
the seed ``SHIPPED_SEED``, so that other readers of the folder see an ordinary ``test.jsonl``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["MAX_SEED", "NAMES", "SHIPPED_SEED", "rows", "shipped_rows"]

NAMES = ("long_context", "memory", "reasoning")
SHIPPED_SEED = 0
MAX_SEED = 2**32 - 1


def rows(name: str, seed: int) -> list[dict[str, Any]]:
    """All rows that the generator makes of the seed."""
    made: list[dict[str, Any]] = _module(name).rows(seed)
    return made


def shipped_rows(name: str) -> list[dict[str, Any]]:
    """The rows of ``test.jsonl``: those of ``SHIPPED_SEED``, without the rungs that are too long to ship."""
    made: list[dict[str, Any]] = _module(name).shipped_rows(SHIPPED_SEED)
    return made


def _module(name: str) -> Any:
    return import_module(f"{__name__}.{name}")
