"""Where levels stand on an axis and what they are called; one panel a layer, one colour a candidate."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from speedqual.analysis.base import Result
from speedqual.display.numbers import digits
from speedqual.plots.style import Drawing, Style, new_drawing
from speedqual.plots.words import PlotWords

__all__ = ["NAMED", "alt_text", "colour_of", "level_axis", "level_name", "panels", "unlimited"]

NAMED = 6  # candidates with a colour of their own
_PLAIN = (
    (re.compile(r"(?P<x>[\d.,]+)\s*users?"), "users"),
    (re.compile(r"(?P<x>[\d.,]+)\s*req/s"), "req_per_s"),
    (re.compile(r"(?P<x>[\d.,]+)\s*tokens"), "tokens"),
    (re.compile(r"(?P<x>[\d.,]+)\s*s"), "s"),
    (re.compile(r"(?P<x>[\d.,]+)\s*% shared"), "shared"),
    (re.compile(r"one line differs at (?P<x>[\d.,]+)\s*%"), "line"),
    (re.compile(r"after (?P<x>[\d.,]+) s, kept connection"), "kept"),
    (re.compile(r"after (?P<x>[\d.,]+) s, new connection"), "new"),
)
"""What a load test calls its levels, and how a catalogue calls them."""


def panels(table: pd.DataFrame, height: float = 4.2) -> tuple[Drawing, list[tuple[str, Axes, pd.DataFrame]]]:
    """A figure with one panel a layer."""
    layers = list(dict.fromkeys(table["layer"]))
    figure, axes = new_drawing(7.6 if len(layers) == 1 else 4.8 * len(layers), height, ncols=len(layers), squeeze=False)
    return figure, [(layer, ax, table[table["layer"] == layer]) for layer, ax in zip(layers, axes.ravel(), strict=True)]


def level_axis(ax: Axes, rows: pd.DataFrame, say: PlotWords) -> None:
    """The levels of one layer on x: a log axis where they span a factor of four, ticks at the levels themselves."""
    xs = np.unique(rows["x"].to_numpy(float))
    wide = xs.size > 1 and xs[0] > 0 and xs[-1] / xs[0] >= 4
    if wide:
        ax.set_xscale("log")
        room = (xs[-1] / xs[0]) ** 0.06
        ax.set_xlim(xs[0] / room, xs[-1] * room)
    elif xs.size > 1:
        ax.set_xlim(xs[0] - 0.06 * np.ptp(xs), xs[-1] + 0.06 * np.ptp(xs))
    at = _apart(xs, 0.055, log=wide)
    ax.xaxis.set_major_locator(FixedLocator(at))
    ax.xaxis.set_major_formatter(FixedFormatter([_number(v) for v in at]))
    ax.xaxis.set_minor_locator(NullLocator())
    unit = str(rows["unit"].iloc[0])
    by_unit = say.known(f"load.axis_{unit.replace('/', '_per_')}", unit)
    ax.set_xlabel(say.known(f"load.axis_{rows['layer'].iloc[0]}", by_unit))


def _apart(xs: np.ndarray, least: float, *, log: bool) -> list[float]:
    """The positions that keep ``least`` of the axis from the one before; the last one always."""
    place = np.log(xs) if log else xs
    span = float(np.ptp(place)) or 1.0
    kept = [0]
    for i in range(1, xs.size):
        if (place[i] - place[kept[-1]]) / span >= least:
            kept.append(i)
    if kept[-1] != xs.size - 1:
        kept[-1] = xs.size - 1
    return [float(xs[i]) for i in kept]


def _number(value: float) -> str:
    return digits(value)


def level_name(say: PlotWords, row: Any) -> str:
    """A level in words: as it is named, in other languages by the catalogue where the name is one of the usual."""
    name = str(row["level"])
    for pattern, key in _PLAIN if say.lang != "en" else ():
        found = pattern.fullmatch(name)
        if found:
            return say(f"load.level_{key}", x=found["x"])
    return name


def colour_of(names: Sequence[str], name: str, look: Style) -> str:
    """A candidate's colour; grey for those beyond the first few."""
    i = names.index(name)
    return look.series[i % len(look.series)] if i < NAMED else look.quiet


def unlimited(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """The levels that tell the server's value of ``column``."""
    known = pd.to_numeric(rows[column], errors="coerce").notna()
    kept: pd.DataFrame = rows[known & ~rows["client_limited"].astype(bool)]
    return kept


def alt_text(result: Result, say: PlotWords, key: str, points: Iterable[str], **blanks: Any) -> str:
    """The alternative text of a figure: its ``points`` in a row in the words under ``key``."""
    return say.alt(result, say(key, points=say("alt.list").join(points), **blanks))
