"""The speed-quality frontier: the figure, and its numbers as a table for those who cannot see it."""

from __future__ import annotations

from typing import Any

from speedqual.display import numbers
from speedqual.report.context import Context
from speedqual.report.figures import figure
from speedqual.report.page import Part, fill

__all__ = ["section"]


def section(context: Context) -> Part | None:
    """Absent when no candidate has both a time and a score."""
    result = context.frontier
    if result is None:
        return None
    measure = result.measures[0].name
    rows = [_row(row, measure) for row in result.table.to_dict("records")]
    body = fill("frontier.html.j2", context.words, figure=figure(result), rows=rows, n=numbers)
    return Part("frontier", context.words("frontier.heading"), body)


def _row(row: dict[str, Any], measure: str) -> dict[str, Any]:
    names = {"speed": measure, "speed_lo": f"{measure}_lo", "speed_hi": f"{measure}_hi"}
    keys = ("candidate", "quality", "quality_lo", "quality_hi", "on_front", "p_on_front")
    found = {key: row[key] for key in keys} | {new: row[old] for new, old in names.items()}
    return {key: None if isinstance(value, float) and numbers.missing(value) else value for key, value in found.items()}
