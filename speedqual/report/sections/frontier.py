"""The speed-quality frontier: the figure, and its numbers as a table for those who cannot see it."""

from __future__ import annotations

from typing import Any

from speedqual.display import numbers
from speedqual.report.context import Context
from speedqual.report.figures import figure
from speedqual.report.page import Part, fill
from speedqual.report.tables import Head, Row, Table, between, value
from speedqual.report.words import Words

__all__ = ["section"]


def section(context: Context) -> Part | None:
    """Absent when no candidate has both a time and a score."""
    result, words = context.frontier, context.words
    if result is None:
        return None
    rows = tuple(_row(row, result.measures[0].name) for row in result.table.to_dict("records"))
    body = fill(
        "figure.html.j2",
        words,
        figure=figure(result, context.lang),
        caption=words("frontier.caption"),
        table=Table(words("page.figure_table"), _head(words), rows),
    )
    return Part("frontier", words("frontier.heading"), body)


def _head(words: Words) -> tuple[Head, ...]:
    return (
        Head(words("table.e2e"), words("table.p50")),
        Head(words("table.quality")),
        Head(words("frontier.p_on_front")),
        Head(words("frontier.regret")),
    )


def _row(row: dict[str, Any], measure: str) -> Row:
    speed, fast = numbers.milliseconds, row[measure]
    cells = (
        value(speed(fast), fast, between(speed(row[f"{measure}_lo"]), speed(row[f"{measure}_hi"]))),
        value(
            numbers.score(row["quality"]),
            row["quality"],
            between(numbers.score(row["quality_lo"]), numbers.score(row["quality_hi"])),
        ),
        value(numbers.share(row["p_on_front"]), row["p_on_front"]),
        value(numbers.points(row["regret"]), row["regret"]),
    )
    return Row(str(row["candidate"]), cells, marked=bool(row["on_front"]))
