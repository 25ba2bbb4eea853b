"""A matplotlib figure as part of a page: SVG inside the file, once for light and once for dark."""

from __future__ import annotations

import base64
from typing import Any

from markupsafe import Markup

from speedqual import display

__all__ = ["figure"]

_PX_PER_INCH = 129  # the usual figure of 7.6 inches fills the page


def figure(result: Any) -> Markup:
    """A ``<picture>`` of the result's plot in both themes, with its alt text. The same data gives the same bytes."""
    light, words, wide = _svg(result, "light")
    dark, _, _ = _svg(result, "dark")
    return Markup(
        '<picture><source media="(prefers-color-scheme: dark)" srcset="{dark}">'
        '<img src="{light}" alt="{alt}" width="{wide}"></picture>'
    ).format(dark=dark, light=light, alt=words, wide=wide)


def _svg(result: Any, style: str) -> tuple[str, str, int]:
    """Data address, alt text, and the width in CSS pixels at which letters are as large in every figure."""
    from speedqual.plots.style import to_svg

    drawn = display.render("plot", result, style=style)
    data = base64.b64encode(to_svg(drawn).encode("utf-8")).decode("ascii")
    return f"data:image/svg+xml;base64,{data}", str(drawn.alt_text), round(drawn.get_figwidth() * _PX_PER_INCH)
