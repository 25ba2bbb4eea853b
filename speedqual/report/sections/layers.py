"""What a long input costs, what a shared prefix saves, what a pause brings: the layers beside the climb of load."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from speedqual.display import numbers
from speedqual.display.numbers import digits
from speedqual.report.context import Context
from speedqual.report.load_words import bounded, named, pictured, several, twin
from speedqual.report.page import Part, fill
from speedqual.report.tables import Cell, Head, Row, text, value

__all__ = ["section"]

Line = Mapping[Any, Any]


def section(context: Context) -> Part | None:
    """Absent unless one of these layers was run."""
    if context.load is None:
        return None
    figures = [*_lengths(context), *_prefix(context), *_cold(context)]
    if not figures:
        return None
    body = fill("load.html.j2", context.words, lines=[], table=None, figures=figures)
    return Part("layers", context.words("layers.heading"), body)


def _whose(row: Line, rows: list[Line], name: str) -> str:
    return f"{row['candidate']}, {name}" if several(rows) else name


def _lengths(context: Context) -> Iterator[dict[str, Any]]:
    result = context.load.lengths if context.load else None
    if result is None or not result.table["n"].any():
        return
    words, rows = context.words, result.table.to_dict("records")
    head = [Head(words(f"layers.{name}")) for name in ("tokens", "ttft", "ttft_p95", "decode", "n")]
    lines = []
    for row in rows:
        name = named(context, {"level": row["level"], "unit": "tokens", "x": row["x"]})
        cells = (
            value(numbers.count(row["n_prompt"]), row["n_prompt"]),
            bounded(row, "ttft_ms_p50", numbers.milliseconds),
            bounded(row, "ttft_ms_p95", numbers.milliseconds),
            bounded(row, "decode_tok_s_p50", numbers.rate),
            value(numbers.count(row["n"]), row["n"], _limited(context, row)),
        )
        lines.append(Row(_whose(row, rows, name), cells))
    yield pictured(
        context, result, words("layers.caption_lengths"), twin(context, head, lines), heading=words("layers.lengths"),
        lines=_slopes(context, result.slopes.to_dict("records")),
    )  # fmt: skip


def _limited(context: Context, row: Line) -> str:
    return context.words("load.client_limited") if row["client_limited"] else ""


def _slopes(context: Context, rows: list[Line]) -> Iterator[str]:
    for row in rows:
        if not numbers.missing(row["ms_per_1000"]):
            bounds = {name: numbers.milliseconds(row[name]) for name in ("ms_per_1000", "lo", "hi")}
            yield context.words("layers.slope", candidate=context.called(row["candidate"]), **bounds)


def _prefix(context: Context) -> Iterator[dict[str, Any]]:
    result = context.load.prefix if context.load else None
    if result is None:
        return
    words, rows = context.words, result.table.to_dict("records")
    columns = ("cold", "warm", "saved", "shared_tokens", "cached_tokens", "per_token", "pairs")
    lines = [Row(_whose(row, rows, _share(context, row)), tuple(_prefix_cells(context, row))) for row in rows]
    head = [Head(words(f"layers.{name}")) for name in columns]
    yield pictured(
        context, result, words("layers.caption_prefix"), twin(context, head, lines, first="layers.share"),
        heading=words("layers.prefix"), lines=_prefix_lines(context, rows),
    )  # fmt: skip


def _share(context: Context, row: Line) -> str:
    key = "layers.line_at" if row["differs"] == "line" else "layers.share_of"
    return context.words(key, share=numbers.percent(row["x"]))


def _prefix_cells(context: Context, row: Line) -> Iterator[Cell]:
    for name in ("cold_ms", "warm_ms"):
        yield value(numbers.milliseconds(row[name]), row[name])
    yield bounded(row, "saved_ms", _ms, "saved_lo", "saved_hi")
    yield value(numbers.count(row["shared_tokens"]), row["shared_tokens"])
    said = context.words(f"layers.counts_{row['counts']}")
    yield value(numbers.count(row["cached_tokens"]), row["cached_tokens"], said)
    yield bounded(row, "saved_per_token_ms", _small, "per_token_lo", "per_token_hi")
    yield value(numbers.count(row["n"]), row["n"])


def _ms(ms: float | None) -> str:
    """Milliseconds that may be below zero."""
    return f"-{numbers.milliseconds(-ms)}" if ms is not None and ms < 0 else numbers.milliseconds(ms)


def _small(ms: float | None) -> str:
    return digits(ms)


def _prefix_lines(context: Context, rows: list[Line]) -> Iterator[str]:
    """What the whole prefix saves, and where usage and prompt do not agree."""
    words = context.words
    for name in dict.fromkeys(row["candidate"] for row in rows):
        mine = [row for row in rows if row["candidate"] == name]
        known = [row for row in mine if not numbers.missing(row["saved_ms"]) and row["differs"] != "line"]
        if known:
            best = max(known, key=lambda row: float(row["x"]))
            bounds = {"saved": _ms(best["saved_ms"]), "lo": _ms(best["saved_lo"]), "hi": _ms(best["saved_hi"])}
            yield words("layers.saves", candidate=context.called(name), share=numbers.percent(best["x"]), **bounds)
        odd = [_share(context, row) for row in mine if row["counts"] in ("fewer", "more")]
        if odd:
            yield words("layers.disagree", candidate=context.called(name), shares=words("page.list").join(odd))
        if mine and all(row["counts"] == "missing" for row in mine):
            yield words("layers.uncounted", candidate=context.called(name))
        if any((row["cached_cold"] or 0) > 128 for row in mine):
            yield words("layers.not_cold", candidate=context.called(name))


def _cold(context: Context) -> Iterator[dict[str, Any]]:
    result = context.load.cold if context.load else None
    if result is None:
        return
    words, rows = context.words, result.table.to_dict("records")
    head = [Head(words(f"layers.{name}")) for name in ("connection", "after", "without", "excess", "loading", "n")]
    lines = []
    for row in rows:
        cells = (
            text(words(f"layers.connection_{row['connection']}")),
            value(numbers.milliseconds(row["cold_ms"]), row["cold_ms"]),
            value(numbers.milliseconds(row["warm_ms"]), row["warm_ms"]),
            bounded(row, "excess_ms", _ms, "excess_lo", "excess_hi"),
            value(numbers.milliseconds(row["load_ms"]), row["load_ms"]),
            value(numbers.count(row["n"]), row["n"], _limited(context, row)),
        )
        lines.append(Row(_whose(row, rows, words("layers.pause", seconds=f"{row['x']:g}")), cells))
    yield pictured(
        context, result, words("layers.caption_cold"), twin(context, head, lines, first="layers.idle"),
        heading=words("layers.cold_starts"),
    )  # fmt: skip
