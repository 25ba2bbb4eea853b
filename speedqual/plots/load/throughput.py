"""Throughput against load with its interval, and the point from which more load brings no more tokens."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from speedqual.analysis.load.levels import LevelsResult
from speedqual.analysis.load.saturation import SaturationResult
from speedqual.analysis.tidy import CLIMBED
from speedqual.display.numbers import amount
from speedqual.plots.axes import shorten
from speedqual.plots.load.places import alt_text, colour_of, level_axis, level_name, panels, unlimited
from speedqual.plots.style import MARKERS, Drawing, Style, use
from speedqual.plots.words import PlotWords

__all__ = ["plot", "plot_levels"]


def plot_levels(result: LevelsResult, *, style: str | Style = "light", lang: str = "en", title: str = "") -> Drawing:
    """The throughput of the levels, without a saturation point."""
    table = result.table[result.table["layer"].isin(CLIMBED)]
    table = table if len(table) else result.table
    empty = pd.DataFrame(columns=["candidate", "layer", "level", "x", "unit"])
    return plot(SaturationResult(table, result.verdict, (), empty), style=style, lang=lang, title=title)


def plot(result: SaturationResult, *, style: str | Style = "light", lang: str = "en", title: str = "") -> Drawing:
    """A panel a layer, a colour a candidate; grey crosses: the client was the limit there."""
    with use(style, lang) as look:
        figure, parts = panels(result.table, 3.9)
        names = [str(name) for name in dict.fromkeys(result.table["candidate"])]
        for layer, ax, rows in parts:
            for name in names:
                _curve(ax, rows[rows["candidate"] == name], name, names, look)
            level_axis(ax, rows, look.say)
            ax.set_ylim(bottom=0)
            ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: amount(v, "")))
            _mark(ax, layer, result, names, look)
        unit = look.say.unit("tokens/s")
        parts[0][1].set_ylabel(look.say("axis.with_unit", label=look.say("load.throughput"), unit=unit))
        if title:
            figure.suptitle(title, x=0.01, ha="left")
        keys = _keys(names, look, limited=bool(result.table["client_limited"].any()))
        if keys:
            figure.legend(handles=keys, loc="outside lower left", ncols=4, frameon=False, fontsize=8)
        return figure.told(look, _alt(result, look.say), result.table)


def _curve(ax: Axes, rows: pd.DataFrame, name: str, names: list[str], look: Style) -> None:
    known, i = unlimited(rows, "tok_s"), names.index(name)
    colour = colour_of(names, name, look)
    if len(known):
        y = known["tok_s"].to_numpy(float)
        ends = [pd.to_numeric(known[f"tok_s_{end}"]).to_numpy(float) for end in ("lo", "hi")]
        spread = np.nan_to_num(np.abs([y - ends[0], ends[1] - y]))
        ax.errorbar(
            known["x"].to_numpy(float), y, yerr=spread, color=colour, linewidth=1.6, elinewidth=1.0, capsize=3,
            marker=MARKERS[i % len(MARKERS)], markersize=5,
        )  # fmt: skip
    there = rows[rows["client_limited"].astype(bool)]
    if len(there):
        values = pd.to_numeric(there["tok_s"]).to_numpy(float)
        ax.plot(there["x"], values, linestyle="none", marker="x", markersize=6, color=look.quiet)


def _keys(names: list[str], look: Style, *, limited: bool) -> list[Line2D]:
    keys = [
        Line2D([], [], color=colour_of(names, n, look), marker=MARKERS[i % len(MARKERS)], label=shorten(n, 28))
        for i, n in enumerate(names)
        if len(names) > 1
    ]
    if limited:
        said = look.say("load.client_limited")
        keys.append(Line2D([], [], linestyle="none", marker="x", color=look.quiet, label=said))
    return keys


def _mark(ax: Axes, layer: str, result: SaturationResult, names: list[str], look: Style) -> None:
    for row in result.points[(result.points["layer"] == layer) & result.points["x"].notna()].to_dict("records"):
        colour, x = colour_of(names, str(row["candidate"]), look), float(row["x"])
        ax.axvline(x, color=colour, linewidth=1.0, linestyle=(0, (2, 2)), zorder=1)
        ax.annotate(
            look.say("load.saturated", level=level_name(look.say, row)), (x, 0.02), fontsize=8, color=look.ink,
            xycoords=("data", "axes fraction"), xytext=(4, 0), textcoords="offset points", rotation=90, va="bottom",
        )  # fmt: skip


def _alt(result: SaturationResult, say: PlotWords) -> str:
    unit = say.unit("tokens/s")
    points = [
        say("alt.value", name=f"{row['candidate']}, {level_name(say, row)}", value=amount(row["tok_s"], unit))
        for row in unlimited(result.table, "tok_s").head(12).to_dict("records")
    ]
    return alt_text(result, say, "load.alt_throughput", points)
