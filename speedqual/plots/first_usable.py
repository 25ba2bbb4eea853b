"""When the first usable part was there: one ECDF a candidate and kind of part, over all its replies."""

from __future__ import annotations

import numpy as np
import pandas as pd

from speedqual.analysis.first_usable import FirstUsableResult
from speedqual.display.numbers import amount, percent
from speedqual.plots.axes import log_axis, percent_axis, shorten
from speedqual.plots.style import MARKERS, Drawing, Style, new_drawing, use
from speedqual.plots.words import PlotWords

__all__ = ["plot"]

_NAMED = 8


def plot(result: FirstUsableResult, *, style: str | Style = "light", lang: str = "en", title: str = "") -> Drawing:
    """A curve ends below 100 % where replies have no usable part."""
    with use(style, lang) as look:
        figure, ax = new_drawing(6.6, 4.0)
        known = result.rows[result.rows["first_usable_ms"].notna()]
        if len(known):
            since = look.say("axis.log", quantity=look.say("axis.since_sent"))
            log_axis(ax, known["first_usable_ms"], "ms", since, invert=False, room=0.05, say=look.say)
        percent_axis(ax, [0.0], [1.0], look.say("axis.share_usable"))
        asked = result.rows[result.rows["part"].notna()]
        for i, ((name, part), rows) in enumerate(asked.groupby(["candidate", "part"], sort=False)):
            times = np.sort(pd.to_numeric(rows["first_usable_ms"], errors="coerce").dropna().to_numpy(float))
            label = look.say("mark.labelled", name=shorten(str(name), 24), label=look.say.label(str(part)))
            colour = look.series[i] if i < _NAMED else look.quiet
            share = np.arange(1, times.size + 1) / len(rows)
            shape = {"drawstyle": "steps-post", "marker": MARKERS[i % len(MARKERS)], "markersize": 4}
            ax.plot(times, share, color=colour, label=label if i < _NAMED else None, **shape)
        if len(asked):
            figure.legend(loc="outside lower left", ncols=2, frameon=False, fontsize=8, labelcolor=look.ink)
        if title:
            ax.set_title(title, loc="left")
        return figure.told(look, _alt(result, look.say), result.table)


def _alt(result: FirstUsableResult, say: PlotWords) -> str:
    points = []
    for row in result.table.head(8).to_dict("records"):
        if pd.notna(row["first_usable_ms"]):
            name = say("mark.labelled", name=row["candidate"], label=say.label(row["part"]))
            of = percent(row["n"] / (row["n"] + row["undefined"]))
            points.append(say("alt.value", name=name, value=f"{amount(row['first_usable_ms'], 'ms')}, {of}"))
    return say.alt(result, say("alt.first_usable", points=say("alt.list").join(points)))
