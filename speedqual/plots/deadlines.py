"""Quality over the deadline: one curve a candidate, the envelope above, switch points marked."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from speedqual.analysis.deadlines import DeadlinesResult
from speedqual.display.numbers import amount
from speedqual.plots.axes import log_axis, percent_axis, shorten
from speedqual.plots.style import MARKERS, Drawing, Style, new_drawing, use
from speedqual.plots.words import PlotWords

__all__ = ["plot"]

_NAMED = 7  # candidates with a colour of their own: those of the envelope first, then the best at the end


def plot(result: DeadlinesResult, *, style: str | Style = "light", lang: str = "en", title: str = "") -> Drawing:
    """Draw S(t) of all candidates; the envelope's leaders in colour with their band."""
    with use(style, lang) as look:
        figure, ax = new_drawing()
        t = result.table
        label = look.say(
            "axis.log", quantity=look.say("axis.budget" if result.measure.unit == "USD" else "axis.deadline")
        )
        log_axis(ax, t["deadline"], result.measure.unit, label, invert=False, room=0.02, say=look.say)
        percent_axis(ax, [0.0], list(t["quality_hi"].fillna(t["quality"])), look.say("axis.quality_in_time"))
        _curves(ax, result, look)
        _mark_switches(ax, result, look)
        if title:
            ax.set_title(title, loc="left")
        figure.legend(loc="outside lower left", ncols=2, frameon=False, fontsize=8, labelcolor=look.ink)
        return figure.told(look, _alt(result, look.say), result.switches)


def _alt(result: DeadlinesResult, say: PlotWords) -> str:
    unit = say.unit(result.measure.unit)
    rows = result.switches.head(8).to_dict("records")
    points = [say("alt.from_limit", candidate=row["candidate"], limit=amount(row["start"], unit)) for row in rows]
    return say.alt(result, say("alt.deadlines", points=say("alt.list").join(points)))


def _named(result: DeadlinesResult) -> list[str]:
    leaders = list(dict.fromkeys(result.switches["candidate"]))
    last = result.table.sort_values("deadline").groupby("candidate", sort=False)["quality"].last()
    by_end = [str(name) for name in last.sort_values(ascending=False, kind="stable").index]
    return list(dict.fromkeys([*leaders, *by_end]))[: max(_NAMED, min(len(leaders), 10))]


def _curves(ax: Axes, result: DeadlinesResult, look: Style) -> None:
    named = _named(result)
    for name, rows in result.table.groupby("candidate", sort=False):
        if name not in named:
            ax.plot(
                rows["deadline"], rows["quality"], color=look.quiet, alpha=0.22, linewidth=0.8, drawstyle="steps-post"
            )
    for i, name in enumerate(named):
        rows = result.table[(result.table["candidate"] == name) & (result.table["quality"] > 0)]
        colour = look.series[i % len(look.series)]
        every = max(1, len(rows) // 6)
        ax.plot(
            rows["deadline"], rows["quality"], color=colour, linewidth=1.8, drawstyle="steps-post", label=shorten(name),
            marker=MARKERS[i % len(MARKERS)], markevery=(i % every, every), markersize=5,
        )  # fmt: skip
        if rows["quality_lo"].notna().all():
            ax.fill_between(
                rows["deadline"],
                rows["quality_lo"],
                rows["quality_hi"],
                color=colour,
                alpha=0.12,
                linewidth=0,
                step="post",
            )


def _mark_switches(ax: Axes, result: DeadlinesResult, look: Style) -> None:
    later = result.switches.iloc[1:]
    top = ax.get_ylim()[1]
    last = -np.inf
    for start in later["start"]:
        limit = amount(start, look.say.unit(result.measure.unit))
        ax.axvline(start, color=look.quiet, linestyle=(0, (2, 2)), linewidth=0.9, zorder=1)
        if np.log(start) - last > 0.08 * np.log(ax.get_xlim()[1] / ax.get_xlim()[0]):
            ax.text(start, top, limit, fontsize=7.5, ha="center", va="bottom", color=look.ink)
            last = np.log(start)
