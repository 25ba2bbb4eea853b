"""Streams over time: cumulative tokens, reasoning dashed, stalls marked, first and last third compared."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from speedqual.analysis.streams import StreamsResult
from speedqual.display.numbers import percent
from speedqual.plots.axes import shorten
from speedqual.plots.style import MARKERS, Drawing, Style, new_drawing, use

__all__ = ["plot"]


def plot(result: StreamsResult, *, style: str | Style = "light", lang: str = "en", title: str = "") -> Drawing:
    """Draw up to eight streams in colour, the others grey."""
    with use(style, lang) as look:
        figure, ax = new_drawing()
        for i, (name, rows) in enumerate(result.table.groupby("stream", sort=False)):
            _stream(ax, i, str(name), rows, look, result)
        ax.set_xlabel(look.say("axis.seconds_since_sent"))
        ax.set_ylabel(look.say("axis.or").join(look.say.label(unit) for unit in dict.fromkeys(result.table["counted"])))
        ax.set_xlim(left=0)
        ax.set_ylim(bottom=0)
        if title:
            ax.set_title(title, loc="left")
        figure.legend(loc="outside lower left", ncols=2, frameon=False, fontsize=8, labelcolor=look.ink)
        text = look.say("alt.streams", n=len(result.rates))
        return figure.told(look, look.say.alt(result, text), result.rates)


def _stream(ax: Axes, i: int, name: str, rows: pd.DataFrame, look: Style, result: StreamsResult) -> None:
    named = i < len(look.series)
    colour = look.series[i] if named else look.quiet
    seconds, done = rows["t_ms"].to_numpy(float) / 1000, rows["done"].to_numpy(float)
    rate = result.rates.loc[result.rates["stream"] == name, "decay_ratio"].iloc[0]
    label = shorten(name, 28)
    if pd.notna(rate):
        label = look.say("legend.last_third", stream=label, share=percent(float(rate)))
    thinking = (rows["channel"] == "reasoning").to_numpy()
    width, every = (1.6 if named else 0.8), max(1, len(rows) // 6)
    (line,) = ax.plot(seconds, np.where(thinking, np.nan, done), color=colour, linewidth=width, drawstyle="steps-post")
    line.set(marker=MARKERS[i % len(MARKERS)], markevery=every, markersize=4, label=label if named else None)
    if thinking.any():
        ax.plot(
            seconds, np.where(thinking, done, np.nan), color=colour, linestyle=(0, (2, 1.5)), drawstyle="steps-post"
        )
    for at in np.flatnonzero(rows["stalled"].to_numpy(bool)):
        ax.hlines(done[at - 1], seconds[at - 1], seconds[at], color=look.alarm, linewidth=3.2, alpha=0.8, zorder=4)
