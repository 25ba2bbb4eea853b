"""Cost per success with its interval, cheapest first."""

from __future__ import annotations

import numpy as np
import pandas as pd

from speedqual.analysis.cost import CostResult
from speedqual.display.numbers import amount
from speedqual.plots.axes import log_axis, shorten
from speedqual.plots.style import Drawing, Style, new_drawing, use
from speedqual.plots.words import PlotWords

__all__ = ["plot"]


def plot(result: CostResult, *, style: str | Style = "light", lang: str = "en", title: str = "") -> Drawing:
    """A dot and an interval for each candidate whose cost is known; the number of the others in the title."""
    with use(style, lang) as look:
        t = result.table[result.table["cost_per_success"].notna() & (result.table["cost_per_success"] > 0)]
        t = t.sort_values("cost_per_success", ascending=False, kind="stable")
        figure, ax = new_drawing(6.8, 1.4 + 0.26 * max(3, len(t)))
        at = np.arange(len(t))
        lo, hi = t["cost_per_success_lo"].astype(float), t["cost_per_success_hi"].astype(float)
        ends = [*t["cost_per_success"], *lo.dropna(), *hi.dropna()]
        quantity = look.say("axis.cost_per_success")
        log_axis(ax, ends, "USD", look.say("axis.log", quantity=quantity), invert=False)
        ax.hlines(
            at, lo.fillna(t["cost_per_success"]), hi.fillna(t["cost_per_success"]), color=look.front, linewidth=1.4
        )
        ax.scatter(t["cost_per_success"], at, color=look.front, marker="D", s=32, zorder=3)
        ax.set_yticks(at, [shorten(str(name), 36) for name in t["candidate"]])
        ax.grid(axis="y", visible=False)
        unknown = len(result.table) - len(t)
        heading = title or (look.say("mark.no_cost", n=unknown) if unknown else "")
        ax.set_title(heading, loc="left", fontsize=9, color=look.ink if title else look.quiet)
        return figure.told(look, _alt(result, t, look.say), t)


def _alt(result: CostResult, known: pd.DataFrame, say: PlotWords) -> str:
    rows = known.iloc[::-1].head(8).to_dict("records")
    points = [say("alt.value", name=r["candidate"], value=amount(r["cost_per_success"], "USD")) for r in rows]
    quantity = say("axis.cost_per_success")
    return say.alt(result, say("alt.series", quantity=quantity, points=say("alt.list").join(points)))
