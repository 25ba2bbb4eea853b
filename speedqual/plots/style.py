"""One look for all figures: colours, fonts, axes, and bytes that depend on nothing but the data.

Colours are Okabe and Ito's (safe for colour-blind readers); every colour has a marker or dash of its own beside it.
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, cast

import matplotlib as mpl
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from speedqual.errors import UsageError
from speedqual.plots.words import PlotWords, plot_words

__all__ = [
    "DARK",
    "LIGHT",
    "MARKERS",
    "Drawing",
    "Style",
    "fonts",
    "legible",
    "new_drawing",
    "pick_style",
    "ramp",
    "save",
    "to_svg",
    "use",
]

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
_CJK = ("Noto Sans CJK SC", "Noto Sans CJK JP", "Source Han Sans SC", "PingFang SC", "Microsoft YaHei", "SimHei")


@dataclass(frozen=True)
class Style:
    """Colours by role, ``series`` for candidates and ladders in order; ``say`` are the words of one language."""

    name: str
    paper: str
    ink: str
    quiet: str
    grid: str
    front: str
    alarm: str
    band: str
    series: tuple[str, ...]
    say: PlotWords = field(default_factory=lambda: plot_words("en"), compare=False, repr=False)


_OKABE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D00", "#5B5B5B")
_BRIGHT = ("#56B4E9", "#F0A35E", "#3CCB9B", "#E39CC6", "#F0E442", "#7FB2FF", "#C9B458", "#B0B0B0")
LIGHT = Style("light", "#ffffff", "#1b1f24", "#8b949e", "#e6e8eb", "#0072B2", "#D55E00", "#0072B2", _OKABE)
DARK = Style("dark", "#14181d", "#e6e8eb", "#7d8590", "#2a3038", "#56B4E9", "#F0A35E", "#56B4E9", _BRIGHT)


class Drawing(Figure):
    """A figure with its words and its numbers."""

    alt_text: str = ""
    numbers: pd.DataFrame
    say: PlotWords = plot_words("en")

    def told(self, look: Style, alt_text: str, numbers: pd.DataFrame) -> Drawing:
        """The finished figure, with its words and numbers beside it."""
        self.alt_text, self.numbers, self.say = alt_text, numbers, look.say
        return self

    def _repr_html_(self) -> str:
        table = self.numbers.to_html(escape=True, index=False, na_rep="", border=0)
        return (
            f'<figure role="img" aria-label="{html.escape(self.alt_text)}">{to_svg(self)}</figure>'
            f"<details><summary>{self.say('mark.numbers')}</summary>{table}</details>"
        )


def pick_style(style: str | Style) -> Style:
    """``"light"``, ``"dark"`` or a ``Style`` of one's own."""
    if isinstance(style, Style):
        return style
    if style not in ("light", "dark"):
        raise UsageError(f"there is no plot style {style!r}", fix="Give 'light', 'dark' or a Style")
    return DARK if style == "dark" else LIGHT


def ramp(look: Style) -> Any:
    """A colour map from the paper to the front's colour, for heat maps."""
    palette = sns.light_palette if look.name == "light" else sns.dark_palette
    return palette(look.front, as_cmap=True)


def legible(ax: Axes) -> None:
    """Write the numbers of a heat map dark on light cells and light on dark ones (contrast at least 4 to 1)."""
    mesh = cast(Any, ax.collections[0])
    mesh.update_scalarmappable()
    shown = ~np.ma.getmaskarray(mesh.get_array()).ravel()
    for text, cell in zip(ax.texts, mesh.get_facecolors()[shown], strict=True):
        text.set_color(LIGHT.ink if _luminance(cell) > 0.2 else LIGHT.paper)


def _luminance(colour: Any) -> float:
    """Relative luminance as in WCAG 2: 0 black, 1 white."""
    channels = np.asarray(colour[:3], dtype=float)
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


@cache
def fonts() -> tuple[str, ...]:
    """DejaVu Sans first, then the CJK fonts that are installed: glyphs are looked for in this order."""
    installed = {entry.name for entry in font_manager.fontManager.ttflist}
    return ("DejaVu Sans", *(name for name in _CJK if name in installed))


@contextmanager
def use(style: str | Style, lang: str = "en") -> Iterator[Style]:
    """Set the look and the language for what is drawn inside, and put everything back afterwards."""
    look = replace(pick_style(style), say=plot_words(lang))
    settings: dict[str, Any] = {
        **sns.axes_style("whitegrid"),
        **sns.plotting_context("notebook", font_scale=0.85),
        "font.family": list(fonts()),
        "figure.facecolor": look.paper,
        "axes.facecolor": look.paper,
        "axes.edgecolor": look.quiet,
        "axes.labelcolor": look.ink,
        "axes.titlecolor": look.ink,
        "text.color": look.ink,
        "xtick.color": look.ink,
        "ytick.color": look.ink,
        "grid.color": look.grid,
        "grid.linewidth": 0.8,
        "svg.hashsalt": "speedqual",
        "axes.unicode_minus": False,
    }
    with mpl.rc_context(cast(Any, settings)):
        yield look


def new_drawing(width: float = 7.6, height: float = 4.6, **subplots: Any) -> tuple[Drawing, Any]:
    """A figure outside pyplot (nothing global, nothing to close) with its axes."""
    figure = Drawing(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    cast(Any, figure.get_layout_engine()).set(w_pad=0.06, h_pad=0.06, hspace=0.03)
    axes = figure.subplots(**subplots)
    for ax in [axes] if isinstance(axes, Axes) else axes.ravel():
        sns.despine(ax=ax)
    return figure, axes


def to_svg(figure: Figure) -> str:
    """The figure as SVG text without the XML head, dates or random ids: same data, same bytes."""
    buffer = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "speedqual", "svg.fonttype": "path"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    # the metadata block is nothing but addresses of vocabularies
    return re.sub(r"\s*<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)


def save(figure: Figure, path: str | Path, dpi: int = 160) -> Path:
    """Write PNG, SVG or PDF by the file's ending, without dates inside."""
    path = Path(path)
    ending = path.suffix.lower()
    if ending == ".svg":
        path.write_text(to_svg(figure), encoding="utf-8")
    elif ending == ".png":
        figure.savefig(path, format="png", dpi=dpi, metadata={"Software": None})
    elif ending == ".pdf":
        figure.savefig(path, format="pdf", metadata={"CreationDate": None, "ModDate": None})
    else:
        raise UsageError(
            f"cannot draw into a {ending or 'nameless'} file", where=str(path.name), fix="End it in .svg, .png or .pdf"
        )
    return path
