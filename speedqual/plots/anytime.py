"""Anytime quality: worth of the answer so far, over time."""

from __future__ import annotations

import pandas as pd

from speedqual.analysis.anytime import AnytimeResult
from speedqual.display.numbers import digits, percent
from speedqual.plots.axes import log_axis, percent_axis
from speedqual.plots.style import Drawing, Style, new_drawing, use
from speedqual.plots.words import PlotWords

__all__ = ["plot"]


def plot(result: AnytimeResult, *, style: str | Style = "light", lang: str = "en", title: str = "") -> Drawing:
    """A step line with its interval."""
    with use(style, lang) as look:
        figure, ax = new_drawing(6.2, 3.8)
        t = result.table[result.table["quality"].notna()]
        since = look.say("axis.log", quantity=look.say("axis.since_sent"))
        log_axis(ax, t["t_ms"], "ms", since, invert=False, room=0.03)
        percent_axis(ax, [0.0], [*t["quality_hi"].fillna(t["quality"]), 0.1], look.say("axis.quality_so_far"))
        ax.plot(t["t_ms"], t["quality"], drawstyle="steps-post", marker="o", markersize=4, color=look.front)
        known = t[t["quality_lo"].notna()]
        ax.vlines(known["t_ms"], known["quality_lo"], known["quality_hi"], color=look.front, alpha=0.5)
        if title:
            ax.set_title(title, loc="left")
        return figure.told(look, _alt(result, t, look.say), result.table)


def _alt(result: AnytimeResult, known: pd.DataFrame, say: PlotWords) -> str:
    if known.empty:
        return say.alt(result, "")
    last = known.iloc[-1]
    return say.alt(result, say("alt.anytime", end=percent(last["quality"]), seconds=digits(last["t_ms"] / 1000)))
