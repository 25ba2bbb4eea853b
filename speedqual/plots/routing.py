"""Routing: quality over the share sent to the strong candidate, with the random line and the oracle."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from speedqual.analysis.routing import RoutingResult
from speedqual.display.numbers import percent
from speedqual.plots.axes import percent_axis, percent_ticks, shorten
from speedqual.plots.labels import place_labels
from speedqual.plots.style import Drawing, Style, new_drawing, use
from speedqual.plots.words import PlotWords

__all__ = ["plot"]

_DASHES = {"random": (0, (1, 2)), "oracle": (0, (5, 3)), "router": "-"}

_HEDGE = "hedge after "


def plot(result: RoutingResult, *, style: str | Style = "light", lang: str = "en", title: str = "") -> Drawing:
    """Draw the curves and a point with its interval for each policy."""
    with use(style, lang) as look:
        figure, ax = new_drawing(6.6, 4.4)
        t = result.table
        percent_axis(
            ax,
            [*t["quality_lo"].fillna(t["quality"]), *result.curve["quality"]],
            [*t["quality_hi"].fillna(t["quality"])],
            look.say("axis.quality"),
        )
        ax.set_xlim(-0.03, 1.03)
        percent_ticks(ax.xaxis)
        ax.set_xlabel(look.say("axis.asked_of", candidate=shorten(result.strong, 40)))
        _curves(ax, result, look)
        _policies(ax, result, look)
        if title:
            ax.set_title(title, loc="left")
        figure.legend(loc="outside lower left", ncols=4, frameon=False, fontsize=8, labelcolor=look.ink)
        return figure.told(look, _alt(result, look.say), t)


def _alt(result: RoutingResult, say: PlotWords) -> str:
    rows = result.table.to_dict("records")
    points = [say("alt.value", name=_name(row["policy"], say), value=percent(row["quality"])) for row in rows]
    return say.alt(result, say("alt.routing", strong=result.strong, points=say("alt.list").join(points)))


def _name(policy: str, say: PlotWords) -> str:
    return say("label.hedge_after", q=policy[len(_HEDGE) :]) if policy.startswith(_HEDGE) else say.label(policy)


def _curves(ax: Axes, result: RoutingResult, look: Style) -> None:
    for name, rows in result.curve.groupby("policy", sort=False):
        label = look.say(f"legend.{name}")
        colour = look.front if name == "router" else look.quiet
        if result.areas:
            label = look.say("legend.area", line=label, area=f"{result.areas[str(name)]:.2f}")
        line: dict[str, Any] = {"color": colour, "linestyle": _DASHES[str(name)], "linewidth": 1.6, "label": label}
        ax.plot(rows["share_strong"], rows["quality"], **line)


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
    names = [_name(policy, look.say) for policy in t["policy"]]
    place_labels(ax, t["share_strong"].tolist(), t["quality"].tolist(), names, points, look, size=8)
