"""Tails: the ECDF on a log axis beside the percentile plot, with order-statistic bands."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from numpy.typing import NDArray

from speedqual.analysis.intervals import quantile_interval
from speedqual.analysis.measures import Measure
from speedqual.analysis.tails import TailsResult
from speedqual.display.numbers import amount
from speedqual.plots.axes import log_axis, log_ticks, percent_ticks, shorten
from speedqual.plots.style import MARKERS, Drawing, Style, new_drawing, use
from speedqual.plots.words import PlotWords

__all__ = ["plot"]

_NAMED = 8
_SHOWN = (0.5, 0.9, 0.95, 0.99, 0.999)


def plot(result: TailsResult, *, style: str | Style = "light", lang: str = "en", title: str = "") -> Drawing:
    """ECDF at the left, percentiles up to what n allows at the right."""
    with use(style, lang) as look:
        figure, (left, right) = new_drawing(9.6, 4.2, ncols=2)
        m = result.measure
        every = np.concatenate([v[v > 0] for v in result.samples.values()])
        label = look.say("axis.log", quantity=look.say.measure(m))
        log_axis(left, every, m.unit, label, invert=m.higher_is_better, room=0.03, say=look.say)
        percent_ticks(left.yaxis)
        left.set_ylabel(look.say("axis.share_faster"))
        for i, (name, values) in enumerate(result.samples.items()):
            _curve(left, right, i, name, values, m, look)
        _percentile_axis(right, every, m, look.say)
        if title:
            figure.suptitle(title, x=0.01, ha="left")
        figure.legend(loc="outside lower left", ncols=3, frameon=False, fontsize=8, labelcolor=look.ink)
        return figure.told(look, _alt(result, look.say), result.table)


def _alt(result: TailsResult, say: PlotWords) -> str:
    m, shown = result.measure, [c for c in ("p50", "p95", "p5") if c in result.table]
    rows = result.table.head(8).to_dict("records")
    values = [", ".join(f"{c} {amount(row[c], say.unit(m.unit))}" for c in shown if row[c] is not None) for row in rows]
    points = [say("alt.value", name=row["candidate"], value=v) for row, v in zip(rows, values, strict=True)]
    return say.alt(result, say("alt.series", quantity=say.measure(m), points=say("alt.list").join(points)))


def _curve(left: Axes, right: Axes, i: int, name: str, values: NDArray[np.float64], m: Measure, look: Style) -> None:
    named = i < _NAMED
    colour = look.series[i % len(look.series)] if named else look.quiet
    line: dict[str, Any] = {"color": colour, "linewidth": 1.6 if named else 0.8, "alpha": 1.0 if named else 0.4}
    fast_first = values[::-1] if m.higher_is_better else values
    share = np.arange(1, values.size + 1) / values.size
    left.plot(fast_first, share, drawstyle="steps-post", label=shorten(name, 28) if named else None, **line)
    quantiles = np.unique([*np.linspace(0.02, 0.98, 40), *(q for q in _SHOWN if q <= 1 - 1 / (values.size + 1))])
    got = [quantile_interval(values, 1 - q if m.higher_is_better else q) for q in quantiles]
    x = -np.log10(1 - quantiles)
    right.plot(
        x, np.array([g.value for g in got], float), marker=MARKERS[i % len(MARKERS)], markevery=8, markersize=4, **line
    )
    known = [k for k, g in enumerate(got) if g.lo is not None and g.hi is not None]
    if named and known:
        lows, highs = [got[k].lo for k in known], [got[k].hi for k in known]
        right.fill_between(
            x[known], np.array(lows, float), np.array(highs, float), color=colour, alpha=0.13, linewidth=0
        )


def _percentile_axis(ax: Axes, every: NDArray[np.float64], m: Measure, say: PlotWords) -> None:
    at = [-np.log10(1 - q) for q in _SHOWN]
    ax.xaxis.set_major_locator(FixedLocator(at))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"p{100 * (1 - 10**-v):.4g}"))
    ax.set_yscale("log")
    lo, hi = float(every.min()), float(every.max())
    ax.yaxis.set_major_locator(FixedLocator(log_ticks(lo * 0.9, hi * 1.1)))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: amount(v, say.unit(m.unit))))
    ax.set_xlabel(say("axis.percentile_slow_right" if m.higher_is_better else "axis.percentile"))
