"""Tails and decay: how slow the slow ones are, whether streams stand still, whether long ones slow down."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from speedqual.analysis.streams import Streams
from speedqual.analysis.tails import Tails
from speedqual.analysis.tidy import CLIMBED
from speedqual.analysis.tidy import numbers as numbers_in
from speedqual.display import numbers
from speedqual.errors import UsageError
from speedqual.report.context import Context
from speedqual.report.load_words import bounded, named, pictured, several, twin
from speedqual.report.page import Part, fill
from speedqual.report.tables import Head, Row, Table, value

__all__ = ["named_rows", "section"]

_LEAST = 20  # complete replies from which a tail is worth a figure
_STREAMS = 6
_QUANTILES = ("p50", "p95", "p99")


def section(context: Context) -> Part | None:
    """Absent where no candidate (under load: no level) has 20 complete replies and no stream is long enough."""
    figures = [*_tails(context), *_decay(context)]
    if not figures:
        return None
    body = fill("load.html.j2", context.words, lines=[], table=None, figures=figures)
    return Part("tails", context.words("tails.heading"), body)


def _tails(context: Context) -> Iterator[dict[str, Any]]:
    rows = named_rows(context)
    counts = rows[rows["outcome"] == "ok"].groupby("candidate").size()
    enough = rows[rows["candidate"].isin(counts.index[counts >= _LEAST])]
    try:
        result = Tails()(enough) if len(enough) else None
    except UsageError:
        result = None
    if result is None:
        return
    words = context.words
    head = [Head(words("load.col_quantile", name=name)) for name in _QUANTILES]
    head += [Head(words(f"tails.{name}")) for name in ("p95_with_failures", "n")]
    lines = []
    for row in result.table.to_dict("records"):
        cells = [bounded(row, name, numbers.milliseconds) for name in _QUANTILES]
        cells += [value(numbers.milliseconds(row["p95_with_failures"]), row["p95_with_failures"])]
        failed = words("load.failed", n=row["failed"]) if row["failed"] else ""
        lines.append(Row(str(row["candidate"]), (*cells, value(numbers.count(row["n"]), row["n"], failed))))
    caption = words("tails.caption_load" if context.load is not None else "tails.caption")
    yield pictured(
        context, result, caption, twin(context, head, lines, first="tails.whose"), heading=words("tails.ttft")
    )


def named_rows(context: Context) -> pd.DataFrame:
    """Of a load test the requests in the windows of its climbed layers, by level; else the run's, by candidate."""
    load = context.load
    if load is None:
        return context.main
    frame = load.table.frame
    kept = frame[frame["layer"].isin(CLIMBED) & (frame["first_in_window"] | (frame["outcome"] != "ok"))]
    names = {}
    many = several([{"candidate": name} for name in kept["candidate"].unique()])
    for one in load.table.levels:
        level = named(context, {"level": one.level, "unit": one.unit, "x": one.x})
        if not one.limited:
            names[one.key] = f"{one.candidate}, {level}" if many else level
    keys = list(zip(kept["candidate"], kept["layer"], kept["level"], strict=True))
    told = kept[[key in names for key in keys]]
    return told.assign(candidate=[names[key] for key in keys if key in names])


def _decay(context: Context) -> Iterator[dict[str, Any]]:
    found = _longest(context)
    if not found:
        return
    words = context.words
    result = Streams()([attempt for _, attempt in found], [name for name, _ in found])
    ratios = numbers_in(context.main, "decay_ratio")
    ratios = ratios[np.isfinite(ratios)]
    slow = int((ratios < 0.9).sum())
    line = words("tails.decay", n=ratios.size, slow=slow, ratio=numbers.share(float(np.median(ratios))))
    table, caption = _stream_table(context, result.rates), words("tails.caption_decay")
    yield pictured(context, result, caption, table, heading=words("tails.long"), lines=[line])


def _longest(context: Context) -> list[tuple[str, Any]]:
    """The longest streams that are long enough to tell a decay, in order, spread over the candidates."""
    rows = context.main[context.main["decay_ratio"].notna()]
    if rows.empty:
        return []
    each = max(1, _STREAMS // rows["candidate"].nunique())
    chosen = rows.sort_values("n_out", ascending=False, kind="stable").groupby("candidate", sort=False).head(each)
    wanted = set(chosen.index[:_STREAMS])
    found = []
    for number, record in enumerate(context.run.records):
        if number in wanted:
            found.append((f"{record.trial.candidate}: {record.trial.item}", _counted(record)))
    return _apart(found)


def _counted(record: Any) -> Any:
    good = [attempt for attempt in record.attempts if attempt.outcome == "ok"]
    return good[-1] if good else record.last


def _apart(found: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Names that occur twice get a number."""
    seen: dict[str, int] = {}
    named_: list[tuple[str, Any]] = []
    for name, attempt in found:
        seen[name] = seen.get(name, 0) + 1
        named_.append((name if seen[name] == 1 else f"{name} ({seen[name]})", attempt))
    return named_


def _stream_table(context: Context, rates: pd.DataFrame) -> Table:
    words = context.words
    head = [Head(words(f"tails.{name}")) for name in ("first", "speed", "ratio", "stalls")]
    shown = (("ttft_ms", numbers.milliseconds), ("decode_tok_s", numbers.rate), ("decay_ratio", numbers.share))
    lines = []
    for row in rates.to_dict("records"):
        cells = [value(show(row[name]), row[name]) for name, show in shown]
        lines.append(Row(str(row["stream"]), (*cells, value(numbers.count(row["stalls"]), row["stalls"]))))
    return twin(context, head, lines, first="tails.stream")
