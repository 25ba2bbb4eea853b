"""How answers went wrong: a count per candidate and kind, and one example of each kind."""

from __future__ import annotations

from collections import Counter

from speedqual.report.context import Context
from speedqual.report.examples import Example
from speedqual.report.page import Part, fill
from speedqual.report.words import Words

__all__ = ["section"]

Kind = tuple[str, bool]
"""What went wrong, and whether the endpoint is to blame."""


def section(context: Context) -> Part | None:
    """Says so when nothing went wrong; absent when nothing was asked."""
    if not len(context.board):
        return None
    words = context.words
    total: Counter[Kind] = Counter()
    rows = []
    for row in context.board.to_dict("records"):
        counts = {(kind, False): n for kind, n in row["answer_failures"].items()}
        counts |= {(kind, True): n for kind, n in row["endpoint_failures"].items()}
        total.update(counts)
        rows.append((row["candidate"], counts))
    kinds = [kind for kind, _ in total.most_common()]
    head, lines = _table([_name(words, *kind) for kind in kinds], rows, kinds)
    shown = [(_name(words, example.kind, example.is_endpoint), example) for example in _shown(context)]
    body = fill(
        "failures.html.j2",
        words,
        head=head,
        lines=lines,
        examples=shown,
        redact=context.redact,
    )
    return Part("failures", words("failures.heading"), body)


def _table(
    names: list[str], rows: list[tuple[str, dict[Kind, int]]], kinds: list[Kind]
) -> tuple[list[str], list[tuple[str, list[int]]]]:
    """Heads and counted lines: candidates down and kinds across, or the other way when that is the narrower table."""
    counted = [[counts.get(kind, 0) for kind in kinds] for _, counts in rows]
    candidates = [candidate for candidate, _ in rows]
    if len(kinds) <= len(rows):
        return names, list(zip(candidates, counted, strict=True))
    return candidates, list(zip(names, map(list, zip(*counted, strict=True)), strict=True))


def _shown(context: Context) -> list[Example]:
    return [] if context.redact else context.failures


def _name(words: Words, kind: str, is_endpoint: bool) -> str:
    known = words.known(f"{'outcome' if is_endpoint else 'kind'}.{kind}", kind)
    return f"{words('failures.endpoint')}: {known}" if is_endpoint else known
