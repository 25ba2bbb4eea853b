"""Axes: percent, logarithmic speed with faster to the right, ticks that people read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from speedqual.display.numbers import amount, percent
from speedqual.plots.words import PlotWords, plot_words

__all__ = ["amount", "log_axis", "log_ticks", "percent_axis", "percent_ticks", "shorten"]


def log_ticks(lo: float, hi: float) -> list[float]:
    """Ticks of a log axis at 1-2-5, finer where that would give fewer than four.

    >>> log_ticks(9, 110)
    [10.0, 20.0, 50.0, 100.0]
    """
    for steps in ((1.0,), (1.0, 2.0, 5.0), (1, 1.5, 2, 3, 4, 5, 6, 8), np.arange(1, 10, 0.25)):
        decades = range(math.floor(math.log10(lo)), math.ceil(math.log10(hi)) + 1)
        ticks = [round(float(s) * 10.0**d, 12) for d in decades for s in steps if lo <= s * 10.0**d <= hi]
        if len(ticks) >= 4:
            return _apart(ticks, math.log(hi / lo) / 8)
    return ticks


def _apart(ticks: list[float], least: float) -> list[float]:
    """The ticks that keep ``least`` (in natural logs) from the one before, so that their labels do not touch."""
    kept = ticks[:1]
    for tick in ticks[1:]:
        if math.log(tick / kept[-1]) >= least:
            kept.append(tick)
    return kept


def log_axis(
    ax: Axes,
    values: Iterable[float],
    unit: str,
    label: str,
    *,
    invert: bool,
    room: float = 0.10,
    say: PlotWords | None = None,
) -> None:
    """A log x axis around positive ``values``; ``invert`` puts the small (fast, cheap) to the right.

    A long unit stands in the label, in the words of ``say``, so that ticks do not run into each other.
    """
    known = [v for v in values if v is not None and math.isfinite(v) and v > 0]
    lo, hi = (min(known), max(known)) if known else (1.0, 10.0)
    spread = max(math.log(hi / lo), 0.4) * room
    lo, hi = lo * math.exp(-spread), hi * math.exp(spread)
    ax.set_xscale("log")
    ax.set_xlim((hi, lo) if invert else (lo, hi))
    ax.xaxis.set_major_locator(FixedLocator(log_ticks(lo, hi)))
    ax.xaxis.set_minor_locator(NullLocator())
    short = unit if len(unit) <= 3 else ""
    ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: amount(v, short)))
    say = say or plot_words("en")
    ax.set_xlabel(label if short == unit else say("axis.with_unit", label=label, unit=say.unit(unit)))


def percent_axis(ax: Axes, lows: Sequence[float], highs: Sequence[float], label: str) -> None:
    """A y axis in percent with a little room, never below 0 or above 100 by more than a hair."""
    known = [v for v in [*lows, *highs] if v is not None and math.isfinite(v)]
    lo, hi = (min(known), max(known)) if known else (0.0, 1.0)
    room = max(0.03, 0.06 * (hi - lo))
    ax.set_ylim(max(-0.02, lo - room), min(1.03, hi + room))
    percent_ticks(ax.yaxis)
    ax.set_ylabel(label)


def percent_ticks(axis: Axis) -> None:
    """Shares in whole percent, at multiples of 1, 2, 5 or 10 that whole percents can say."""
    axis.set_major_locator(MaxNLocator(steps=[1, 2, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda v, _: percent(v)))


def shorten(name: str, width: int = 30) -> str:
    """A long name with its middle taken out.

    >>> shorten("abcdefghij", 7)
    'abc…hij'
    """
    if len(name) <= width:
        return name
    keep = width - 1
    return f"{name[: keep - keep // 2]}…{name[len(name) - keep // 2 :]}"
