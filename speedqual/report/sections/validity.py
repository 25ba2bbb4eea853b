"""How far the numbers can be believed: how many items and clusters, the client's own delay, how much was compared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from math import comb
from typing import Any

from speedqual.display import numbers
from speedqual.report.context import Context
from speedqual.report.page import Part, fill
from speedqual.report.phrases import translated
from speedqual.report.tables import Head, Row, Table, text, value

__all__ = ["section"]

_SAID = "winner's curse"  # said with its number above


def section(context: Context) -> Part | None:
    """Absent when nothing was asked."""
    if not len(context.board):
        return None
    words = context.words
    names = ("items", "clusters", "repeats", "failed", "tokens")
    head = [Head(words(f"validity.{name}"), is_text=name == "tokens") for name in names]
    table = Table(words("validity.heading"), head, list(_rows(context)), words("validity.caption"))
    body = fill("validity.html.j2", words, table=table, lines=list(_lines(context)), flags=_flags(context))
    return Part("validity", words("validity.heading"), body)


def _rows(context: Context) -> Iterator[Row]:
    for row in context.board.to_dict("records"):
        own = context.main[context.main["candidate"] == row["candidate"]]
        clusters = own["cluster"].where(own["cluster"] != "", own["evalset"] + "/" + own["item"]).nunique()
        failed = 1 - row["n_ok"] / row["n"] if row["n"] else None
        sources = [source for source in own["token_source"].dropna().unique() if source not in ("", "none")]
        yield Row(
            str(row["candidate"]),
            (
                value(numbers.count(row["n_items"]), row["n_items"]),
                value(numbers.count(clusters), clusters),
                value(numbers.count(own["repeat"].max() + 1), own["repeat"].max() + 1),
                value(numbers.share(failed), failed),
                text(_counters(context, sources) or context.words("page.unknown")),
            ),
        )


def _flags(context: Context) -> list[str]:
    """What taints every number of the page."""
    words, manifest = context.words, context.manifest
    found = []
    if context.client_limit:
        found.append(words("validity.client_limited"))
    if manifest["status"] not in ("finished", "running"):
        done = numbers.count(len(context.main))
        found.append(words("validity.unfinished", n=done, planned=numbers.count(manifest["n_trials"])))
    return found


def _lines(context: Context) -> Iterator[str]:
    yield from _client(context)
    yield from _multiplicity(context)
    yield from _apart(context)
    results = (context.frontier, context.cliffs, context.routing)
    notes = [note for result in results if result is not None for note in result.notes]
    once = {re.sub(r"\d+", "", note): note for note in reversed(notes)}  # of what is said twice, the first
    for note in sorted((note for note in once.values() if not note.startswith(_SAID)), key=notes.index):
        said = translated(note, context.words)
        yield said[:1].upper() + said[1:] + ("" if said.endswith((".", "。")) else context.words("page.stop"))


def _client(context: Context) -> Iterator[str]:
    health = context.manifest["client"]
    if health and health.get("loop_lag_ms_p99") is not None:
        share = numbers.share(health.get("cpu_share"))
        yield context.words("validity.client", lag=numbers.milliseconds(health["loop_lag_ms_p99"]), share=share)


def _multiplicity(context: Context) -> Iterator[str]:
    words, n = context.words, len(context.board)
    if n > 1:
        yield words("validity.multiplicity", n=n, pairs=comb(n, 2))
    if context.frontier is not None and (context.frontier.winner_bias or 0.0) >= 0.005:
        yield words("validity.winner", points=numbers.points(context.frontier.winner_bias), n=n)
    if context.cliffs is not None:
        steps = len(context.cliffs.table)
        yield words("validity.steps", n=steps, ladders=len(context.cliffs.ladders))


def _apart(context: Context) -> Iterator[str]:
    """Rows that are kept out of the averages, and why."""
    counts: dict[str, Any] = context.run.df["phase"].value_counts().to_dict()
    if counts.get("other_tier"):
        yield context.words("validity.other_tier", n=numbers.count(counts["other_tier"]))
    ungraded = int(context.board["n_ungraded"].sum())
    if ungraded:
        yield context.words("validity.ungraded", n=numbers.count(ungraded))
    sources = {str(source) for source in context.main["token_source"].dropna().unique()} - {"", "none"}
    if len(sources) > 1:
        yield context.words("validity.sources", sources=_counters(context, sources))


def _counters(context: Context, sources: Iterable[str]) -> str:
    """Who counted the tokens."""
    known = (source.partition(":") for source in sorted(map(str, sources)))
    named = (f"{context.words.known(f'source.{who}', who)} {name}".strip() for who, _, name in known)
    return context.words("page.list").join(named)
