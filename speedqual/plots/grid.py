"""A heat map of a metric over two conditions, its values written into the cells."""

from __future__ import annotations

import numpy as np
import seaborn as sns
from matplotlib.colors import LogNorm

from speedqual.analysis.grid import GridResult
from speedqual.plots.axes import amount
from speedqual.plots.style import Drawing, Style, new_drawing, ramp, use

__all__ = ["plot"]


def plot(result: GridResult, *, style: str | Style = "light", title: str = "") -> Drawing:
    """Dark = slow (or bad); the colours run on a log scale where the values span more than a factor of 3."""
    with use(style) as look:
        wide, m = result.wide(), result.measure
        values = wide.to_numpy(float)
        share = result.grid.metric == "score"
        texts = np.vectorize(lambda v: "" if np.isnan(v) else f"{100 * v:.0f} %" if share else amount(v, m.unit))(
            values
        )
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        norm = LogNorm(low, high) if low > 0 and high / low > 3 and not share else None
        good_is_high = m.higher_is_better or share
        colours = ramp(look).reversed() if good_is_high else ramp(look)
        figure, ax = new_drawing(2.2 + 0.95 * wide.shape[1], 1.5 + 0.5 * wide.shape[0])
        sns.heatmap(
            wide, ax=ax, cmap=colours, norm=norm, annot=texts, fmt="", cbar=False,
            linewidths=1, linecolor=look.paper, annot_kws={"fontsize": 8},
        )  # fmt: skip
        ax.set_xlabel(result.grid.columns)
        ax.set_ylabel(result.grid.rows)
        quantile = "" if result.grid.quantile is None or share else f", p{100 * result.grid.quantile:g}"
        ax.set_title(title or f"{'quality' if share else m.label}{quantile}", loc="left", fontsize=10)
        figure.alt_text, figure.numbers = result.verdict, result.table
        return figure
