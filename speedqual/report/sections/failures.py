"""How answers went wrong: a count per candidate and kind, and one example of each kind."""

from __future__ import annotations

from collections import Counter

from speedqual.report.context import Context
from speedqual.report.examples import Example
from speedqual.report.page import Part, fill
from speedqual.report.words import Words

__all__ = ["section"]


def section(context: Context) -> Part | None:
    """Says so when nothing went wrong; absent when nothing was asked."""
    if not len(context.board):
        return None
    words = context.words
    total: Counter[tuple[str, bool]] = Counter()
    rows = []
    for row in context.board.to_dict("records"):
        counts = {(kind, False): n for kind, n in row["answer_failures"].items()}
        counts |= {(kind, True): n for kind, n in row["endpoint_failures"].items()}
        total.update(counts)
        rows.append((row["candidate"], counts))
    kinds = [kind for kind, _ in total.most_common()]
    shown = [(_name(words, example.kind, example.is_endpoint), example) for example in _shown(context)]
    body = fill(
        "failures.html.j2",
        words,
        kinds=[(kind, _name(words, *kind)) for kind in kinds],
        rows=rows,
        examples=shown,
        redact=context.redact,
    )
    return Part("failures", words("failures.heading"), body)


def _shown(context: Context) -> list[Example]:
    return [] if context.redact else context.failures


def _name(words: Words, kind: str, is_endpoint: bool) -> str:
    known = words.known(f"{'outcome' if is_endpoint else 'kind'}.{kind}", kind)
    return f"{words('failures.endpoint')}: {known}" if is_endpoint else known
