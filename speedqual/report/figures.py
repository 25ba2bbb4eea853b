"""A matplotlib figure as part of a page: SVG inside the file, once for light and once for dark."""

from __future__ import annotations

import base64
import io
from typing import Any

from markupsafe import Markup

from speedqual import display

__all__ = ["figure"]


def figure(result: Any, *, alt: str = "") -> Markup:
    """A ``<picture>`` of ``result.plot()`` in both themes, with its alt text. The same data gives the same bytes."""
    light, words = _svg(result, theme="light")
    dark, _ = _svg(result, theme="dark")
    return Markup(
        '<picture><source media="(prefers-color-scheme: dark)" srcset="{dark}">'
        '<img src="{light}" alt="{alt}"></picture>'
    ).format(dark=dark, light=light, alt=alt or words)


def _svg(result: Any, theme: str) -> tuple[str, str]:
    import matplotlib as mpl
    from matplotlib import pyplot

    drawn = display.render("plot", result, theme=theme)
    buffer = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "speedqual", "svg.fonttype": "path"}):
        drawn.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, bbox_inches="tight")
    pyplot.close(drawn)
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    return f"data:image/svg+xml;base64,{data}", str(getattr(drawn, "alt_text", ""))
