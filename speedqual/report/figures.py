"""A matplotlib figure as part of a page: one SVG inside the file, in light and dark by the reader's theme."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import count
from typing import Any

from markupsafe import Markup

from speedqual import display
from speedqual.display.safe import visible
from speedqual.report.svg import compact

__all__ = ["figure", "one_svg"]

_PX_PER_INCH = 129  # the usual figure of 7.6 inches fills the page
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_ID = re.compile(r"\b[A-Za-z]\w*[0-9a-f]{10}\b")


def figure(result: Any, lang: str = "en", alt: str = "", draw: Callable[..., Any] | None = None) -> Markup:
    """An ``<img>`` of the result's plot with its alt text: ``alt``, else the plot's own. The same data, the same bytes.

    ``draw`` draws what is not the result's only plot. Where all colours are those of the plots' own style the drawing
    is made once; else (heat maps) a second time for dark.
    """
    from speedqual.plots.style import to_svg

    light = _drawn(result, "light", lang, draw)
    by_day, night, by_night = to_svg(light), _night(), ""
    colours = _COLOUR.findall(by_day)
    if set(colours) <= set(night):
        both = _themed(by_day, [(colour, night[colour]) for colour in colours])
    else:
        by_night = to_svg(_drawn(result, "dark", lang, draw))
        both = one_svg(by_day, by_night)
    words = visible(alt or str(light.alt_text), 1200)
    wide = round(light.get_figwidth() * _PX_PER_INCH)
    image = Markup('<img src="{data}" alt="{alt}" width="{wide}">').format(
        data=_address(both or by_day), alt=words, wide=wide
    )
    if both:
        return image
    other = Markup('<source media="(prefers-color-scheme: dark)" srcset="{data}">').format(data=_address(by_night))
    return Markup("<picture>{}{}</picture>").format(other, image)


def _drawn(result: Any, style: str, lang: str, draw: Callable[..., Any] | None) -> Any:
    if draw is not None:
        return draw(result, style=style, lang=lang)
    return display.render("plot", result, style=style, lang=lang)


@cache
def _night() -> dict[str, str]:
    """Each colour of the light style, and the one that plays its role in the dark."""
    from speedqual.plots.style import DARK, LIGHT

    roles = ("paper", "ink", "quiet", "grid", "front", "alarm", "band")
    pairs = [(getattr(LIGHT, role), getattr(DARK, role)) for role in roles]
    return {day.lower(): night.lower() for day, night in (*zip(LIGHT.series, DARK.series, strict=True), *pairs)}


def one_svg(light: str, dark: str) -> str:
    """Two drawings that differ in nothing but colours, as one that follows the theme; empty where more differs.

    >>> one_svg("<svg><a b='#ffffff'/></svg>", "<svg><a b='#000000'/></svg>")[:51]
    '<svg><style>:root{--a0:#ffffff}@media (prefers-colo'
    """
    if _bare(light) != _bare(dark):
        return ""
    return _themed(light, list(zip(_COLOUR.findall(light), _COLOUR.findall(dark), strict=True)))


def _themed(svg: str, pairs: list[tuple[str, str]]) -> str:
    """``svg`` with each of its colours, in their order, by day and by night."""
    names = {pair: f"--a{i}" for i, pair in enumerate(dict.fromkeys(pairs))}
    turn = count()
    text = _COLOUR.sub(lambda _: f"var({names[pairs[next(turn)]]})", svg)
    by_day, by_night = (";".join(f"{name}:{pair[side]}" for pair, name in names.items()) for side in (0, 1))
    themes = f"<style>:root{{{by_day}}}@media (prefers-color-scheme:dark){{:root{{{by_night}}}}}</style>"
    head, end, rest = text.partition(">")
    return f"{head}{end}{themes}{rest}"


def _bare(svg: str) -> str:
    """Without colours, and without the ids that matplotlib makes of them."""
    return _COLOUR.sub("#", _ID.sub("id", svg))


def _address(svg: str) -> Markup:
    """A data address for a quoted attribute, with only those signs escaped that would end it."""
    quoted = compact(svg).replace("%", "%25").replace("#", "%23").replace('"', "'").replace("&", "&amp;")
    return Markup(f"data:image/svg+xml,{quoted}")
