"""Cold starts: how much later the first token comes after each idle time, beside what the server says it loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.ticker import FuncFormatter

from speedqual.analysis.load.cold import ColdResult
from speedqual.display.numbers import amount
from speedqual.plots.axes import shorten
from speedqual.plots.load.places import alt_text, colour_of
from speedqual.plots.style import Drawing, Style, new_drawing, use
from speedqual.plots.words import PlotWords

__all__ = ["plot"]


def plot(result: ColdResult, *, style: str | Style = "light", lang: str = "en", title: str = "") -> Drawing:
    """A line per candidate, idle time and connection; the hollow square is the loading time that the server reports."""
    with use(style, lang) as look:
        rows = result.table
        figure, ax = new_drawing(7.6, 1.6 + 0.36 * max(1, len(rows)))
        names = [str(name) for name in dict.fromkeys(rows["candidate"])]
        place = np.arange(len(rows))[::-1].astype(float)
        value, lo, hi = (pd.to_numeric(rows[f"excess_{end}"]).to_numpy(float) for end in ("ms", "lo", "hi"))
        for i, name in enumerate(rows["candidate"]):
            colour = colour_of(names, str(name), look)
            ax.plot([lo[i], hi[i]], [place[i]] * 2, color=colour, linewidth=2.0, solid_capstyle="butt")
            ax.plot(value[i], place[i], marker="o", color=colour, markersize=6)
        loads = pd.to_numeric(rows["load_ms"]).to_numpy(float)
        if np.isfinite(loads).any():
            ax.plot(
                loads, place, linestyle="none", marker="s", markersize=8, color=look.ink, markerfacecolor="none",
                label=look.say("load.loading"),
            )  # fmt: skip
            figure.legend(loc="outside lower left", frameon=False, fontsize=8, labelcolor=look.ink)
        ax.axvline(0, color=look.quiet, linewidth=0.9)
        ax.set_yticks(place, [_named(row, names, look.say) for row in rows.to_dict("records")])
        ax.set_ylim(-0.6, len(rows) - 0.4)
        ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"-{amount(-v, 'ms')}" if v < 0 else amount(v, "ms")))
        ax.set_xlabel(look.say("load.later"))
        if title:
            ax.set_title(title, loc="left")
        return figure.told(look, _alt(result, names, look.say), rows)


def _named(row: Mapping[Any, Any], names: list[str], say: PlotWords) -> str:
    text = say("load.idle", seconds=f"{row['x']:g}", connection=say(f"load.connection_{row['connection']}"))
    return text if len(names) == 1 else say("alt.value", name=shorten(str(row["candidate"]), 20), value=text)


def _alt(result: ColdResult, names: list[str], say: PlotWords) -> str:
    known = result.table[result.table["excess_ms"].notna()].head(12).to_dict("records")
    points = [
        say("alt.value", name=_named(dict(row), names, say), value=amount(float(row["excess_ms"]), "ms"))
        for row in known
    ]
    return alt_text(result, say, "load.alt_cold", points)
