"""Quality by task: a candidate that is good on the whole can be useless at one of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from speedqual.display import numbers
from speedqual.report.context import Context
from speedqual.report.page import Part, fill

__all__ = ["section"]


def section(context: Context) -> Part | None:
    """Absent when the run has a single eval set: the main table says it already."""
    if len(context.tasks) < 2:
        return None
    tasks = {name: {row["candidate"]: row for row in board.to_dict("records")} for name, board in context.tasks.items()}
    rows = [(name, [_cell(tasks[task].get(name)) for task in tasks]) for name in context.board["candidate"]]
    body = fill("tasks.html.j2", context.words, names=list(tasks), rows=rows, n=numbers)
    return Part("tasks", context.words("table.tasks_heading"), body)


def _cell(row: Mapping[Any, Any] | None) -> dict[str, Any]:
    keys = ("quality", "quality_lo", "quality_hi", "n_items")
    return {key: None if row is None or numbers.missing(row[key]) else row[key] for key in keys}
