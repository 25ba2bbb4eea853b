"""Quality along the load: delivered and given with intervals, and beneath what the rest of the requests came to."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from speedqual.analysis.load.quality import QualityResult
from speedqual.display.numbers import percent
from speedqual.plots.axes import percent_axis, percent_ticks, shorten
from speedqual.plots.load.places import alt_text, colour_of, level_axis, level_name
from speedqual.plots.style import MARKERS, Drawing, Style, new_drawing, use
from speedqual.plots.words import PlotWords

__all__ = ["plot"]

_SHARES = (("wrong", None), ("truncated", 4), ("timed_out", 1), ("other_failures", 3))


def plot(result: QualityResult, *, style: str | Style = "light", lang: str = "en", title: str = "") -> Drawing:
    """A column of two panels for each layer; solid: delivered, dashed: given an answer."""
    with use(style, lang) as look:
        t = result.table
        layers = list(dict.fromkeys(t["layer"]))
        figure, axes = new_drawing(
            max(7.6, 4.8 * len(layers)), 5.2, nrows=2, ncols=len(layers), squeeze=False, height_ratios=[2.2, 1]
        )
        names = [str(name) for name in dict.fromkeys(t["candidate"])]
        for (above, below), layer in zip(axes.T, layers, strict=True):
            rows = t[t["layer"] == layer]
            _qualities(above, rows, names, look, legend=layer == layers[0])
            _shares(below, rows, names, look, legend=layer == layers[0])
            level_axis(above, rows, look.say)
            above.set_xlabel("")
        axes[0, 0].set_ylabel(look.say("axis.quality"))
        axes[1, 0].set_ylabel(look.say("load.of_requests"))
        if title:
            figure.suptitle(title, x=0.01, ha="left")
        figure.legend(loc="outside lower left", ncols=3, frameon=False, fontsize=8, labelcolor=look.ink)
        return figure.told(look, _alt(result, look.say), t)


def _qualities(ax: Axes, rows: pd.DataFrame, names: list[str], look: Style, *, legend: bool) -> None:
    for i, name in enumerate(names):
        mine = rows[rows["candidate"] == name]
        colour, mark = colour_of(names, name, look), MARKERS[i % len(MARKERS)]
        for what, dash in (("delivered", "-"), ("given", (0, (4, 2)))):
            known = mine[mine[what].notna()]
            x, y = known["x"].to_numpy(float), known[what].to_numpy(float)
            lo, hi = (pd.to_numeric(known[f"{what}_{end}"]).to_numpy(float) for end in ("lo", "hi"))
            said = look.say(f"load.{what}")
            label = said if len(names) == 1 else look.say("mark.labelled", name=shorten(name, 24), label=said)
            ax.errorbar(
                x, y, yerr=np.nan_to_num(np.abs([y - lo, hi - y])) if what == "delivered" else None, color=colour,
                linestyle=dash, marker=mark, markersize=5, capsize=3, elinewidth=1.0, linewidth=1.6,
                markerfacecolor=colour if what == "delivered" else look.paper, label=label if legend else None,
            )  # fmt: skip
    percent_axis(ax, [*rows["delivered_lo"], *rows["given"]], [*rows["delivered_hi"], *rows["given"]], "")


def _shares(ax: Axes, rows: pd.DataFrame, names: list[str], look: Style, *, legend: bool) -> None:
    """Stacked shares of requests, one bar per level and candidate."""
    rows = rows.assign(other_failures=(rows["failed"] - rows["timed_out"]).clip(lower=0))
    levels = rows.drop_duplicates("level")
    place = {level: k for k, level in enumerate(levels["level"])}
    width = 0.8 / len(names)
    for i, name in enumerate(names):
        mine = rows[rows["candidate"] == name]
        at = np.array([place[level] for level in mine["level"]], float) + (i - (len(names) - 1) / 2) * width
        bottom = np.zeros(len(mine))
        for what, colour in _SHARES:
            share = mine[what].to_numpy(float)
            label = look.say(f"load.{what}") if legend and i == 0 else None
            fill = look.quiet if colour is None else look.series[colour]
            ax.bar(at, share, width * 0.9, bottom=bottom, color=fill, linewidth=0, label=label)
            bottom += share
    ax.set_xticks(range(len(levels)), [level_name(look.say, row) for row in levels.to_dict("records")], fontsize=8)
    ax.set_ylim(0, min(1.0, max(0.1, 1.15 * float((rows["wrong"] + rows["truncated"] + rows["failed"]).max()))))
    ax.grid(visible=False, axis="x")
    percent_ticks(ax.yaxis)
    ax.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))


def _alt(result: QualityResult, say: PlotWords) -> str:
    rows = result.table[result.table["delivered"].notna()].head(12).to_dict("records")
    points = [
        say("alt.value", name=f"{row['candidate']}, {level_name(say, row)}", value=percent(row["delivered"]))
        for row in rows
    ]
    return alt_text(result, say, "load.alt_quality", points)
