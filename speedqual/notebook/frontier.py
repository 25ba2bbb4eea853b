"""A frontier in a notebook: the verdict, the figure, the notes. The figure is drawn here, no request is made."""

from __future__ import annotations

import base64
import io
from html import escape

from speedqual.analysis.frontier import FrontierResult
from speedqual.notebook import markup

__all__ = ["html"]


def html(result: FrontierResult) -> str:
    """An inline PNG with its alt text, so that it survives saving and conversion."""
    drawn = result.plot()
    buffer = io.BytesIO()
    drawn.savefig(buffer, format="png", dpi=110, metadata={"Software": None})
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    alt = escape(drawn.alt_text, quote=True)
    image = f'<img alt="{alt}" style="max-width:100%" src="data:image/png;base64,{data}">'
    return markup.heading(result.verdict) + image + "".join(markup.paragraph(note) for note in result.notes)
