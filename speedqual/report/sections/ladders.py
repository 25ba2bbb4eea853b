"""Ladders of one model: quality rung by rung, the drops between, what the rule calls them, on what evidence."""

from __future__ import annotations

from typing import Any

from speedqual.analysis.faults import rung_rates
from speedqual.analysis.tidy import tidy
from speedqual.display import numbers
from speedqual.plots.words import plot_words
from speedqual.report.context import Context
from speedqual.report.figures import figure
from speedqual.report.page import Part, fill
from speedqual.report.phrases import translated
from speedqual.report.tables import Cell, Head, Row, Table, between, text, value
from speedqual.report.words import Words

__all__ = ["section", "slug"]


def section(context: Context) -> Part | None:
    """Absent when no candidates stand on a ladder."""
    result = context.cliffs
    if result is None or not len(result.ladders):
        return None
    words, table = context.words, tidy(context.main)
    ladders = [
        _ladder(words, row, rung_rates(table, judged.ladder))
        for row, judged in zip(result.to_dict()["ladders"], result.judged, strict=True)
    ]
    body = fill("ladders.html.j2", words, ladders=ladders, figure=figure(result, context.lang))
    return Part("ladders", words("ladder.heading"), body)


def slug(label: str) -> str:
    """A label as a key of the catalogue."""
    return label.replace(" ", "_")


def _ladder(words: Words, row: dict[str, Any], rates: list[dict[str, float]]) -> dict[str, Any]:
    why = translated(row["why"], words)
    said = words(f"ladder.label_{slug(row['label'])}") + (words("ladder.because", why=why) if why else "")
    return {
        "name": row["ladder"],
        "said": said,
        "rungs": _rungs(words, row),
        "steps": _steps(words, row) if row["steps"] else None,
        "faults": _faults(words, row, rates) if rates else None,
    }


def _rungs(words: Words, row: dict[str, Any]) -> Table:
    head = (Head(words("ladder.quality")), Head(words("ladder.lenient")), Head(words("table.n")))
    rows = [Row(rung["rung"], _rung_cells(rung)) for rung in row["rungs"]]
    return Table(str(row["ladder"]), head, rows, first=words("ladder.rung"))


def _rung_cells(rung: dict[str, Any]) -> tuple[Cell, ...]:
    bounds = between(numbers.score(rung["quality_lo"]), numbers.score(rung["quality_hi"]))
    return (
        value(numbers.score(rung["quality"]), rung["quality"], bounds),
        value(numbers.score(rung["quality_lenient"]), rung["quality_lenient"]),
        value(numbers.count(rung["n"]), rung["n"]),
    )


def _steps(words: Words, row: dict[str, Any]) -> Table:
    names = ("drop", "p_drop", "ratio", "p_jump", "p_logit", "p_edge", "label")
    head = [Head(words(f"ladder.{name}"), is_text=name == "label") for name in names]
    rows = [Row(f"{step['from']} → {step['to']}", _step_cells(words, step)) for step in row["steps"]]
    return Table(words("ladder.evidence"), head, rows, first=words("ladder.step"))


def _step_cells(words: Words, step: dict[str, Any]) -> tuple[Cell, ...]:
    bounds = between(numbers.points(step["drop_lo"]), numbers.points(step["drop_hi"]))
    tests = (value(_p(step[name]), step[name]) for name in ("p_jump", "p_logit", "p_edge"))
    ratio = "∞" if step["ratio"] is None and step["drop"] else f"{step['ratio'] or 0:.1f} ×"
    return (
        value(numbers.points(step["drop"]), step["drop"], bounds),
        value(_p(step["p_drop"]), step["p_drop"]),
        value(ratio, step["ratio"]),
        *tests,
        text(plot_words(words.lang).label(step["label"])),
    )


def _p(value: float | None) -> str:
    if value is None or numbers.missing(value):
        return numbers.DASH
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _faults(words: Words, row: dict[str, Any], rates: list[dict[str, float]]) -> Table:
    checks = [name for name in rates[0] if name != "tokens"]
    head = [Head(translated(name, words)) for name in checks] + [Head(words("ladder.tokens"))]
    rows = [
        Row(
            rung["rung"],
            (
                *(value(numbers.share(rate[name]), rate[name]) for name in checks),
                value(numbers.count(rate["tokens"] or None), rate["tokens"]),
            ),
        )
        for rung, rate in zip(row["rungs"], rates, strict=True)
    ]
    return Table(words("ladder.faults"), head, rows, caption=words("ladder.faults_caption"), first=words("ladder.rung"))
