"""Small pieces of HTML for a notebook cell: everything escaped, no script, no remote part, readable in both themes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from speedqual.analysis.base import Result
from speedqual.display.safe import visible
from speedqual.notebook.words import NotebookWords

__all__ = ["details", "facts", "heading", "paragraph", "table", "told"]

_CELL = "padding:.25em .8em .25em 0;text-align:{side};border-bottom:1px solid rgba(128,128,128,.35);vertical-align:top"

_SHORT = 36  # characters that are not broken over two lines


def heading(text: str, note: str = "") -> str:
    """A line in bold with a softer note behind it."""
    softer = f" <span style='opacity:.7'>{_safe(note)}</span>" if note else ""
    return f"<p><strong>{_safe(text)}</strong>{softer}</p>"


def paragraph(text: str) -> str:
    """One paragraph of text."""
    return f"<p>{_safe(text)}</p>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; the first column to the left, all others to the right. Without a head where all of it is empty."""
    top = f"<tr>{''.join(_cell('th', text, column) for column, text in enumerate(head))}</tr>" if any(head) else ""
    body = "".join(f"<tr>{''.join(_cell('td', text, column) for column, text in enumerate(row))}</tr>" for row in rows)
    return f"<table style='border-collapse:collapse;font-variant-numeric:tabular-nums'>{top}{body}</table>"


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Names with what they are, both to the left: texts, not numbers to compare."""
    body = "".join(f"<tr>{_cell('td', name, 0)}{_cell('td', text, 0)}</tr>" for name, text in rows)
    return f"<table style='border-collapse:collapse'>{body}</table>"


def details(summary: str, text: str) -> str:
    """A folded block of preformatted text."""
    block = f"<pre style='white-space:pre-wrap;overflow-wrap:anywhere;margin:.3em 0'>{_safe(text, 2000)}</pre>"
    return f"<details><summary>{_safe(summary)}</summary>{block}</details>"


def told(say: NotebookWords, result: Result) -> str:
    """Verdict and notes folded, for a page in another language: analyses speak English alone."""
    return details(say("result.told"), "\n".join((result.verdict, *result.notes)))


def _cell(tag: str, text: str, column: int) -> str:
    side = "left" if column == 0 else "right"
    whole = ";white-space:nowrap" if tag == "td" and len(text) <= _SHORT else ""
    return f"<{tag} style='{_CELL.format(side=side)}{whole}'>{_safe(text)}</{tag}>"


def _safe(text: str, limit: int = 400) -> str:
    return escape(visible(text, limit))
