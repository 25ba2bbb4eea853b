"""Routing and fallback, replayed on the recorded items: what each policy would have delivered and cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from speedqual.display import numbers
from speedqual.plots.words import plot_words
from speedqual.report.context import Context
from speedqual.report.figures import figure
from speedqual.report.page import Part, fill
from speedqual.report.phrases import translated
from speedqual.report.tables import Cell, Head, Row, Table, between, text, value

__all__ = ["section", "sentence"]

_COLUMNS = ("quality", "of_strong_quality", "share_strong", "time", "cost", "assumes")
_HEDGE = "hedge after "


def section(context: Context) -> Part | None:
    """Absent with fewer than two candidates."""
    result, words = context.routing, context.words
    if result is None:
        return None
    said = sentence(context)
    head = [Head(words(f"routing.{name}"), is_text=name == "assumes") for name in _COLUMNS]
    rows = [Row(_policy(row["policy"], context), _cells(row, context)) for row in result.to_dict()["policies"]]
    body = fill(
        "figure.html.j2",
        words,
        figure=figure(result, context.lang),
        caption=words("routing.caption", fast=context.called(result.fast), strong=context.called(result.strong)),
        lines=[said[:1].upper() + said[1:]],
        table=Table(words("page.figure_table"), head, rows, first=words("routing.policy")),
    )
    return Part("routing", words("routing.heading"), body)


def sentence(context: Context) -> str:
    """The recommended policy and what it keeps, in words; empty where there is no routing."""
    result, words = context.routing, context.words
    if result is None:
        return ""
    lanes = {"fast": context.called(result.fast), "strong": context.called(result.strong)}
    if result.policy is None:
        return words("routing.always_fast", **lanes)
    by_groups = bool(result.policy.column)
    policies = {row["policy"]: row for row in result.to_dict()["policies"]}
    row = policies["groups" if by_groups else "cascade"]
    kept = {"quality": numbers.share(row["of_strong_quality"]), "share": numbers.share(row["share_strong"])}
    bargain = words("routing.keeps", strong=lanes["strong"], **kept)
    if row["of_strong_cost"] is not None:
        bargain += words("routing.at_cost", cost=numbers.share(row["of_strong_cost"]))
    if by_groups:
        groups = words("page.list").join(result.policy.values)
        feature = plot_words(context.lang).column(result.policy.column)
        return words("routing.groups", feature=feature, groups=groups, bargain=bargain, **lanes)
    return words("routing.cascade", bargain=bargain, **lanes)


def _policy(name: str, context: Context) -> str:
    say = plot_words(context.lang)
    return say("label.hedge_after", q=name.removeprefix(_HEDGE)) if name.startswith(_HEDGE) else say.label(name)


def _cells(row: Mapping[str, Any], context: Context) -> tuple[Cell, ...]:
    unit = 1000.0 if context.routing.time_unit == "s" else 1.0
    p50, p95 = (None if row[name] is None else row[name] * unit for name in ("time_p50", "time_p95"))
    tail = context.words("routing.p95", seconds=numbers.seconds(p95)) if p95 is not None else ""
    bounds = between(numbers.score(row["quality_lo"]), numbers.score(row["quality_hi"]))
    return (
        value(numbers.score(row["quality"]), row["quality"], bounds),
        value(numbers.share(row["of_strong_quality"]), row["of_strong_quality"]),
        value(numbers.share(row["share_strong"]), row["share_strong"]),
        value(numbers.seconds(p50), p50, tail),
        value(numbers.usd(row["cost"]), row["cost"]),
        text(translated(row["assumes"], context.words)),
    )
