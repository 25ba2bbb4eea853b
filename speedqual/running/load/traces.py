"""What a trace asks when it names lengths and no eval set was given: generated prose of those lengths."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from speedqual.evalsets.generators.load_texts import long_input
from speedqual.evalsets.hashing import hashed
from speedqual.records import EvalSet, Item
from speedqual.running.arrivals import Trace

__all__ = ["trace_set"]

LENGTHS = 8  # different lengths at most: quantiles of those in the trace
SHORTEST = 50


def trace_set(trace: Trace, seed: int = 0) -> EvalSet | None:
    """Prompts of the lengths in the trace, each with a question that can be graded; None where it names none."""
    lengths = sorted(row.input_tokens for row in trace.rows if row.input_tokens is not None)
    if not lengths:
        return None
    ranks = (round(k * (len(lengths) - 1) / (LENGTHS - 1)) for k in range(LENGTHS))
    chosen = dict.fromkeys(max(SHORTEST, lengths[rank]) for rank in ranks)
    items = tuple(item for tokens in chosen for item in _of(tokens, seed))
    return hashed(replace(long_input(SHORTEST, seed), name="trace", items=items))


def _of(tokens: int, seed: int) -> Iterator[Item]:
    for item in long_input(tokens, seed).items:
        name = f"{tokens}-{item.id}"
        yield replace(item, id=name, row={**item.row, "id": name})
