"""Any analysis result in a notebook: the verdict, the figure where there is one, the notes, the table folded."""

from __future__ import annotations

import base64
import io
from html import escape
from typing import TYPE_CHECKING, Any

from speedqual import display
from speedqual.analysis.base import Result
from speedqual.display import numbers
from speedqual.display.numbers import digits
from speedqual.notebook import markup
from speedqual.notebook.words import NotebookWords, notebook_words

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["html"]

COLOURS = 128
"""A figure has few; a palette of them makes a saved notebook a third of the size."""


MOST_ROWS = 50


def html(result: Result, *, lang: str = "en") -> str:
    """An inline PNG with its alt text, so that it survives saving and conversion; nothing is requested."""
    say = notebook_words(lang)
    figure = _figure(result, lang) if display.find("plot", result) is not None else ""
    table = _table(result.table, say, folded=bool(figure))
    if lang != "en":
        return figure + table + markup.told(say, result)
    notes = "".join(markup.paragraph(note) for note in result.notes)
    return markup.heading(result.verdict) + figure + notes + table


def _figure(result: Result, lang: str) -> str:
    drawn = result.plot(lang=lang)
    data = base64.b64encode(_png(drawn)).decode("ascii")
    return f'<img alt="{escape(drawn.alt_text, quote=True)}" style="max-width:100%" src="data:image/png;base64,{data}">'


def _png(drawn: Any) -> bytes:
    from PIL import Image

    raw, small = io.BytesIO(), io.BytesIO()
    drawn.savefig(raw, format="png", dpi=110, metadata={"Software": None})
    Image.open(raw).convert("RGB").quantize(COLOURS).save(small, format="png", optimize=True)
    return small.getvalue()


def _table(table: pd.DataFrame, say: NotebookWords, *, folded: bool) -> str:
    rows = ([_cell(value) for value in row] for row in table.head(MOST_ROWS).itertuples(index=False))
    more = markup.paragraph(say("result.more", n=f"{len(table) - MOST_ROWS:,}")) if len(table) > MOST_ROWS else ""
    shown = markup.table([str(name) for name in table.columns], rows) + more
    return f"<details><summary>{escape(say('result.table'))}</summary>{shown}</details>" if folded else shown


def _cell(value: Any) -> str:
    """A number to three digits and never in powers of ten, a missing one as a dash, all else as text."""
    if value is None or value != value:
        return numbers.DASH
    if isinstance(value, float):
        return digits(value)
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
