"""Small multiples: one frontier a task on shared axes."""

from __future__ import annotations

import math

from speedqual.analysis.tasks import ByTaskResult
from speedqual.plots.axes import log_axis, percent_axis
from speedqual.plots.frontier import draw_frontier, label_front
from speedqual.plots.style import Drawing, Style, new_drawing, use

__all__ = ["plot"]


def plot(result: ByTaskResult, *, style: str | Style = "light", lang: str = "en", title: str = "") -> Drawing:
    """Draw every panel with the same limits, so that they can be compared."""
    with use(style, lang) as look:
        columns = min(3, len(result.panels))
        rows = math.ceil(len(result.panels) / columns)
        figure, axes = new_drawing(4.0 * columns, 3.3 * rows, nrows=rows, ncols=columns, squeeze=False)
        cells = list(axes.ravel())
        first = next(iter(result.panels.values()))
        m, t = first.measures[0], result.table
        lows, highs = (list(t[bound].fillna(t["quality"])) for bound in ("quality_lo", "quality_hi"))
        for ax, (name, panel) in zip(cells, result.panels.items(), strict=False):
            draw_frontier(ax, panel, look, labels=False)
            ax.set_title(name, loc="left", fontsize=9.5)
            log_axis(ax, t[m.name], m.unit, look.say.measure(m), invert=not m.higher_is_better, say=look.say)
            percent_axis(ax, lows, highs, look.say("axis.quality"))
        for ax, panel in zip(cells, result.panels.values(), strict=False):
            label_front(ax, panel, look)
        for ax in cells[len(result.panels) :]:
            ax.set_axis_off()
        if title:
            figure.suptitle(title, x=0.01, ha="left")
        points = [
            look.say("alt.task", task=k, front=look.say("mark.list").join(p.front[:4]))
            for k, p in result.panels.items()
        ]
        text = look.say("alt.tasks", n=len(points), points=look.say("alt.list").join(points))
        return figure.told(look, look.say.alt(result, text), t)
