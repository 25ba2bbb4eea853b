"""Under load: the knee and goodput, saturation, every level with what may be believed of it, latency and time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from speedqual.display import numbers
from speedqual.display.numbers import digits
from speedqual.report import load_tables
from speedqual.report.context import Context
from speedqual.report.load_words import ladder_name, level_names, named, pictured, place_name, several
from speedqual.report.page import Part, fill
from speedqual.report.phrases import translated
from speedqual.report.tables import Cell, Head, Row, Table, between, text, value

__all__ = ["knees", "levels_table", "section", "sentences"]

Line = Mapping[Any, Any]
_COLUMNS = ("requests", "rate", "in_flight", "throughput", "ttft", "e2e", "client", "ended")


def section(context: Context) -> Part | None:
    """Absent unless the run is a load test."""
    load = context.load
    if load is None or load.levels is None:
        return None
    body = fill(
        "load.html.j2",
        context.words,
        lines=list(sentences(context)),
        table=levels_table(context),
        figures=list(_figures(context)),
    )
    return Part("load", context.words("load.heading"), body)


def sentences(context: Context) -> Iterator[str]:
    """The knee of each ladder, its saturation, and what taints the figures."""
    load, words = context.load, context.words
    assert load is not None
    yield from knees(context)
    if load.saturation is not None:
        for row in load.saturation.points.to_dict("records"):
            yield _saturation(context, row)
    yield from _taints(context)
    if load.table.plan.get("workers"):
        yield _workers(context, load.table.plan["workers"])
    if load.knee is not None:
        yield words("load.knee_rule")
    if len(load.table.levels) > 1:
        yield words("load.all_levels")


def knees(context: Context, *, layers: Collection[str] | None = None) -> Iterator[str]:
    """Of each ladder, the highest level that is shown to hold every promise. Nothing where no promise was made."""
    if context.load is not None and context.load.knee is not None:
        for row in context.load.knee.knees.to_dict("records"):
            if layers is None or row["layer"] in layers:
                yield _knee(context, row)


def _knee(context: Context, row: Line) -> str:
    words = context.words
    ladder = ladder_name(context, row)
    if numbers.missing(row["knee_x"]):
        said = [words("load.no_knee", ladder=ladder)]
    else:
        level = named(context, {"level": row["knee"], "unit": row["unit"], "x": row["knee_x"]})
        share = {name: numbers.share(row[name]) for name in ("goodput", "lo", "hi")}
        said = [words("load.knee", ladder=ladder, level=level, n=numbers.count(row["n"]), **share)]
    if numbers.missing(row["fails_x"]):
        said.append(words("load.never_breaks"))
    else:
        said.append(words("load.breaks", level=named(context, {**row, "level": row["fails"], "x": row["fails_x"]})))
    open_ = _open(context, row)
    return words("load.join").join([*said, *([words("load.untold", levels=open_)] if open_ else [])])


def _open(context: Context, row: Line) -> str:
    """The levels below the first that fails, and above the knee, of which nothing can be said."""
    assert context.load is not None
    levels = context.load.knee.levels
    mine = levels[(levels["candidate"] == row["candidate"]) & (levels["layer"] == row["layer"])]
    untold = mine[mine["level"].isin(str(row["untold"]).split(", ")) & ~mine["client_limited"]]
    return level_names(context, untold.to_dict("records"))


def _saturation(context: Context, row: Line) -> str:
    words, ladder = context.words, ladder_name(context, row)
    if numbers.missing(row["x"]):
        return words("load.not_saturated", ladder=ladder, why=_why(context, str(row["why"])))
    if numbers.missing(row["gain_hi"]):
        came, done = numbers.rate(row["offered_s"]), numbers.rate(row["done_s"])
        return words("load.overrun", ladder=ladder, level=named(context, row), came=came, done=done)
    gain = numbers.share(max(0.0, float(row["gain_hi"]) - 1))
    rate = numbers.rate(row["tok_s"])
    return words("load.saturated", ladder=ladder, level=named(context, row), gain=gain, rate=rate)


def _why(context: Context, why: str) -> str:
    key = "too_few_levels" if why.startswith("fewer") else why.replace(",", "").replace(" ", "_")
    return context.words.known(f"load.why_{key}", why)


def _taints(context: Context) -> Iterator[str]:
    """Where the client was the limit, where a queue grew, what was not sent."""
    from speedqual.analysis.load.levels import unsteady

    load, words = context.load, context.words
    assert load is not None
    table = load.levels.table
    for key, rows in (("load.limited", table[table["client_limited"]]), ("load.unsteady", unsteady(table))):
        if len(rows):
            yield words(key, levels=level_names(context, rows.to_dict("records")))
    skipped = load.table.plan.get("skipped") or []
    if skipped:
        yield words("load.skipped", levels=level_names(context, skipped))


def _workers(context: Context, workers: list[Line]) -> str:
    widths = [float(one["half_width_ms"]) for one in workers if one.get("half_width_ms") is not None]
    offsets = [abs(float(one["offset_ms"])) for one in workers if one.get("offset_ms") is not None]
    lost = sum(bool(one.get("lost")) for one in workers)
    told = {"offset": digits(max(offsets, default=0.0)), "width": digits(max(widths, default=0.0))}
    said = context.words("load.workers", n=len(workers), **told)
    return said + (context.words("load.workers_lost", n=lost) if lost else "")


def levels_table(context: Context) -> Table:
    """Every level with its figures, what taints them and how it ended."""
    assert context.load is not None
    rows = context.load.levels.table.to_dict("records")
    words, many = context.words, several(rows)
    head = [Head(words(f"load.col_{name}"), words.known(f"load.small_{name}", "")) for name in _COLUMNS]
    states = _states(context)
    if states:
        head.insert(1, Head(words("load.col_goodput")))
    lines = [_line(context, row, _placed(context, row, many=many), states) for row in rows]
    return Table(words("load.levels"), head, lines, caption=words("load.levels_caption"), first=words("load.level"))


def _line(context: Context, row: Line, name: str, states: Mapping[tuple[str, str, str], Line]) -> Row:
    note = context.words("load.client_limited") if row["client_limited"] else ""
    return Row(name, tuple(_cells(context, row, states)), note=note)


_UNTOLD = ("short_text", "long_input", "long_output")


def _placed(context: Context, row: Line, *, many: bool) -> str:
    """A level, with its layer where the level's name does not tell it: "output length, 2,000 tokens"."""
    name = place_name(context, row, many=many)
    if row["layer"] not in _UNTOLD:
        return name
    return context.words("load.place", candidate=context.words(f"load.layer_{row['layer']}"), level=name)


def _states(context: Context) -> dict[tuple[str, str, str], dict[Any, Any]]:
    assert context.load is not None
    if context.load.knee is None:
        return {}
    knee = context.load.knee
    found = {_key(row): {**row, "classes": []} for row in knee.levels.to_dict("records")}
    for row in knee.classes.to_dict("records"):
        found[_key(row)]["classes"].append(f"{row['traffic']} {numbers.share(row['goodput'])}")
    return found


def _key(row: Line) -> tuple[str, str, str]:
    return row["candidate"], row["layer"], row["level"]


def _cells(context: Context, row: Line, states: Mapping[tuple[str, str, str], Line]) -> Iterator[Cell]:
    words = context.words
    failed = words("load.failed", n=numbers.count(row["failed"])) if row["failed"] else ""
    yield value(numbers.count(row["n"]), row["n"], failed)
    if states:
        yield _goodput(context, states.get(_key(row)))
    yield _rate(context, row)
    little = words("load.little", ratio=f"{row['little']:.2f}") if not numbers.missing(row["little"]) else ""
    yield value(numbers.rate(row["in_flight"]), row["in_flight"], little)
    bounds = between(numbers.rate(row["tok_s_lo"]), numbers.rate(row["tok_s_hi"]))
    yield value(numbers.rate(row["tok_s"]), row["tok_s"], bounds)
    for metric in ("ttft_ms", "e2e_ms"):
        yield _times(context, row, metric)
    yield _client(row)
    yield text(words.known(f"load.ended_{row['ended']}", str(row["ended"])), translated(row["why"], words))


def _goodput(context: Context, row: Line | None) -> Cell:
    if row is None or numbers.missing(row["goodput"]):
        return value(numbers.DASH, None)
    bounds = between(numbers.share(row["lo"]), numbers.share(row["hi"]))
    unknown = context.words("load.undetermined", n=row["undetermined"]) if row["undetermined"] else ""
    small = (bounds, context.words(f"load.{row['state']}"), unknown, *row["classes"])
    return value(numbers.share(row["goodput"]), row["goodput"], *small)


def _rate(context: Context, row: Line) -> Cell:
    """Requests a second: planned in an open loop, as they came in a closed one; and those that were answered."""
    known = not numbers.missing(row["done_s"])
    answered = context.words("load.answered", rate=numbers.rate(row["done_s"])) if known else ""
    if numbers.missing(row["offered_s"]):
        return value(numbers.rate(row["arrivals_s"]), row["arrivals_s"], answered)
    share = context.words("load.achieved", share=f"{100 * row['achieved']:.1f} %") if row["achieved"] else ""
    return value(numbers.rate(row["offered_s"]), row["offered_s"], share, answered)


def _times(context: Context, row: Line, metric: str) -> Cell:
    words = context.words
    bounds = between(*(numbers.milliseconds(row[f"{metric}_p50_{end}"]) for end in ("lo", "hi")))
    tails = ", ".join(f"{q} {numbers.milliseconds(row[f'{metric}_{q}'])}" for q in ("p95", "p99"))
    open_ = any(numbers.missing(row[f"{metric}_{q}_hi"]) for q in ("p95", "p99"))
    small = (tails, words("load.open_above") if open_ else "")
    known = not numbers.missing(row[f"{metric}_p50"])
    return value(numbers.milliseconds(row[f"{metric}_p50"]), row[f"{metric}_p50"], bounds, *(small if known else ()))


def _client(row: Line) -> Cell:
    lag = f"{row['lag_p99_ms']:.1f} ms" if not numbers.missing(row["lag_p99_ms"]) else numbers.DASH
    return value(lag, row["lag_p99_ms"])


def _figures(context: Context) -> Iterator[dict[str, Any]]:
    """Picture, caption and numbers of each figure."""
    load = context.load
    assert load is not None
    shown = (
        ("goodput", load.knee, load_tables.promises),
        ("latency", load.latency, load_tables.latencies),
        ("throughput", load.saturation, load_tables.throughputs),
        ("by_length", load.by_length, load_tables.by_length),
        ("timeline", load.timeline, load_tables.timeline),
    )
    for name, result, table in shown:
        if result is not None and len(result.table):
            yield pictured(context, result, context.words(f"load.caption_{name}"), table(context, result))
