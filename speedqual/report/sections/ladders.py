"""Ladders of one model: quality rung by rung, the drops between, and what the rule calls them."""

from __future__ import annotations

from typing import Any

from speedqual import display
from speedqual.display import numbers
from speedqual.report.context import Context
from speedqual.report.figures import figure
from speedqual.report.page import Part, fill

__all__ = ["section"]


def section(context: Context) -> Part | None:
    """Absent when no candidates stand on a ladder."""
    result = context.cliffs
    if result is None or not len(result.ladders):
        return None
    words = context.words
    ladders = [_ladder(context, row) for row in result.to_dict()["ladders"]]
    drawn = figure(result) if display.find("plot", result) is not None else None
    body = fill("ladders.html.j2", words, ladders=ladders, figure=drawn, n=numbers)
    return Part("ladders", words("ladder.heading"), body)


def _ladder(context: Context, row: dict[str, Any]) -> dict[str, Any]:
    steps = [*row["steps"], None]
    rungs = list(zip(row["rungs"], steps, strict=True))
    return {"name": row["ladder"], "rungs": rungs, "said": context.words(f"ladder.label_{slug(row['label'])}")}


def slug(label: str) -> str:
    """A label as a key of the catalogue."""
    return label.replace(" ", "_")
