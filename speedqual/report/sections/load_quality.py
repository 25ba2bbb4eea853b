"""Do answers get worse under load? Quality by level, what else became of the requests, and what the rule calls it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from speedqual.display import numbers
from speedqual.report.context import Context
from speedqual.report.load_words import bounded, named, pictured, place_name, several, twin
from speedqual.report.page import Part, fill
from speedqual.report.phrases import translated
from speedqual.report.sections.ladders import slug
from speedqual.report.tables import Cell, Head, Row, value

__all__ = ["section"]

Line = Mapping[Any, Any]
_COLUMNS = ("delivered", "given", "change", "wrong", "truncated", "timed_out", "failed", "items")


def section(context: Context) -> Part | None:
    """Absent unless answers were graded at a level of load."""
    result = context.load.quality if context.load else None
    if result is None:
        return None
    words, rows = context.words, result.table.to_dict("records")
    head = [Head(words(f"load_quality.{name}")) for name in _COLUMNS]
    lines = [Row(place_name(context, row, many=several(rows)), tuple(_cells(row))) for row in rows]
    drawn = pictured(context, result, words("load_quality.caption"), twin(context, head, lines))
    body = fill("load.html.j2", words, lines=list(_said(context, result)), table=None, figures=[drawn])
    return Part("loadquality", words("load_quality.heading"), body)


def _cells(row: Line) -> Iterator[Cell]:
    yield bounded(row, "delivered", numbers.score)
    yield bounded(row, "given", numbers.score)
    yield bounded(row, "change", _change)
    for name in ("wrong", "truncated", "timed_out", "failed"):
        yield bounded(row, name, numbers.share)
    yield value(numbers.count(row["n"]), row["n"])


def _change(value_: float | None) -> str:
    return numbers.DASH if value_ is None or numbers.missing(value_) else f"{100 * value_:+.0f}"


def _said(context: Context, result: Any) -> Iterator[str]:
    """The first and the last level of each ladder, and its label."""
    words = context.words
    labels = {} if result.cliffs is None else {r["ladder"]: r for r in result.cliffs.ladders.to_dict("records")}
    for (candidate, layer), part in result.table.groupby(["candidate", "layer"], sort=False):
        low, high = part.iloc[0], part.iloc[-1]
        ends = {
            "from": named(context, low), "to": named(context, high),
            "quality_from": numbers.score(low["delivered"]), "quality_to": numbers.score(high["delivered"]),
        }  # fmt: skip
        key = "load_quality.said" if len(part) > 1 else "load_quality.said_one"
        said = words(key, candidate=context.called(candidate), **ends)
        label = labels.get(f"{candidate} · {layer}")
        yield said if label is None else said + words("load.join") + _label(context, label)


def _label(context: Context, row: Line) -> str:
    words, why = context.words, translated(row["why"] or "", context.words)
    return words(f"ladder.label_{slug(row['label'])}") + (words("ladder.because", why=why) if why else "")
