"""Quality at a deadline: who has delivered most by when, and where the lead changes hands."""

from __future__ import annotations

from typing import Any

import numpy as np

from speedqual.display import numbers
from speedqual.report.context import Context
from speedqual.report.figures import figure
from speedqual.report.page import Part, fill
from speedqual.report.tables import Cell, Head, Row, Table, between, value

__all__ = ["section"]

_LIMITS = 6  # deadlines in the table: a column each


def section(context: Context) -> Part | None:
    """Absent when no candidate has both a time and a score."""
    result, words = context.deadlines, context.words
    if result is None or result.switches.empty:
        return None
    limits = _limits(result)
    head = [Head(words("deadline.by", limit=numbers.seconds(limit))) for limit in limits]
    rows = [Row(str(name), tuple(_cells(part, limits))) for name, part in result.table.groupby("candidate", sort=False)]
    body = fill(
        "figure.html.j2",
        words,
        figure=figure(result, context.lang),
        caption=words("deadline.caption"),
        lines=[_leaders(context)],
        table=Table(words("page.figure_table"), head, rows),
    )
    return Part("deadlines", words("deadline.heading"), body)


def _limits(result: Any) -> list[float]:
    grid = result.grid
    return [float(grid[i]) for i in sorted({int(i) for i in np.linspace(0, len(grid) - 1, _LIMITS + 1)[1:]})]


def _cells(part: Any, limits: list[float]) -> list[Cell]:
    rows = part.set_index("deadline")
    shown = []
    for limit in limits:
        row = rows.loc[limit]
        bounds = between(numbers.score(row["quality_lo"]), numbers.score(row["quality_hi"]))
        shown.append(value(numbers.score(row["quality"]), row["quality"], bounds))
    return shown


def _leaders(context: Context) -> str:
    """Who is best from when on, the last of each run of changes only: between them the lead flickers."""
    words, switches = context.words, context.deadlines.switches.to_dict("records")
    last = {row["candidate"]: row for row in switches}  # a candidate's last time in the lead says enough
    parts = [
        words("deadline.leader", candidate=context.called(row["candidate"]), start=numbers.seconds(row["start"]))
        for row in sorted(last.values(), key=lambda row: float(row["start"]))
    ]
    return words("deadline.leaders", leaders=words("page.list").join(parts))
