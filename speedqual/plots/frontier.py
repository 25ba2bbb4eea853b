"""The frontier: quality against speed, faster to the right."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from speedqual.analysis.frontier import FrontierResult
from speedqual.analysis.measures import Measure
from speedqual.display.numbers import amount, percent
from speedqual.plots.axes import log_axis, percent_axis
from speedqual.plots.labels import place_labels
from speedqual.plots.style import Drawing, Style, new_drawing, use
from speedqual.plots.words import PlotWords

__all__ = ["draw_frontier", "label_front", "plot", "speed_axis"]

_ALL_NAMED = 10  # with more candidates than this only the front's are named


def plot(
    result: FrontierResult,
    *,
    style: str | Style = "light",
    lang: str = "en",
    title: str = "",
    width: float = 7.6,
    height: float = 4.6,
) -> Drawing:
    """Draw a frontier: front points by size and strength for P(on the front), others grey, step line, floor dashed."""
    with use(style, lang) as look:
        figure, ax = new_drawing(width, height)
        if title:
            ax.set_title(title, loc="left")
        draw_frontier(ax, result, look, legend=True)
        return figure.told(look, _alt(result, look.say), _numbers(result))


def draw_frontier(ax: Axes, result: FrontierResult, look: Style, *, labels: bool = True, legend: bool = False) -> None:
    """Draw into given axes."""
    m = result.measures[0]
    table = result.table
    shown = table[table[m.name].notna() & (table[m.name] > 0) & np.isfinite(table[m.name].astype(float))]
    front, others = shown[shown["on_front"]].sort_values(m.name), shown[~shown["on_front"]]
    _axes(ax, result, shown, m, look)
    _band(ax, result, look)
    _others(ax, others, m, look)
    _front(ax, front, m, look)
    _floor(ax, result, look)
    figure = ax.get_figure(root=True)
    if legend and figure is not None and len(shown):
        figure.legend(loc="outside lower left", ncols=3, frameon=False, fontsize=8, labelcolor=look.ink)
    if labels:
        label_front(ax, result, look)


def label_front(ax: Axes, result: FrontierResult, look: Style) -> None:
    """Names beside the front's points, and the others' in grey where there is room; call it with final limits."""
    m, table = result.measures[0], result.table
    shown = table[table[m.name].notna() & (table[m.name] > 0) & np.isfinite(table[m.name].astype(float))]
    front = shown[shown["on_front"]].sort_values(m.name)
    points = shown[[m.name, "quality"]].to_numpy(float)
    avoid = np.vstack([points, _along_whiskers(front, m), _along_steps(front, m)])
    named = shown if len(shown) <= _ALL_NAMED else front
    x, y, quiet = named[m.name].tolist(), named["quality"].tolist(), (~named["on_front"].astype(bool)).tolist()
    place_labels(ax, x, y, named["candidate"].tolist(), avoid, look, quiet=quiet)


def speed_axis(ax: Axes, values: Iterable[float], m: Measure, say: PlotWords) -> None:
    """A log x axis of a speed, a time or a cost, its good end at the right and named so."""
    direction = "faster" if m.higher_is_better or m.unit in ("ms", "s") else "less"
    label = say(f"axis.{direction}", quantity=say.measure(m))
    log_axis(ax, values, m.unit, label, invert=not m.higher_is_better, say=say)


def _axes(ax: Axes, result: FrontierResult, shown: pd.DataFrame, m: Measure, look: Style) -> None:
    speed_axis(ax, shown[m.name], m, look.say)
    floor = [] if result.floor is None else [result.floor]
    lows, highs = shown["quality_lo"].fillna(shown["quality"]), shown["quality_hi"].fillna(shown["quality"])
    percent_axis(ax, [*lows, *floor], [*highs, *floor], look.say("axis.quality"))


def _band(ax: Axes, result: FrontierResult, look: Style) -> None:
    if len(result.band) and len(result.measures) == 1:
        b = result.band
        label = look.say("legend.band")
        ax.fill_between(b["x"], b["lo"], b["hi"], color=look.band, alpha=0.12, linewidth=0, zorder=1, label=label)


def _others(ax: Axes, others: pd.DataFrame, m: Measure, look: Style) -> None:
    if others.empty:
        return
    many = len(others) > 30
    _whiskers(ax, others, m, look.quiet, 0.15 if many else 0.35)
    ax.scatter(
        others[m.name],
        others["quality"],
        s=18,
        color=look.quiet,
        alpha=0.45 if many else 0.6,
        linewidths=0,
        marker="o",
        zorder=3,
        label=look.say("legend.not_front"),
    )


def _whiskers(ax: Axes, rows: pd.DataFrame, m: Measure, colour: str, alpha: float) -> None:
    drawn: dict[str, Any] = {"color": colour, "alpha": alpha, "linewidth": 1.1, "zorder": 2}
    known = rows[rows["quality_lo"].notna() & rows["quality_hi"].notna()]
    ax.vlines(known[m.name], known["quality_lo"], known["quality_hi"], **drawn)
    wide = rows[rows[f"{m.name}_lo"].notna() & rows[f"{m.name}_hi"].notna()]
    ax.hlines(wide["quality"], wide[f"{m.name}_lo"], wide[f"{m.name}_hi"], **drawn)


def _along_whiskers(rows: pd.DataFrame, m: Measure) -> NDArray[np.float64]:
    """Points along the vertical intervals, for labels to keep clear of."""
    known = rows[rows["quality_lo"].notna() & rows["quality_hi"].notna()]
    lo, hi = known["quality_lo"].to_numpy(float), known["quality_hi"].to_numpy(float)
    heights = np.concatenate([lo + share * (hi - lo) for share in (0.0, 0.25, 0.75, 1.0)])
    return np.column_stack([np.tile(known[m.name].to_numpy(float), 4), heights])


def _along_steps(front: pd.DataFrame, m: Measure) -> NDArray[np.float64]:
    """Points along the step line: the corner below (or beside) each point and the halves of its arms."""
    x, y = front[m.name].to_numpy(float), front["quality"].to_numpy(float)
    if len(x) < 2:
        return np.empty((0, 2))
    corner_x, corner_y = (x[1:], y[:-1]) if not m.higher_is_better else (x[:-1], y[1:])
    along = [(corner_x, corner_y)]
    along += [(np.sqrt(x[1:] * x[:-1]), corner_y), (corner_x, (y[1:] + y[:-1]) / 2)]
    return np.vstack([np.column_stack(pair) for pair in along])


def _front(ax: Axes, front: pd.DataFrame, m: Measure, look: Style) -> None:
    if front.empty:
        return
    chance = front["p_on_front"].astype(float).fillna(1.0).to_numpy(float)
    best_first = front.sort_values(m.name, ascending=not m.higher_is_better)
    steps_x = [*best_first[m.name], ax.get_xlim()[0]]
    steps_y = [*best_first["quality"], best_first["quality"].iloc[-1]]
    ax.plot(steps_x, steps_y, drawstyle="steps-post", color=look.front, linewidth=1.4, alpha=0.8, zorder=3)
    _whiskers(ax, front, m, look.front, 0.7)
    ax.scatter(
        front[m.name],
        front["quality"],
        s=26 + 70 * chance,
        alpha=cast(Any, 0.35 + 0.65 * chance),
        color=look.front,
        marker="D",
        edgecolors=look.paper,
        linewidths=0.8,
        zorder=4,
        label=look.say("legend.front"),
    )


def _floor(ax: Axes, result: FrontierResult, look: Style) -> None:
    if result.floor is None:
        return
    ax.axhline(result.floor, color=look.alarm, linestyle=(0, (5, 3)), linewidth=1.2, zorder=2)
    right = ax.get_yaxis_transform()
    text = look.say("mark.floor", share=percent(result.floor))
    ax.text(0.995, result.floor, text, color=look.alarm, fontsize=8, ha="right", va="bottom", transform=right, zorder=5)


def _alt(result: FrontierResult, say: PlotWords) -> str:
    m = result.measures[0]
    table = result.table.drop_duplicates("candidate").set_index("candidate")
    speed, quality = table[m.name].astype(float), table["quality"].astype(float)
    unit = say.unit(m.unit)
    points = [
        say("alt.point", candidate=name, speed=amount(speed[name], unit), quality=percent(quality[name]))
        for name in result.front[:8]
    ]
    return say.alt(result, say("alt.frontier", points=say("alt.list").join(points)))


def _numbers(result: FrontierResult) -> pd.DataFrame:
    first: list[str] = ["candidate", *(m.name for m in result.measures)]
    return result.table[[*first, "quality", "quality_lo", "quality_hi", "n", "on_front", "p_on_front"]]
