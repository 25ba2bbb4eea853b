"""Cost per success with its interval, cheapest first."""

from __future__ import annotations

import numpy as np

from speedqual.analysis.cost import CostResult
from speedqual.plots.axes import log_axis, shorten
from speedqual.plots.style import Drawing, Style, new_drawing, use

__all__ = ["plot"]


def plot(result: CostResult, *, style: str | Style = "light", title: str = "") -> Drawing:
    """A dot and an interval for each candidate whose cost is known; the number of the others in the title."""
    with use(style) as look:
        t = result.table[result.table["cost_per_success"].notna() & (result.table["cost_per_success"] > 0)]
        t = t.sort_values("cost_per_success", ascending=False, kind="stable")
        figure, ax = new_drawing(6.8, 1.4 + 0.26 * max(3, len(t)))
        at = np.arange(len(t))
        lo, hi = t["cost_per_success_lo"].astype(float), t["cost_per_success_hi"].astype(float)
        ends = [*t["cost_per_success"], *lo.dropna(), *hi.dropna()]
        log_axis(ax, ends, "USD", "cost per success (log)", invert=False)
        ax.hlines(
            at, lo.fillna(t["cost_per_success"]), hi.fillna(t["cost_per_success"]), color=look.front, linewidth=1.4
        )
        ax.scatter(t["cost_per_success"], at, color=look.front, marker="D", s=32, zorder=3)
        ax.set_yticks(at, [shorten(str(name), 36) for name in t["candidate"]])
        ax.grid(axis="y", visible=False)
        unknown = len(result.table) - len(t)
        heading = title or (f"{unknown} more have no known cost or no success" if unknown else "")
        ax.set_title(heading, loc="left", fontsize=9, color=look.ink if title else look.quiet)
        figure.alt_text, figure.numbers = result.verdict, t
        return figure
