"""Ladders: quality over the rungs with intervals, and a mark where it falls."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from speedqual.analysis.cliffs import CliffsResult, Judged, rung_rows
from speedqual.display.numbers import percent
from speedqual.plots.axes import percent_ticks, shorten
from speedqual.plots.style import MARKERS, Drawing, Style, new_drawing, use
from speedqual.plots.words import PlotWords

__all__ = ["draw_ladder", "plot"]

_TOLD = 8  # ladders that the alternative text spells out
_PANELS = 12  # more ladders than this share one panel, those with something to say in colour
_WORTH = ("cliff", "suspected edge", "rung fault", "serving fault", "grader fault", "steep")


def plot(
    result: CliffsResult, *, style: str | Style = "light", lang: str = "en", title: str = "", most: int = _PANELS
) -> Drawing:
    """One panel a ladder, the most telling first; with more than ``most`` ladders the rest share a last grey panel."""
    with use(style, lang) as look:
        shown, rest = _order(result, most)
        count = max(1, len(shown) + bool(rest))
        columns = min(3, max(1, count))
        rows = math.ceil(count / columns)
        width, height = (5.6, 3.6) if count == 1 else (3.3 * columns, 2.7 * rows)
        figure, axes = new_drawing(width, height, nrows=rows, ncols=columns, squeeze=False, sharey=count > 1)
        panels = list(axes.ravel())
        for ax, one in zip(panels, shown, strict=False):
            draw_ladder(ax, one, look, small=count > 1)
        if rest:
            _together(panels[len(shown)], rest, look)
        for ax in panels[count:]:
            ax.set_axis_off()
        for ax in panels:
            percent_ticks(ax.yaxis)
        if title:
            figure.suptitle(title, x=0.01, ha="left")
        return figure.told(look, _alt(result, look.say), _numbers(result))


def _alt(result: CliffsResult, say: PlotWords) -> str:
    ladders = [
        say(
            "alt.ladder", name=one.ladder.name, first=percent(one.ladder.means[0]), last=percent(one.ladder.means[-1]),
            label=say.label(one.label),
        )
        for one in _order(result, _TOLD + 1)[0]
    ]  # fmt: skip
    return say.alt(result, say("alt.cliffs", n=len(result.judged), points=say("alt.list").join(ladders)))


def _order(result: CliffsResult, most: int) -> tuple[list[Judged], list[Judged]]:
    rank = {label: i for i, label in enumerate(_WORTH)}
    judged = sorted(result.judged, key=lambda one: rank.get(one.label, len(rank)))
    return (judged, []) if len(judged) <= most else (judged[: most - 1], judged[most - 1 :])


def draw_ladder(ax: Axes, one: Judged, look: Style, *, small: bool = False) -> None:
    """One ladder: means, 95 % intervals, the step in the alarm colour with its size, the label as title."""
    rungs = _rung_table(one)
    at = np.arange(len(rungs))
    mean = rungs["quality"].to_numpy(float)
    ax.plot(at, mean, color=look.front, linewidth=1.4, marker="o", markersize=5, zorder=3)
    if rungs["quality_lo"].notna().all():
        ax.vlines(at, rungs["quality_lo"], rungs["quality_hi"], color=look.front, linewidth=1.3, alpha=0.7, zorder=2)
    if one.lenient and all(v is not None for v in one.lenient):
        ax.plot(at, [float(v or 0) for v in one.lenient], color=look.quiet, linestyle=":", marker="s", markersize=3.5)
    _mark(ax, one, mean, look)
    ax.set_xticks(at, [shorten(r, 10 if small else 16) for r in rungs["rung"]])
    _turn_long_ticks(ax, rungs["rung"], small)
    ax.set_title(shorten(f"{one.ladder.name}", 30), loc="left", fontsize=9)
    alarming = one.label not in ("none", "cannot tell", "steep")
    ax.set_title(look.say.label(one.label), loc="right", fontsize=8, color=look.alarm if alarming else look.quiet)
    ax.margins(x=0.12, y=0.12)
    ax.grid(axis="x", visible=False)
    if not small:
        ax.set_ylabel(look.say("axis.quality"))


def _rung_table(one: Judged) -> pd.DataFrame:
    return pd.DataFrame(rung_rows(one))


def _mark(ax: Axes, one: Judged, mean: np.ndarray, look: Style) -> None:
    if one.step is None or one.steps is None:
        return
    i = one.step - 1
    bold = one.label in ("cliff", "suspected edge")
    line: dict[str, Any] = {"color": look.alarm, "linewidth": 2.4 if bold else 1.6, "zorder": 4}
    ax.plot([i, i + 1], mean[i : i + 2], linestyle="-" if one.label == "cliff" else (0, (3, 1.5)), **line)
    ax.plot([i + 1], [mean[i + 1]], marker="v", markersize=8, color=look.alarm, zorder=5)
    text = f"−{100 * one.steps.drop[i]:.0f}"
    ax.annotate(
        text, (i + 0.5, (mean[i] + mean[i + 1]) / 2), xytext=(6, 4), textcoords="offset points", color=look.alarm,
        fontsize=9, fontweight="bold", zorder=6,
    )  # fmt: skip


def _turn_long_ticks(ax: Axes, names: pd.Series[str], small: bool) -> None:
    if sum(min(len(str(n)), 12) for n in names) > (26 if small else 52):
        for tick in ax.get_xticklabels():
            tick.set(rotation=35, ha="right", fontsize=7.5, rotation_mode="anchor")


def _together(ax: Axes, rest: list[Judged], look: Style) -> None:
    """All further ladders as thin lines over their rank."""
    rows = [
        {"rung": k + 1, "quality": float(mean), "ladder": f"{i} {one.ladder.name}"}
        for i, one in enumerate(rest)
        for k, mean in enumerate(one.ladder.means)
    ]
    sns.lineplot(
        pd.DataFrame(rows), x="rung", y="quality", units="ladder", estimator=None, ax=ax, color=look.quiet, alpha=0.5,
        linewidth=0.9, marker=MARKERS[0], markersize=3,
    )  # fmt: skip
    counts = pd.Series([one.label for one in rest]).value_counts()
    ax.set_title(look.say("mark.more_ladders", n=len(rest)), loc="left", fontsize=9)
    said = [look.say("mark.count_label", n=n, label=look.say.label(str(label))) for label, n in counts.items()]
    ax.set_title(look.say("mark.list").join(said), loc="right", fontsize=7.5, color=look.quiet)
    ax.set(xlabel=look.say("column.rung"), ylabel="")


def _numbers(result: CliffsResult) -> pd.DataFrame:
    wanted = ["ladder", "from", "to", "quality_from", "quality_to", "drop", "drop_lo", "drop_hi", "p_drop", "label"]
    return result.table[wanted] if len(result.table) else pd.DataFrame(columns=wanted)
