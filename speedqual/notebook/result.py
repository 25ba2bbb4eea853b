"""Any analysis result in a notebook: the verdict, the figure where there is one, the notes, the table folded."""

from __future__ import annotations

import base64
import io
from html import escape

from speedqual import display
from speedqual.analysis.base import Result
from speedqual.notebook import markup

__all__ = ["html"]


def html(result: Result) -> str:
    """An inline PNG with its alt text, so that it survives saving and conversion; nothing is requested."""
    figure = _figure(result) if display.find("plot", result) is not None else ""
    notes = "".join(markup.paragraph(note) for note in result.notes)
    return markup.heading(result.verdict) + figure + notes + _table(result, folded=bool(figure))


def _figure(result: Result) -> str:
    drawn = result.plot()
    buffer = io.BytesIO()
    drawn.savefig(buffer, format="png", dpi=110, metadata={"Software": None})
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    return f'<img alt="{escape(drawn.alt_text, quote=True)}" style="max-width:100%" src="data:image/png;base64,{data}">'


def _table(result: Result, *, folded: bool) -> str:
    shown: str = result.table.to_html(escape=True, index=False, na_rep="", float_format=lambda value: f"{value:.3g}")
    return f"<details><summary>table</summary>{shown}</details>" if folded else shown
