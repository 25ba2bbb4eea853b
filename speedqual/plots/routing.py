"""Routing: quality over the share sent to the strong candidate, with the random line and the oracle."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from speedqual.analysis.routing import RoutingResult
from speedqual.plots.axes import percent_axis, shorten
from speedqual.plots.labels import place_labels
from speedqual.plots.style import Drawing, Style, new_drawing, use

__all__ = ["plot"]

_LINES = {"random": ("random mix", (0, (1, 2))), "oracle": ("oracle", (0, (5, 3))), "router": ("router", "-")}


def plot(result: RoutingResult, *, style: str | Style = "light", title: str = "") -> Drawing:
    """Draw the curves and a point with its interval for each policy."""
    with use(style) as look:
        figure, ax = new_drawing(6.6, 4.4)
        t = result.table
        percent_axis(
            ax,
            [*t["quality_lo"].fillna(t["quality"]), *result.curve["quality"]],
            [*t["quality_hi"].fillna(t["quality"])],
        )
        ax.set_xlim(-0.03, 1.03)
        ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{100 * v:.0f} %"))
        ax.set_xlabel(f"asked of {shorten(result.strong, 40)}")
        _curves(ax, result, look)
        _policies(ax, result, look)
        if title:
            ax.set_title(title, loc="left")
        figure.legend(loc="outside lower left", ncols=4, frameon=False, fontsize=8, labelcolor=look.ink)
        figure.alt_text = result.verdict
        figure.numbers = t
        return figure


def _curves(ax: Axes, result: RoutingResult, look: Style) -> None:
    for name, rows in result.curve.groupby("policy", sort=False):
        label, dash = _LINES[str(name)]
        colour = look.front if name == "router" else look.quiet
        area = f", area {result.areas[str(name)]:.2f}" if result.areas else ""
        ax.plot(
            rows["share_strong"], rows["quality"], color=colour, linestyle=dash, linewidth=1.6, label=f"{label}{area}"
        )


def _policies(ax: Axes, result: RoutingResult, look: Style) -> None:
    t = result.table[result.table["policy"] != "oracle"]
    known = t[t["quality_lo"].notna()]
    ax.vlines(
        known["share_strong"], known["quality_lo"], known["quality_hi"], color=look.alarm, alpha=0.5, linewidth=1.1
    )
    ax.scatter(t["share_strong"], t["quality"], color=look.alarm, marker="D", s=34, zorder=4, edgecolors=look.paper)
    points = np.vstack(
        [t[["share_strong", "quality"]].to_numpy(float), result.curve[["share_strong", "quality"]].to_numpy(float)]
    )
    place_labels(ax, t["share_strong"].tolist(), t["quality"].tolist(), t["policy"].tolist(), points, look, size=8)
