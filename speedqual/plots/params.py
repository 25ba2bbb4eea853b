"""Speed against parameter size, with the speed frontier."""

from __future__ import annotations

import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from speedqual.analysis.params import SpeedBySizeResult
from speedqual.plots.axes import amount, log_axis, log_ticks
from speedqual.plots.labels import place_labels
from speedqual.plots.style import Drawing, Style, new_drawing, use

__all__ = ["plot"]


def plot(result: SpeedBySizeResult, *, style: str | Style = "light", title: str = "") -> Drawing:
    """Points by size and speed; deployments of one model are joined; the frontier is a step line."""
    with use(style) as look:
        figure, ax = new_drawing()
        m, t = result.measure, result.table
        log_axis(ax, t["params_b"], "", "parameters, billions (log)", invert=False)
        values = t[m.name].to_numpy(float)
        ax.set_yscale("log")
        ax.yaxis.set_major_locator(FixedLocator(log_ticks(values.min() * 0.85, values.max() * 1.15)))
        ax.yaxis.set_minor_locator(NullLocator())
        ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: amount(v, m.unit)))
        ax.set_ylabel(f"{m.label} (log, faster ↑)")
        for _, members in t.groupby(["model", "params_b"], sort=False):
            if len(members) > 1:
                ax.vlines(members["params_b"].iloc[0], members[m.name].min(), members[m.name].max(), color=look.quiet)
        on = t[t["on_front"]].sort_values("params_b")
        others = t[~t["on_front"]]
        ax.scatter(others["params_b"], others[m.name], color=look.quiet, s=26, marker="o", zorder=3, label="others")
        ax.plot(on["params_b"], on[m.name], drawstyle="steps-pre", color=look.front, linewidth=1.4)
        ax.scatter(on["params_b"], on[m.name], color=look.front, s=48, marker="D", zorder=4, label="speed frontier")
        if not m.higher_is_better:
            ax.invert_yaxis()
        if title:
            ax.set_title(title, loc="left")
        figure.legend(loc="outside lower left", ncols=2, frameon=False, fontsize=8, labelcolor=look.ink)
        avoid = t[["params_b", m.name]].to_numpy(float) if len(t) else np.empty((0, 2))
        place_labels(ax, on["params_b"].tolist(), on[m.name].tolist(), on["candidate"].tolist(), avoid, look)
        figure.alt_text, figure.numbers = result.verdict, t
        return figure
