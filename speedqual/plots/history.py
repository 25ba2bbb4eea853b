"""Metrics over many runs: one panel a metric, changes of level marked."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from speedqual.analysis.history import HistoryResult
from speedqual.analysis.measures import find_measure
from speedqual.display.numbers import amount, percent
from speedqual.plots.axes import shorten
from speedqual.plots.style import MARKERS, Drawing, Style, new_drawing, use

__all__ = ["plot"]


def plot(result: HistoryResult, *, style: str | Style = "light", lang: str = "en", title: str = "") -> Drawing:
    """Draw values with intervals in the order of the runs; a dashed line where a new level begins."""
    with use(style, lang) as look:
        metrics = list(dict.fromkeys(result.table["metric"]))
        figure, axes = new_drawing(7.6, 0.8 + 1.8 * len(metrics), nrows=len(metrics), squeeze=False, sharex=True)
        for ax, metric in zip(axes.ravel(), metrics, strict=True):
            _panel(ax, result, metric, look)
        last = axes.ravel()[-1]
        step = max(1, len(result.runs) // 12)
        last.set_xticks(range(0, len(result.runs), step), [shorten(r, 16) for r in result.runs[::step]])
        long = max(map(len, result.runs), default=0) > 4
        for tick in last.get_xticklabels() if long else ():
            tick.set(rotation=30, ha="right", rotation_mode="anchor", fontsize=7.5)
        handles, names = axes.ravel()[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower left", ncols=3, frameon=False, fontsize=8, labelcolor=look.ink)
        if title:
            figure.suptitle(title, x=0.01, ha="left")
        text = look.say("alt.history", n=len(result.runs))
        return figure.told(look, look.say.alt(result, text), result.table)


def _panel(ax: Axes, result: HistoryResult, metric: str, look: Style) -> None:
    rows = result.table[result.table["metric"] == metric]
    unit = look.say.unit(find_measure(metric).unit)
    for i, (name, points) in enumerate(rows.groupby("candidate", sort=False)):
        colour = look.series[i % len(look.series)]
        at, value = points["order"].to_numpy(float), points["value"].to_numpy(float)
        ax.plot(at, value, color=colour, marker=MARKERS[i % len(MARKERS)], markersize=4.5, label=shorten(str(name), 28))
        lo, hi = points["lo"].to_numpy(float), points["hi"].to_numpy(float)
        known = np.isfinite(lo) & np.isfinite(hi)
        ax.vlines(at[known], lo[known], hi[known], color=colour, alpha=0.6, linewidth=1.1)
        mine = result.trends[(result.trends["candidate"] == name) & (result.trends["metric"] == metric)]
        for run in [r for changes in mine["changes"] for r in changes]:
            ax.axvline(result.runs.index(run) - 0.5, color=colour, linestyle=(0, (4, 3)), linewidth=1.2)
    share = metric == "quality"
    ax.yaxis.set_major_formatter(lambda v, _: percent(v) if share else amount(v, unit))
    ax.set_title(look.say.measure(find_measure(metric)), loc="left", fontsize=9)
