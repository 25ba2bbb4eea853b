"""Interaction budgets: the share of requests that meet each, candidate by candidate, with the verdict in the cell."""

from __future__ import annotations

import seaborn as sns

from speedqual.analysis.budgets import BudgetsResult
from speedqual.display.numbers import percent
from speedqual.plots.axes import shorten
from speedqual.plots.style import Drawing, Style, legible, new_drawing, ramp, use

__all__ = ["plot"]

_MARK = {"passes": "✓", "fails": "✗", "cannot tell": "?"}


def plot(result: BudgetsResult, *, style: str | Style = "light", lang: str = "en", title: str = "") -> Drawing:
    """A heat map, budgets down and candidates across; ✓ passes, ✗ fails, ? cannot tell."""
    with use(style, lang) as look:
        t = result.table.assign(
            budget=[look.say.label(str(name)) for name in result.table["budget"]],
            text=[f"{percent(m)} {_MARK[v]}" for m, v in result.table[["met", "verdict"]].values],
        )
        rows, columns = list(dict.fromkeys(t["budget"])), list(dict.fromkeys(t["candidate"]))
        met = t.pivot_table(index="budget", columns="candidate", values="met", sort=False).loc[rows, columns]
        text = t.pivot(index="budget", columns="candidate", values="text").loc[rows, columns]
        figure, ax = new_drawing(2.6 + 1.1 * met.shape[1], 1.6 + 0.42 * met.shape[0])
        names = [shorten(str(c), 20) for c in met.columns]
        sns.heatmap(
            met, ax=ax, cmap=ramp(look), vmin=0, vmax=1, annot=text.to_numpy(), fmt="", cbar=False, linewidths=1,
            linecolor=look.paper, annot_kws={"fontsize": 8}, xticklabels=names,
        )  # fmt: skip
        legible(ax)
        ax.set(xlabel="", ylabel="")
        for tick in ax.get_xticklabels():
            tick.set(rotation=30, ha="right", rotation_mode="anchor")
        ax.set_title(title or look.say("mark.within_budget"), loc="left", fontsize=10)
        shown = t[["candidate", "budget", "text"]].head(24).to_dict("records")
        points = [look.say("alt.point", candidate=r["candidate"], speed=r["budget"], quality=r["text"]) for r in shown]
        told = look.say("alt.budgets", points=look.say("alt.list").join(points))
        return figure.told(look, look.say.alt(result, told), result.table)
