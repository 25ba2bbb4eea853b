"""How answers went wrong: a count per candidate and kind, each kind leading to an item that shows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from speedqual.display.safe import visible
from speedqual.report.context import Context
from speedqual.report.page import Part, fill
from speedqual.report.tables import Cell, Head, Row, Table, value
from speedqual.report.words import Words

__all__ = ["section"]

Kind = tuple[str, bool]
"""What went wrong, and whether the endpoint is to blame."""


def section(context: Context) -> Part | None:
    """Says so when nothing went wrong; absent when nothing was asked."""
    if not len(context.board):
        return None
    words = context.words
    counted = [(str(row["candidate"]), _counts(row)) for row in context.board.to_dict("records")]
    total: Counter[Kind] = sum((counts for _, counts in counted), Counter[Kind]())
    kinds = [kind for kind, _ in total.most_common()]
    table = _table(words, kinds, counted, context.examples) if kinds else None
    return Part("failures", words("failures.heading"), fill("failures.html.j2", words, table=table))


def _counts(row: Mapping[Any, Any]) -> Counter[Kind]:
    counts = Counter({(kind, False): n for kind, n in row["answer_failures"].items()})
    return counts + Counter({(kind, True): n for kind, n in row["endpoint_failures"].items()})


def _table(
    words: Words, kinds: list[Kind], counted: list[tuple[str, Counter[Kind]]], examples: dict[tuple[str, str], str]
) -> Table:
    """Kinds down and candidates across."""
    rows = []
    for kind in kinds:
        cells = [_cell(counts[kind], examples.get((visible(name, 200), kind[0]), "")) for name, counts in counted]
        rows.append(Row(_name(words, *kind), tuple(cells)))
    head = [Head(candidate) for candidate, _ in counted]
    return Table(words("failures.heading"), head, rows, words("failures.caption"), first=words("failures.kind"))


def _cell(n: int, link: str) -> Cell:
    return replace(value(f"{n:,}" if n else "·", n), link=link if n else "")


def _name(words: Words, kind: str, is_endpoint: bool) -> str:
    known = words.known(f"{'outcome' if is_endpoint else 'kind'}.{kind}", kind)
    return words("failures.endpoint_kind", kind=known) if is_endpoint else known
