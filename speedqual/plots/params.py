"""Speed against parameter size, with the speed frontier."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from speedqual.analysis.params import SpeedBySizeResult
from speedqual.display.numbers import amount
from speedqual.plots.axes import log_axis, log_ticks
from speedqual.plots.labels import place_labels
from speedqual.plots.style import Drawing, Style, new_drawing, use
from speedqual.plots.words import PlotWords

__all__ = ["plot"]


def plot(result: SpeedBySizeResult, *, style: str | Style = "light", lang: str = "en", title: str = "") -> Drawing:
    """Points by size and speed; deployments of one model are joined; the frontier is a step line."""
    with use(style, lang) as look:
        figure, ax = new_drawing()
        m, t = result.measure, result.table
        unit = look.say.unit(m.unit)
        log_axis(ax, t["params_b"], "", look.say("axis.log", quantity=look.say("axis.parameters")), invert=False)
        values = t[m.name].to_numpy(float)
        ax.set_yscale("log")
        ax.yaxis.set_major_locator(FixedLocator(log_ticks(values.min() * 0.85, values.max() * 1.15)))
        ax.yaxis.set_minor_locator(NullLocator())
        ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: amount(v, unit)))
        ax.set_ylabel(look.say("axis.faster_up", quantity=look.say.measure(m)))
        for _, members in t.groupby(["model", "params_b"], sort=False):
            if len(members) > 1:
                ax.vlines(members["params_b"].iloc[0], members[m.name].min(), members[m.name].max(), color=look.quiet)
        on = t[t["on_front"]].sort_values("params_b")
        others = t[~t["on_front"]]
        ax.scatter(others["params_b"], others[m.name], **_dots(look.quiet, 26, "o", 3, look.say("legend.others")))
        ax.plot(on["params_b"], on[m.name], drawstyle="steps-pre", color=look.front, linewidth=1.4)
        ax.scatter(on["params_b"], on[m.name], **_dots(look.front, 48, "D", 4, look.say("legend.speed_front")))
        if not m.higher_is_better:
            ax.invert_yaxis()
        if title:
            ax.set_title(title, loc="left")
        figure.legend(loc="outside lower left", ncols=2, frameon=False, fontsize=8, labelcolor=look.ink)
        avoid = t[["params_b", m.name]].to_numpy(float) if len(t) else np.empty((0, 2))
        place_labels(ax, on["params_b"].tolist(), on[m.name].tolist(), on["candidate"].tolist(), avoid, look)
        return figure.told(look, _alt(result, on, look.say), t)


def _dots(colour: str, size: float, marker: str, above: int, label: str) -> dict[str, Any]:
    return {"color": colour, "s": size, "marker": marker, "zorder": above, "label": label}


def _alt(result: SpeedBySizeResult, front: pd.DataFrame, say: PlotWords) -> str:
    m, unit = result.measure, say.unit(result.measure.unit)
    rows = front.head(8).to_dict("records")
    points = [say("alt.value", name=row["candidate"], value=amount(row[m.name], unit)) for row in rows]
    return say.alt(result, say("alt.size", quantity=say.measure(m), points=say("alt.list").join(points)))
