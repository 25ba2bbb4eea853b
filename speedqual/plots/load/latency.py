"""Latency against load: percentiles with order-statistic bands, the promise as a line, the knee marked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from speedqual.analysis.load.latency import LatencyResult
from speedqual.display.numbers import amount
from speedqual.plots.axes import log_ticks, shorten
from speedqual.plots.load.places import colour_of, level_axis, level_name, panels, unlimited
from speedqual.plots.style import MARKERS, Drawing, Style, use
from speedqual.plots.words import PlotWords

__all__ = ["plot"]

_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (5, 1.5, 1, 1.5)))


def plot(result: LatencyResult, *, style: str | Style = "light", lang: str = "en", title: str = "") -> Drawing:
    """A panel a layer; a colour a candidate, a dash a percentile; grey crosses: the client was the limit there."""
    with use(style, lang) as look:
        figure, parts = panels(result.table)
        names = [str(name) for name in dict.fromkeys(result.table["candidate"])]
        for layer, ax, rows in parts:
            for name in names:
                _curves(ax, rows[rows["candidate"] == name], result, colour_of(names, name, look), names.index(name))
            _value_axis(ax, rows, result, look)
            level_axis(ax, rows, look.say)
            _limited(ax, rows, result, look)
            _marks(ax, layer, result, names, look)
        parts[0][1].set_ylabel(look.say("axis.log", quantity=look.say.measure(result.measure)))
        if title:
            figure.suptitle(title, x=0.01, ha="left")
        figure.legend(handles=_keys(result, names, look), loc="outside lower left", ncols=4, frameon=False, fontsize=8)
        return figure.told(look, _alt(result, look.say), result.table)


def _curves(ax: Axes, rows: pd.DataFrame, result: LatencyResult, colour: str, i: int) -> None:
    for k, name in enumerate(result.names):
        known = unlimited(rows, name)
        if known.empty:
            continue
        x = known["x"].to_numpy(float)
        ax.plot(
            x, known[name].to_numpy(float), color=colour, linestyle=_DASHES[k % len(_DASHES)], linewidth=1.6,
            marker=MARKERS[i % len(MARKERS)], markersize=4.5, alpha=1.0 - 0.18 * k,
        )  # fmt: skip
        lo, hi = (pd.to_numeric(known[f"{name}_{end}"]).to_numpy(float) for end in ("lo", "hi"))
        ax.fill_between(x, lo, hi, color=colour, alpha=0.13, linewidth=0)


def _value_axis(ax: Axes, rows: pd.DataFrame, result: LatencyResult, look: Style) -> None:
    shown = [f"{name}{end}" for name in result.names for end in ("", "_lo", "_hi")]
    values = rows[shown].apply(pd.to_numeric).to_numpy(float).ravel()
    values = np.append(values, [slo.limit for slo in result.slos])
    values = values[np.isfinite(values) & (values > 0)]
    if not values.size:
        return
    lo, hi = float(values.min()) * 0.85, float(values.max()) * 1.2
    ax.set_yscale("log")
    ax.set_ylim(lo, hi)
    ax.yaxis.set_major_locator(FixedLocator(log_ticks(lo, hi)))
    ax.yaxis.set_minor_locator(NullLocator())
    unit = look.say.unit(result.measure.unit)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: amount(v, unit)))


def _limited(ax: Axes, rows: pd.DataFrame, result: LatencyResult, look: Style) -> None:
    there = rows[rows["client_limited"].astype(bool)]
    for name in result.names:
        values = pd.to_numeric(there[name]).to_numpy(float)
        ax.plot(there["x"], values, linestyle="none", marker="x", markersize=6, color=look.quiet)


def _marks(ax: Axes, layer: str, result: LatencyResult, names: list[str], look: Style) -> None:
    for slo in result.slos:
        ax.axhline(slo.limit, color=look.ink, linewidth=1.1, linestyle=(0, (6, 3)), zorder=1)
    if result.knees.empty:
        return
    for row in result.knees[(result.knees["layer"] == layer) & result.knees["knee_x"].notna()].to_dict("records"):
        colour = colour_of(names, str(row["candidate"]), look)
        ax.axvline(float(row["knee_x"]), color=colour, linewidth=1.0, linestyle=(0, (2, 2)), zorder=1)
        name = level_name(look.say, {"level": row["knee"], "unit": row["unit"], "x": row["knee_x"]})
        ax.annotate(
            look.say("load.knee", level=name), (float(row["knee_x"]), 1.0), xycoords=("data", "axes fraction"),
            xytext=(-3, -4), textcoords="offset points", fontsize=8, color=look.ink, rotation=90, ha="right", va="top",
        )  # fmt: skip


def _keys(result: LatencyResult, names: list[str], look: Style) -> list[Line2D]:
    keys = [
        Line2D([], [], color=look.ink, linestyle=_DASHES[k % len(_DASHES)], label=name)
        for k, name in enumerate(result.names)
    ]
    if len(names) > 1:
        keys += [
            Line2D([], [], color=colour_of(names, n, look), marker=MARKERS[i % len(MARKERS)], label=shorten(n, 28))
            for i, n in enumerate(names)
        ]
    limits = dict.fromkeys(f"{slo.op} {amount(slo.limit, look.say.unit(result.measure.unit))}" for slo in result.slos)
    keys += [
        Line2D([], [], color=look.ink, linewidth=1.1, linestyle=(0, (6, 3)), label=look.say("load.promise", limit=text))
        for text in limits
    ]
    if result.table["client_limited"].any():
        cross = Line2D([], [], linestyle="none", marker="x", color=look.quiet, label=look.say("load.client_limited"))
        keys.append(cross)
    return keys


def _alt(result: LatencyResult, say: PlotWords) -> str:
    points = []
    unit, name = say.unit(result.measure.unit), result.names[0]
    for row in unlimited(result.table, name).head(12).to_dict("records"):
        at = f"{row['candidate']}, {level_name(say, row)}"
        points.append(say("alt.value", name=at, value=f"{name} {amount(row[name], unit)}"))
    return say.alt(
        result, say("load.alt_latency", quantity=say.measure(result.measure), points=say("alt.list").join(points))
    )
