"""A heat map of a metric over two conditions, its values written into the cells."""

from __future__ import annotations

import numpy as np
import seaborn as sns
from matplotlib.colors import LogNorm

from speedqual.analysis.grid import GridResult
from speedqual.display.numbers import amount, percent
from speedqual.plots.style import Drawing, Style, legible, new_drawing, ramp, use

__all__ = ["plot"]


def plot(result: GridResult, *, style: str | Style = "light", lang: str = "en", title: str = "") -> Drawing:
    """Dark = slow (or bad); the colours run on a log scale where the values span more than a factor of 3."""
    with use(style, lang) as look:
        wide, m = result.wide(), result.measure
        values = wide.to_numpy(float)
        share = result.grid.metric == "score"
        unit = look.say.unit(m.unit)

        def tell(v: float) -> str:
            return "" if np.isnan(v) else percent(v) if share else amount(v, unit)

        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        norm = LogNorm(low, high) if low > 0 and high / low > 3 and not share else None
        good_is_high = m.higher_is_better or share
        colours = ramp(look).reversed() if good_is_high else ramp(look)
        figure, ax = new_drawing(2.2 + 0.95 * wide.shape[1], 1.5 + 0.5 * wide.shape[0])
        sns.heatmap(
            wide, ax=ax, cmap=colours, norm=norm, annot=np.vectorize(tell)(values), fmt="", cbar=False,
            linewidths=1, linecolor=look.paper, annot_kws={"fontsize": 8},
        )  # fmt: skip
        legible(ax)
        rows, columns = look.say.column(result.grid.rows), look.say.column(result.grid.columns)
        ax.set(xlabel=columns, ylabel=rows)
        quantity = look.say("axis.quality") if share else look.say.measure(m)
        if result.grid.quantile is not None and not share:
            quantity = look.say("mark.quantile", quantity=quantity, q=f"{100 * result.grid.quantile:g}")
        ax.set_title(title or quantity, loc="left", fontsize=10)
        text = look.say("alt.grid", quantity=quantity, rows=rows, columns=columns, low=tell(low), high=tell(high))
        return figure.told(look, look.say.alt(result, text), result.table)
