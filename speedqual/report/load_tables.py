"""The numbers of the figures of a load test."""

from __future__ import annotations

from typing import Any

from speedqual.display import numbers
from speedqual.report.context import Context
from speedqual.report.load_words import bounded, place_name, several, twin
from speedqual.report.tables import Head, Row, Table, text, value

__all__ = ["by_length", "latencies", "promises", "throughputs", "timeline"]


def promises(context: Context, result: Any) -> Table:
    """Each promise at each level: the share that kept it, and what is shown."""
    words, rows = context.words, result.table.to_dict("records")
    head = [Head(words(f"load.col_{name}")) for name in ("promise", "kept", "of", "state")]
    lines = []
    for row in rows:
        kept = bounded(row, "share", numbers.share, "lo", "hi")
        cells = (text(row["slo"]), kept, value(numbers.count(row["n"]), row["n"]), text(words(f"load.{row['state']}")))
        lines.append(Row(place_name(context, row, many=several(rows)), cells))
    return twin(context, head, lines)


def latencies(context: Context, result: Any) -> Table:
    """Percentiles at each level."""
    words, rows = context.words, result.table.to_dict("records")
    head = [*(Head(words("load.col_quantile", name=name)) for name in result.names), Head(words("load.col_of"))]
    lines = []
    for row in rows:
        cells = [bounded(row, name, numbers.milliseconds) for name in result.names]
        count = value(numbers.count(row["n"]), row["n"])
        lines.append(Row(place_name(context, row, many=several(rows)), (*cells, count)))
    return twin(context, head, lines)


def throughputs(context: Context, result: Any) -> Table:
    """Tokens and replies a second at each level."""
    words, rows = context.words, result.table.to_dict("records")
    head = [Head(words("load.col_throughput")), Head(words("load.col_steady")), Head(words("load.col_done"))]
    lines = []
    for row in rows:
        rest = (value(numbers.rate(row[name]), row[name]) for name in ("tok_s_steady", "done_s"))
        cells = (bounded(row, "tok_s", numbers.rate), *rest)
        lines.append(Row(place_name(context, row, many=several(rows)), cells))
    return twin(context, head, lines)


def by_length(context: Context, result: Any) -> Table:
    """Medians by load and input tokens."""
    wide = result.wide()
    lines = [
        Row(str(name), tuple(value(numbers.milliseconds(v), v) for v in row))
        for name, row in zip(wide.index, wide.to_numpy(float), strict=True)
    ]
    return twin(context, [Head(str(column)) for column in wide.columns], lines)


_BINS = 60


def timeline(context: Context, result: Any) -> Table:
    """The bins, joined so that a reader can take them in."""
    words, every = context.words, max(1, -(-result.table["t_s"].nunique() // _BINS))
    t = result.table.assign(bin=(result.table["t_s"] // (result.bin_s * every)) * result.bin_s * every)
    counts = t.groupby("bin")[["arrivals", "done", "errors", "stalls"]].sum()
    flying = t.groupby(["bin", "t_s"])["in_flight"].sum().groupby("bin").mean()
    head = [Head(words(f"load.col_{name}")) for name in ("in_flight", "sent", "done_n", "errors", "stalls")]
    lines = [
        Row(f"{at:g} s", (value(numbers.rate(flying[at]), flying[at]), *(value(numbers.count(n), n) for n in row)))
        for at, row in zip(counts.index, counts.to_numpy(int), strict=True)
    ]
    return twin(context, head, lines, first="load.since_start")
