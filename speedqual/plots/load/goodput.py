"""Goodput by level: the share that kept every promise, with Wilson's interval, and what can be said of each level."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from speedqual.analysis.load.knee import KneeResult
from speedqual.display.numbers import percent
from speedqual.plots.axes import percent_axis, shorten
from speedqual.plots.load.places import alt_text, colour_of, level_axis, level_name, panels
from speedqual.plots.style import Drawing, Style, use
from speedqual.plots.words import PlotWords

__all__ = ["plot"]

_MARKS = {"holds": "o", "fails": "X", "open": "D"}


def plot(result: KneeResult, *, style: str | Style = "light", lang: str = "en", title: str = "") -> Drawing:
    """A panel a layer; filled circles hold, crosses fail, hollow diamonds cannot be told."""
    with use(style, lang) as look:
        figure, parts = panels(result.levels, 3.9)
        names = [str(name) for name in dict.fromkeys(result.levels["candidate"])]
        needed = max(slo.share for slo in result.slos)
        for _, ax, rows in parts:
            shown = rows[rows["goodput"].notna()]
            percent_axis(ax, [*shown["lo"], needed], [*shown["hi"], needed], "")
            limited = shown["client_limited"].astype(bool)
            for name in names:
                _points(ax, shown[~limited & (shown["candidate"] == name)], colour_of(names, name, look), look)
            beside = shown[limited]
            ax.plot(beside["x"], beside["goodput"], linestyle="none", marker="x", markersize=6, color=look.quiet)
            ax.axhline(needed, color=look.ink, linewidth=1.1, linestyle=(0, (6, 3)), zorder=1)
            level_axis(ax, rows, look.say)
        parts[0][1].set_ylabel(look.say("load.goodput"))
        if title:
            figure.suptitle(title, x=0.01, ha="left")
        keys = _keys(names, needed, look)
        if result.levels["client_limited"].any():
            said = look.say("load.client_limited")
            keys.append(Line2D([], [], linestyle="none", marker="x", color=look.quiet, label=said))
        figure.legend(handles=keys, loc="outside lower left", ncols=4, frameon=False, fontsize=8)
        return figure.told(look, _alt(result, look.say), result.levels)


def _points(ax: Axes, rows: pd.DataFrame, colour: str, look: Style) -> None:
    if rows.empty:
        return
    x, y = rows["x"].to_numpy(float), rows["goodput"].to_numpy(float)
    spread = np.abs([y - rows["lo"].to_numpy(float), rows["hi"].to_numpy(float) - y])
    ax.errorbar(x, y, yerr=spread, color=colour, linewidth=1.2, elinewidth=1.0, capsize=3, alpha=0.9)
    for state, mark in _MARKS.items():
        mine = (rows["state"] == state).to_numpy()
        fill = look.paper if state == "open" else colour
        ax.plot(
            x[mine], y[mine], linestyle="none", marker=mark, markersize=7, color=colour, markerfacecolor=fill, zorder=4
        )


def _keys(names: list[str], needed: float, look: Style) -> list[Line2D]:
    keys = [
        Line2D(
            [], [], linestyle="none", marker=mark, markersize=7, color=look.ink, label=look.say(f"load.{state}"),
            markerfacecolor=look.paper if state == "open" else look.ink,
        )
        for state, mark in _MARKS.items()
    ]  # fmt: skip
    said = look.say("load.needed", share=percent(needed))
    keys.append(Line2D([], [], color=look.ink, linewidth=1.1, linestyle=(0, (6, 3)), label=said))
    if len(names) > 1:
        keys += [Line2D([], [], color=colour_of(names, name, look), label=shorten(name, 28)) for name in names]
    return keys


def _alt(result: KneeResult, say: PlotWords) -> str:
    rows = result.levels[result.levels["goodput"].notna()].head(12).to_dict("records")
    points = [
        say(
            "alt.value",
            name=f"{row['candidate']}, {level_name(say, row)}",
            value=say("mark.labelled", name=percent(row["goodput"]), label=say(f"load.{row['state']}")),
        )
        for row in rows
    ]
    return alt_text(result, say, "load.alt_goodput", points)
