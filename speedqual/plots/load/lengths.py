"""Time to first token and decoding speed by the length of the input, with order-statistic bands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from speedqual.analysis.load.lengths import LengthsResult
from speedqual.analysis.measures import find_measure
from speedqual.display.numbers import amount
from speedqual.plots.axes import log_axis, log_ticks, shorten
from speedqual.plots.load.places import alt_text, colour_of, unlimited
from speedqual.plots.style import MARKERS, Drawing, Style, new_drawing, use
from speedqual.plots.words import PlotWords

__all__ = ["plot"]


def plot(result: LengthsResult, *, style: str | Style = "light", lang: str = "en", title: str = "") -> Drawing:
    """Left: time to first token, right: decoding; solid: median, dashed: the slow end."""
    with use(style, lang) as look:
        figure, axes = new_drawing(9.6, 3.9, ncols=2)
        t = result.table.assign(at=pd.to_numeric(result.table["n_prompt"]).fillna(result.table["x"]))
        names = [str(name) for name in dict.fromkeys(t["candidate"])]
        for ax, (metric, slow) in zip(axes, (("ttft_ms", "p95"), ("decode_tok_s", "p5")), strict=True):
            for name in names:
                rows = t[t["candidate"] == name]
                for stat, dash in (("p50", "-"), (slow, (0, (4, 2)))):
                    label = shorten(name, 24) if stat == "p50" and metric == "ttft_ms" and len(names) > 1 else None
                    _curve(ax, rows, f"{metric}_{stat}", names.index(name), colour_of(names, name, look), dash, label)
            measure = find_measure(metric)
            quantity, unit = look.say.measure(measure), look.say.unit(measure.unit)
            log_axis(ax, t["at"], "", look.say("load.axis_tokens"), invert=False)
            log = metric == "ttft_ms"
            ax.set_ylabel(look.say("axis.log" if log else "load.plain", quantity=quantity))
            _values(ax, unit, log=log)
        if title:
            figure.suptitle(title, x=0.01, ha="left")
        if len(names) > 1:
            figure.legend(loc="outside lower left", ncols=4, frameon=False, fontsize=8, labelcolor=look.ink)
        return figure.told(look, _alt(result, look.say), result.table)


def _curve(ax: Axes, rows: pd.DataFrame, column: str, i: int, colour: str, dash: Any, label: str | None) -> None:
    known = unlimited(rows, column)
    if known.empty:
        return
    x = known["at"].to_numpy(float)
    ax.plot(
        x, known[column].to_numpy(float), color=colour, linestyle=dash, marker=MARKERS[i % len(MARKERS)],
        markersize=5, linewidth=1.6, label=label,
    )  # fmt: skip
    lo, hi = (pd.to_numeric(known[f"{column}_{end}"]).to_numpy(float) for end in ("lo", "hi"))
    ax.fill_between(x, lo, hi, color=colour, alpha=0.13, linewidth=0)


def _values(ax: Axes, unit: str, *, log: bool) -> None:
    ys = np.concatenate([np.asarray(line.get_ydata(), float) for line in ax.lines] or [np.array([1.0])])
    if log and (ys > 0).all():
        lo, hi = float(ys.min()) * 0.8, float(ys.max()) * 1.25
        ax.set_yscale("log")
        ax.set_ylim(lo, hi)
        ax.yaxis.set_major_locator(FixedLocator(log_ticks(lo, hi)))
        ax.yaxis.set_minor_locator(NullLocator())
    else:
        ax.set_ylim(bottom=0)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: amount(v, unit)))


def _alt(result: LengthsResult, say: PlotWords) -> str:
    known = result.slopes[result.slopes["ms_per_1000"].notna()]
    points = [
        say("alt.value", name=row["candidate"], value=amount(row["ms_per_1000"], "ms"))
        for row in known.to_dict("records")
    ]
    return alt_text(result, say, "load.alt_lengths", points)
