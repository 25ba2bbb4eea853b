"""Forest plots of differences, and the matrix of who dominates whom."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from speedqual.analysis.degraded import DegradedResult
from speedqual.analysis.frontier import FrontierResult
from speedqual.analysis.gate import GateResult
from speedqual.display.numbers import DASH, digits, missing
from speedqual.plots.axes import shorten
from speedqual.plots.style import Drawing, Style, legible, new_drawing, ramp, use
from speedqual.plots.words import PlotWords

__all__ = ["dominance", "plot_degraded", "plot_gate"]

_WRITTEN = 14  # candidates up to which a matrix has its numbers in the cells
_SHAPES = {"good": "o", "bad": "X", "open": "D"}


def plot_degraded(
    result: DegradedResult, *, style: str | Style = "light", lang: str = "en", title: str = ""
) -> Drawing:
    """Differences from the reference with simultaneous intervals, worst first."""
    with use(style, lang) as look:
        t = result.table
        figure, ax = new_drawing(7.0, 1.3 + 0.26 * max(3, len(t)))
        kinds = [
            "bad" if v in ("degraded", "serving fault") else "good" if v in ("same", "better") else "open"
            for v in t["label"]
        ]
        names = [
            look.say("mark.labelled", name=shorten(str(c), 34), label=look.say.label(label))
            for c, label in zip(t["candidate"], t["label"], strict=True)
        ]
        _forest(ax, names, t["difference"], t["difference_lo"], t["difference_hi"], kinds, look)
        ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{100 * v:+.0f}" if v else "0"))
        ax.set_xlabel(look.say("axis.points_from", reference=shorten(result.reference, 40)))
        if title:
            ax.set_title(title, loc="left")
        points = _told(look.say, t["candidate"], t["difference"], t["difference_lo"], t["difference_hi"], 100)
        text = look.say("alt.degraded", reference=result.reference, points=points)
        return figure.told(look, look.say.alt(result, text), t)


def plot_gate(result: GateResult, *, style: str | Style = "light", lang: str = "en", title: str = "") -> Drawing:
    """Each check's change over its margin: 1 is the margin, 0 no change, to the left is better."""
    with use(style, lang) as look:
        t = _over_margin(result.table)
        figure, ax = new_drawing(7.2, 1.4 + 0.28 * max(3, len(t)))
        kinds = [{"pass": "good", "fail": "bad"}.get(v, "open") for v in t["result"]]
        names = [
            look.say("mark.check", candidate=shorten(str(c), 26), check=look.say.check(check), result=look.say.label(r))
            for c, check, r in zip(t["candidate"], t["check"], t["result"], strict=True)
        ]
        _forest(ax, names, t["part"], t["part_lo"], t["part_hi"], kinds, look)
        ax.axvline(1.0, color=look.alarm, linestyle=(0, (5, 3)), linewidth=1.2)
        ax.set_xlabel(look.say("axis.of_margin"), loc="right")
        if title:
            ax.set_title(title, loc="left")
        points = _told(look.say, pd.Series(names), t["part"], t["part_lo"], t["part_hi"], 1)
        return figure.told(look, look.say.alt(result, look.say("alt.gate", points=points)), result.table)


def _told(
    say: PlotWords,
    names: pd.Series[str],
    value: pd.Series[float],
    lo: pd.Series[float],
    hi: pd.Series[float],
    times: int,
) -> str:
    """The first eight rows of a forest in words, values times ``times``."""
    rows = zip(names.head(8), *(pd.to_numeric(v.head(8)) * times for v in (value, lo, hi)), strict=True)
    shown = [(name, *(DASH if missing(v) else digits(v) for v in numbers)) for name, *numbers in rows]
    return say("alt.list").join(say("alt.range", name=n, value=v, lo=low, hi=high) for n, v, low, high in shown)


def _over_margin(table: pd.DataFrame) -> pd.DataFrame:
    """Change on a common scale: loss/margin for shares, log ratio/log margin for speeds; worse is positive."""
    out = table.copy()
    share = table["check"].str.split().str[0]
    for ours, theirs in (("part", "change"), ("part_lo", "lo"), ("part_hi", "hi")):
        value = pd.to_numeric(table[theirs], errors="coerce").to_numpy(float)
        margin = np.maximum(table["margin"].to_numpy(float), 1e-9)
        with np.errstate(invalid="ignore", divide="ignore"):
            speed = np.log(value) / np.log(margin)
        out[ours] = np.where(share == "quality", -value / margin, np.where(share == "failed", value / margin, speed))
    flipped = out["part_lo"] > out["part_hi"]
    out.loc[flipped, ["part_lo", "part_hi"]] = out.loc[flipped, ["part_hi", "part_lo"]].to_numpy()
    return out


def _forest(
    ax: Axes,
    names: Sequence[str],
    value: pd.Series[float],
    lo: pd.Series[float],
    hi: pd.Series[float],
    kinds: list[str],
    look: Style,
) -> None:
    at = np.arange(len(names))[::-1]
    low, high, mid = (pd.to_numeric(v, errors="coerce").to_numpy(float) for v in (lo, hi, value))
    colours = {"good": look.front, "bad": look.alarm, "open": look.quiet}
    for kind, shape in _SHAPES.items():
        mine = np.array([k == kind for k in kinds])
        if mine.any():
            ax.hlines(
                at[mine],
                np.where(np.isnan(low), mid, low)[mine],
                np.where(np.isnan(high), mid, high)[mine],
                color=colours[kind],
                linewidth=1.5,
            )
            ax.scatter(mid[mine], at[mine], color=colours[kind], marker=shape, s=36, zorder=3)
    ax.axvline(0.0, color=look.ink, linewidth=0.9)
    ax.set_yticks(at, names)
    ax.grid(axis="y", visible=False)


def dominance(
    result: FrontierResult, *, style: str | Style = "light", lang: str = "en", title: str = "", most: int = 20
) -> Drawing:
    """P(row dominates column) as a heat map: the ``most`` candidates most surely on the front, those on it first."""
    with use(style, lang) as look:
        order = result.table.sort_values(["on_front", "p_on_front", "quality"], ascending=False, kind="stable")
        names = [str(n) for n in order["candidate"][:most]]
        matrix = result.dominance.loc[names, names]
        side = 2.4 + 0.34 * len(names)
        figure, ax = new_drawing(side + 1.6, side)
        short = [shorten(n, 24) for n in names]
        sns.heatmap(
            matrix, ax=ax, cmap=ramp(look), vmin=0, vmax=1, square=True, cbar=False, linewidths=0.5,
            linecolor=look.paper, annot=len(names) <= _WRITTEN, fmt=".0%", annot_kws={"fontsize": 7},
            xticklabels=short, yticklabels=short,
        )  # fmt: skip
        if len(names) <= _WRITTEN:
            legible(ax)
        ax.set_xlabel(look.say("axis.dominated"))
        ax.set_ylabel(look.say("axis.dominates"))
        for tick in ax.get_xticklabels():
            tick.set(rotation=45, ha="right", rotation_mode="anchor")
        ax.set_title(title, loc="left")
        return figure.told(look, look.say.alt(result, look.say("alt.dominance")), matrix.reset_index(names="candidate"))
