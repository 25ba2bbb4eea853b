"""The short items of the built-in sets: what a first run asks, even of a very small model."""

from __future__ import annotations

from dataclasses import replace

from speedqual.evalsets.builtin import builtin_names
from speedqual.evalsets.hashing import hashed
from speedqual.evalsets.loading import load, select
from speedqual.records import EvalSet

__all__ = ["MAX_TOKENS", "minimal_sets"]

MAX_TOKENS = 64
"""Every right answer fits; a small model that rambles is cut off instead of being waited for."""


def minimal_sets() -> tuple[EvalSet, ...]:
    """``NAME@minimal`` of every built-in set that has such items, answers cut at ``MAX_TOKENS``."""
    loaded = [load(name) for name in builtin_names()]
    sets = [select(one, "minimal") for one in loaded if any("minimal" in item.tags for item in one.items)]
    return tuple(hashed(replace(evalset, max_tokens=MAX_TOKENS)) for evalset in sets)
