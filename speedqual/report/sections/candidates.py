"""Every candidate: paired differences from the best one, and the full table of quality, speed, failures and cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from speedqual.display import numbers
from speedqual.plots.words import plot_words
from speedqual.report.context import Context
from speedqual.report.figures import figure
from speedqual.report.page import Part, fill
from speedqual.report.tables import Cell, Head, Row, Table, between, text, value
from speedqual.report.words import Words

__all__ = ["quality_cell", "section"]


def section(context: Context) -> Part | None:
    """Absent when no trial was finished."""
    if not len(context.board):
        return None
    words, paired = context.words, context.paired
    body = fill(
        "candidates.html.j2",
        words,
        figure=None if paired is None else figure(paired, context.lang),
        reference="" if paired is None else context.called(paired.reference),
        pairs=None if paired is None else _pairs(context),
        table=Table(words("table.heading"), _head(words), _rows(context), words("table.caption")),
    )
    return Part("candidates", words("table.heading"), body)


def _pairs(context: Context) -> Table:
    words, say = context.words, plot_words(context.lang)
    head = [
        Head(words("paired.difference")),
        Head("p"),
        Head(words("table.n")),
        Head(words("paired.label"), is_text=True),
    ]
    rows = []
    for row in context.paired.table.to_dict("records"):
        bounds = between(numbers.points(row["difference_lo"]), numbers.points(row["difference_hi"]))
        p = numbers.DASH if numbers.missing(row["p"]) else f"{row['p']:.3f}"
        cells = (
            value(numbers.points(row["difference"]), row["difference"], bounds),
            value(p, row["p"]),
            value(numbers.count(row["n"]), row["n"]),
            text(say.label(row["label"])),
        )
        rows.append(Row(str(row["candidate"]), cells))
    return Table(words("page.figure_table"), head, rows)


def _head(words: Words) -> list[Head]:
    median = words("table.p50")
    return [
        Head(words("table.quality")),
        Head(words("table.answered")),
        Head(words("table.ttft"), median),
        Head(words("table.e2e"), median),
        Head(words("table.decode"), median),
        Head(words("table.cost")),
        Head(words("table.n"), words("table.ok")),
    ]


def _rows(context: Context) -> list[Row]:
    front = set(context.frontier.front) if context.frontier is not None else set()
    dates = {name: (price or {}).get("as_of") or "" for name, price in context.manifest["prices"].items()}
    return [
        Row(
            str(row["candidate"]),
            _cells(row, context, dates.get(str(row["candidate"]), "")),
            marked=row["candidate"] in front,
            candidate=True,
        )
        for row in context.board.to_dict("records")
    ]


def _cells(row: Mapping[Any, Any], context: Context, date: str) -> tuple[Cell, ...]:
    words = context.words
    answered = between(numbers.score(row["answered_lo"]), numbers.score(row["answered_hi"]))
    return (
        quality_cell(row, "quality", context.floor),
        value(numbers.score(row["answered"]), row["answered"], answered),
        _time(row, "ttft_ms", words),
        _time(row, "e2e_ms", words),
        _rate(row, words),
        _cost(row, context, date),
        value(numbers.count(row["n_items"]), row["n_items"], f"{row['n_ok']:,} / {row['n']:,}"),
    )


def quality_cell(row: Mapping[Any, Any], name: str, floor: float | None, *small: str) -> Cell:
    """A quality with its interval, in figures and drawn."""
    mean, lo, hi = (row[key] for key in (name, f"{name}_lo", f"{name}_hi"))
    shown = value(numbers.score(mean), mean, between(numbers.score(lo), numbers.score(hi)), *small)
    known = not any(numbers.missing(number) for number in (mean, lo, hi))
    return replace(shown, bar=(float(mean), float(lo), float(hi), floor)) if known else shown


def _time(row: Mapping[Any, Any], metric: str, words: Words) -> Cell:
    p50, lo, hi, p95, p95_lo, p95_hi = (
        numbers.milliseconds(row[f"{metric}_{end}"]) for end in ("p50", "p50_lo", "p50_hi", "p95", "p95_lo", "p95_hi")
    )
    if numbers.missing(row[f"{metric}_p50"]):
        return value(numbers.DASH, None)
    bounds = words("table.too_small") if numbers.missing(row[f"{metric}_p95_hi"]) else between(p95_lo, p95_hi)
    return value(p50, row[f"{metric}_p50"], between(lo, hi), f"{words('table.p95')} {p95}", bounds)


def _rate(row: Mapping[Any, Any], words: Words) -> Cell:
    p50, lo, hi, tail = (numbers.rate(row[f"decode_tok_s_{end}"]) for end in ("p50", "p50_lo", "p50_hi", "p5"))
    if numbers.missing(row["decode_tok_s_p50"]):
        return value(numbers.DASH, None)
    return value(p50, row["decode_tok_s_p50"], between(lo, hi), f"{words('table.p5')} {tail}")


def _cost(row: Mapping[Any, Any], context: Context, date: str) -> Cell:
    words, cost = context.words, row["cost_per_success_usd"]
    if not numbers.missing(cost):
        return value(numbers.usd(cost), cost, words("table.priced", date=date) if date else "")
    return value(words("table.own_machine") if context.local else words("page.unknown"), None)
