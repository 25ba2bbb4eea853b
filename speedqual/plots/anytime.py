"""Anytime quality: worth of the answer so far, over time."""

from __future__ import annotations

from speedqual.analysis.anytime import AnytimeResult
from speedqual.plots.axes import log_axis, percent_axis
from speedqual.plots.style import Drawing, Style, new_drawing, use

__all__ = ["plot"]


def plot(result: AnytimeResult, *, style: str | Style = "light", title: str = "") -> Drawing:
    """A step line with its interval."""
    with use(style) as look:
        figure, ax = new_drawing(6.2, 3.8)
        t = result.table[result.table["quality"].notna()]
        log_axis(ax, t["t_ms"], "ms", "time since the request was sent (log)", invert=False, room=0.03)
        percent_axis(ax, [0.0], [*t["quality_hi"].fillna(t["quality"]), 0.1], "quality of the part so far")
        ax.plot(t["t_ms"], t["quality"], drawstyle="steps-post", marker="o", markersize=4, color=look.front)
        known = t[t["quality_lo"].notna()]
        ax.vlines(known["t_ms"], known["quality_lo"], known["quality_hi"], color=look.front, alpha=0.5)
        if title:
            ax.set_title(title, loc="left")
        figure.alt_text, figure.numbers = result.verdict, result.table
        return figure
