"""Errors under load: how requests and attempts ended at each level, what retries recovered, where it was stopped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from speedqual.display import numbers
from speedqual.plots.load.errors import kind_name
from speedqual.plots.words import plot_words
from speedqual.report.context import Context
from speedqual.report.load_words import bounded, pictured, place_name, several, twin
from speedqual.report.page import Part, fill
from speedqual.report.phrases import translated
from speedqual.report.tables import Cell, Head, Row, text, value

__all__ = ["section"]

Line = Mapping[Any, Any]
_FINE = ("ok", "empty", "filtered")


def section(context: Context) -> Part | None:
    """Absent unless an attempt failed or a level was cut off."""
    result = context.load.errors if context.load else None
    if result is None:
        return None
    bad = result.counts[~result.counts["kind"].isin(_FINE)]
    if bad.empty and not (result.table["ended"] == "breaker").any():
        return None
    words, rows = context.words, result.table.to_dict("records")
    names = ("failed", "attempts", "retried", "recovered", "stalled")
    head = [*(Head(words(f"load_errors.{name}")) for name in names), Head(words("load_errors.kinds"))]
    lines = [Row(place_name(context, row, many=several(rows)), tuple(_cells(context, row, bad))) for row in rows]
    drawn = pictured(context, result, words("load_errors.caption"), twin(context, head, lines))
    body = fill("load.html.j2", words, lines=list(_said(context, result)), table=None, figures=[drawn])
    return Part("loaderrors", words("load_errors.heading"), body)


def _cells(context: Context, row: Line, bad: Any) -> Iterator[Cell]:
    share = bounded(row, "share", numbers.share, "lo", "hi")
    yield value(f"{numbers.count(row['failed'])} / {numbers.count(row['n'])}", row["failed"], share.text, *share.small)
    for name in ("attempts", "retried", "recovered", "stalled"):
        yield value(numbers.count(row[name]), row[name])
    mine = bad[(bad["candidate"] == row["candidate"]) & (bad["layer"] == row["layer"]) & (bad["level"] == row["level"])]
    of = "attempts" if (mine["of"] == "attempts").any() else "requests"
    kinds = mine[mine["of"] == of].sort_values("n", ascending=False, kind="stable")
    say = plot_words(context.lang)
    counted = [
        context.words("load_errors.count", kind=kind_name(k, say), n=n)
        for k, n in zip(kinds["kind"], kinds["n"], strict=True)
    ]
    yield text(context.words("page.list").join(counted))


def _said(context: Context, result: Any) -> Iterator[str]:
    words, table = context.words, result.table
    yield words("load_errors.said", n=numbers.count(table["n"].sum()), failed=numbers.count(table["failed"].sum()))
    many = several(table.to_dict("records"))
    for row in table[table["ended"] == "breaker"].to_dict("records"):
        level = place_name(context, row, many=many)
        yield words("load_errors.breaker", level=level, why=translated(row["why"], words))
