"""Quality by task: a candidate that is good on the whole can be useless at one of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from speedqual.display import numbers
from speedqual.report.context import Context
from speedqual.report.figures import figure
from speedqual.report.page import Part, fill
from speedqual.report.sections.candidates import quality_cell
from speedqual.report.tables import Cell, Head, Row, Table, value

__all__ = ["section"]


def section(context: Context) -> Part | None:
    """Absent when the run has a single eval set: the main table says it already."""
    if len(context.tasks) < 2:
        return None
    words = context.words
    tasks = {name: {row["candidate"]: row for row in board.to_dict("records")} for name, board in context.tasks.items()}
    floors = {evalset.name: evalset.floor for evalset in context.run.evalsets}
    rows = [
        Row(str(name), tuple(_cell(tasks[task].get(name), floors[task]) for task in tasks))
        for name in context.board["candidate"]
    ]
    table = Table(words("table.tasks_heading"), [Head(name) for name in tasks], rows, words("table.tasks_caption"))
    drawn = None if context.by_task is None else figure(context.by_task, context.lang)
    return Part("tasks", words("table.tasks_heading"), fill("tasks.html.j2", words, table=table, figure=drawn))


def _cell(row: Mapping[Any, Any] | None, floor: float | None) -> Cell:
    if row is None:
        return value(numbers.DASH, None)
    return quality_cell(row, "quality", floor, f"n = {numbers.count(row['n_items'])}")
