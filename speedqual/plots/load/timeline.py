"""A load test over time: in flight, requests sent and answered each second, errors and stalls; levels shaded."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from speedqual.analysis.load.timeline import TimelineResult
from speedqual.display.numbers import digits
from speedqual.plots.axes import shorten
from speedqual.plots.load.places import colour_of, level_name
from speedqual.plots.style import Drawing, Style, new_drawing, use
from speedqual.plots.words import PlotWords

__all__ = ["plot"]


def plot(result: TimelineResult, *, style: str | Style = "light", lang: str = "en", title: str = "") -> Drawing:
    """Three panels over one time axis."""
    with use(style, lang) as look:
        figure, axes = new_drawing(9.6, 5.4, nrows=3, sharex=True, height_ratios=[2.2, 1.6, 1.0])
        names = [str(name) for name in dict.fromkeys(result.table["candidate"])]
        t = result.table
        for name in names:
            rows = t[t["candidate"] == name]
            label = shorten(name, 28) if len(names) > 1 else None
            _steps(axes[0], rows, rows["in_flight"], result.bin_s, colour_of(names, name, look), label)
        whole = t.groupby("t_s", as_index=False)[["arrivals", "done", "errors", "stalls"]].sum()
        _steps(axes[1], whole, whole["arrivals"] / result.bin_s, result.bin_s, look.series[0], look.say("load.sent"))
        _steps(axes[1], whole, whole["done"] / result.bin_s, result.bin_s, look.series[2], look.say("load.done"), "--")
        _troubles(axes[2], whole, result.bin_s, look)
        _labelled(axes, result, look)
        _levels(axes, result, look)
        if title:
            figure.suptitle(title, x=0.01, ha="left")
        figure.legend(loc="outside lower left", ncols=5, frameon=False, fontsize=8, labelcolor=look.ink)
        return figure.told(look, _alt(result, look.say), result.table)


def _steps(
    ax: Axes,
    rows: pd.DataFrame,
    values: pd.Series[float],
    width: float,
    colour: str,
    label: str | None,
    dash: str = "-",
) -> None:
    edges = np.append(rows["t_s"].to_numpy(float), rows["t_s"].iloc[-1] + width)
    heights = np.append(values.to_numpy(float), values.iloc[-1])
    ax.plot(edges, heights, drawstyle="steps-post", color=colour, linewidth=1.4, linestyle=dash, label=label)
    if dash == "-":
        ax.fill_between(edges, 0, heights, step="post", color=colour, alpha=0.13, linewidth=0)


def _troubles(ax: Axes, whole: pd.DataFrame, width: float, look: Style) -> None:
    at = whole["t_s"].to_numpy(float)
    errors, stalls = whole["errors"].to_numpy(float), whole["stalls"].to_numpy(float)
    for key, counts, bottom, colour in (
        ("errors", errors, 0.0, look.alarm),
        ("stalls", stalls, errors, look.series[4]),
    ):
        label = look.say(f"load.{key}") if counts.any() else None
        ax.bar(at, counts, width, bottom=bottom, align="edge", linewidth=0, color=colour, label=label)
    ax.yaxis.set_major_locator(MaxNLocator(3, integer=True))
    if not (errors.any() or stalls.any()):
        ax.set_ylim(0, 1)


def _labelled(axes: np.ndarray, result: TimelineResult, look: Style) -> None:
    for ax, key in zip(axes, ("in_flight", "per_second", "troubles"), strict=True):
        ax.set_ylabel(look.say(f"load.{key}"))
        ax.set_ylim(bottom=0)
    first, last = result.table["t_s"].min(), result.table["t_s"].max() + result.bin_s
    axes[-1].set_xlim(first, last)
    axes[-1].set_xlabel(look.say("load.since_start"))


def _levels(axes: np.ndarray, result: TimelineResult, look: Style) -> None:
    """Every other level shaded, its name on top where it fits."""
    spans = sorted((a / 1000, b / 1000, one) for one in result.levels for a, b in one.windows_ms)
    left, right = axes[0].get_xlim()
    wrote = -np.inf
    for i, (a, b, one) in enumerate(spans):
        for ax in axes if i % 2 == 0 else []:
            ax.axvspan(a, b, color=look.quiet, alpha=0.10, linewidth=0, zorder=0)
        name = level_name(look.say, {"level": one.level, "unit": one.unit, "x": one.x})
        needs = 0.0075 * len(name) * (1.8 if look.say.lang == "zh" else 1.0)
        middle = ((a + b) / 2 - left) / (right - left)
        if middle - needs / 2 > wrote and (b - a) / (right - left) > 0.6 * needs:
            axes[0].text(
                (a + b) / 2, 1.01, name, transform=axes[0].get_xaxis_transform(), fontsize=7.5, ha="center",
                va="bottom", color=look.ink,
            )  # fmt: skip
            wrote = middle + needs / 2


def _alt(result: TimelineResult, say: PlotWords) -> str:
    whole = result.table.groupby("t_s")[["in_flight", "arrivals", "errors", "stalls"]].sum()
    counts = {name: int(whole[name].sum()) for name in ("arrivals", "errors", "stalls")}
    return say.alt(result, say("load.alt_timeline", peak=digits(whole["in_flight"].max()), **counts))
