"""What a shared prefix saves: time to first token cold and warm, and the saving with its interval, by share."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from speedqual.analysis.load.prefix import PrefixResult
from speedqual.display.numbers import amount, percent
from speedqual.plots.axes import percent_ticks, shorten
from speedqual.plots.load.places import alt_text, colour_of
from speedqual.plots.style import MARKERS, Drawing, Style, new_drawing, use
from speedqual.plots.words import PlotWords

__all__ = ["plot"]


def plot(result: PrefixResult, *, style: str | Style = "light", lang: str = "en", title: str = "") -> Drawing:
    """Left: medians cold (hollow) and warm; right: the saving. Where only one line differs the marker is a triangle."""
    with use(style, lang) as look:
        figure, (left, right) = new_drawing(9.6, 3.9, ncols=2)
        names = [str(name) for name in dict.fromkeys(result.table["candidate"])]
        for name in names:
            mine = result.table[result.table["candidate"] == name]
            for i, (_, rows) in enumerate(mine.groupby("set", sort=False)):
                line = rows["differs"] == "line"
                _times(left, rows, line, name, names, look, legend=not i)
                _savings(right, rows, line, name, names, look)
        for ax, key in ((left, "first_token"), (right, "saved")):
            percent_ticks(ax.xaxis)
            ax.set_xlim(-0.05, 1.05)
            ax.set_xlabel(look.say("load.axis_share"))
            ax.set_ylabel(look.say(f"load.{key}"))
            ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: _signed(v)))
        left.set_ylim(bottom=0)
        right.axhline(0, color=look.quiet, linewidth=0.9)
        if title:
            figure.suptitle(title, x=0.01, ha="left")
        figure.legend(loc="outside lower left", ncols=4, frameon=False, fontsize=8, labelcolor=look.ink)
        return figure.told(look, _alt(result, look.say), result.table)


def _signed(ms: float) -> str:
    return f"-{amount(-ms, 'ms')}" if ms < 0 else amount(ms, "ms")


def _times(
    ax: Axes, rows: pd.DataFrame, line: pd.Series[bool], name: str, names: list[str], look: Style, *, legend: bool
) -> None:
    colour, mark = colour_of(names, name, look), MARKERS[names.index(name) % len(MARKERS)]
    for what, dash in (("cold", (0, (4, 2))), ("warm", "-")):
        fill = look.paper if what == "cold" else colour
        said = look.say(f"load.{what}")
        named = said if len(names) == 1 else look.say("mark.labelled", name=shorten(name, 24), label=said)
        label = named if legend else None
        shared = rows[~line]
        ax.plot(
            shared["x"].to_numpy(float), pd.to_numeric(shared[f"{what}_ms"]).to_numpy(float), color=colour,
            linestyle=dash, marker=mark, markerfacecolor=fill, markersize=6, linewidth=1.6, label=label,
        )  # fmt: skip
        single = rows[line]
        values = pd.to_numeric(single[f"{what}_ms"]).to_numpy(float)
        ax.plot(single["x"], values, linestyle="none", marker="^", markersize=7, color=colour, markerfacecolor=fill)


def _savings(ax: Axes, rows: pd.DataFrame, line: pd.Series[bool], name: str, names: list[str], look: Style) -> None:
    colour, mark = colour_of(names, name, look), MARKERS[names.index(name) % len(MARKERS)]
    for mine, marker, dash in ((rows[~line], mark, "-"), (rows[line], "^", "none")):
        y = pd.to_numeric(mine["saved_ms"]).to_numpy(float)
        lo, hi = (pd.to_numeric(mine[f"saved_{end}"]).to_numpy(float) for end in ("lo", "hi"))
        spread = np.nan_to_num(np.abs([y - lo, hi - y]))
        label = look.say("load.one_line") if marker == "^" and len(mine) and name == names[0] else None
        ax.errorbar(
            mine["x"].to_numpy(float), y, yerr=spread, color=colour, linestyle=dash, marker=marker, markersize=6,
            capsize=3, elinewidth=1.0, linewidth=1.6, label=label,
        )  # fmt: skip


def _alt(result: PrefixResult, say: PlotWords) -> str:
    rows = result.table[result.table["saved_ms"].notna()].head(12).to_dict("records")
    points = [
        say("alt.value", name=f"{row['candidate']}, {percent(row['x'])}", value=_signed(row["saved_ms"]))
        for row in rows
    ]
    return alt_text(result, say, "load.alt_prefix", points)
