"""How attempts ended at each level, failures by kind; requests alone where the attempts are not known."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.ticker import FixedLocator

from speedqual.analysis.load.errors import LoadErrorsResult
from speedqual.display.numbers import percent
from speedqual.plots.axes import percent_ticks
from speedqual.plots.load.places import alt_text, level_name
from speedqual.plots.style import Drawing, Style, new_drawing, use
from speedqual.plots.words import PlotWords

__all__ = ["kind_name", "plot"]

_FINE = ("ok", "empty", "filtered")
_MOST = 30


def plot(result: LoadErrorsResult, *, style: str | Style = "light", lang: str = "en", title: str = "") -> Drawing:
    """A bar a level with any failure: the share of attempts that failed, stacked by kind."""
    with use(style, lang) as look:
        wide, total = _shares(result)
        figure, ax = new_drawing(7.6, 1.7 + 0.34 * max(1, len(wide)))
        place, left = np.arange(len(wide))[::-1], np.zeros(len(wide))
        for i, kind in enumerate(wide.columns):
            share = wide[kind].to_numpy(float)
            colour = look.series[(i + 1) % len(look.series)]
            ax.barh(place, share, 0.7, left=left, color=colour, linewidth=0, label=kind_name(kind, look.say))
            left += share
        rows = result.table.set_index(["candidate", "layer", "level"])
        many = result.table["candidate"].nunique() > 1
        ax.set_yticks(place, [_named(key, rows, look.say, many=many) for key in wide.index])
        for at, failed, n in zip(place, left, total, strict=True):
            note = look.say("load.share_of", share=percent(float(failed)), n=n)
            ax.annotate(note, (failed, at), xytext=(4, 0), textcoords="offset points", fontsize=8, va="center")
        ax.set_xlim(0, min(1.25, max(0.05, 1.3 * float(left.max(initial=0.0)))))
        ax.set_ylim(-0.6, max(1, len(wide)) - 0.4)
        ax.grid(visible=False, axis="y")
        percent_ticks(ax.xaxis)
        ax.xaxis.set_major_locator(FixedLocator([t for t in ax.get_xticks() if 0 <= t <= 1]))
        ax.set_xlabel(look.say(f"load.failed_{_of(result)}"))
        if title:
            ax.set_title(title, loc="left")
        if len(wide):
            figure.legend(loc="outside lower left", ncols=4, frameon=False, fontsize=8, labelcolor=look.ink)
        return figure.told(look, _alt(result, look.say), result.counts)


def _of(result: LoadErrorsResult) -> str:
    return "attempts" if (result.counts["of"] == "attempts").any() else "requests"


def _shares(result: LoadErrorsResult) -> tuple[pd.DataFrame, list[int]]:
    """Shares of failed kinds, one row a level that has any; how many each level had."""
    mine = result.counts[result.counts["of"] == _of(result)]
    keys = ["candidate", "layer", "level"]
    total = mine.groupby(keys, sort=False)["n"].sum()
    bad = mine[~mine["kind"].isin(_FINE)]
    wide = bad.pivot_table(index=keys, columns="kind", values="n", aggfunc="sum", fill_value=0, sort=False)
    wide = wide.loc[:, wide.sum().sort_values(ascending=False, kind="stable").index].head(_MOST)
    counts = total.reindex(wide.index)
    return wide.div(counts, axis=0), [int(n) for n in counts]


def _named(key: tuple[str, str, str], rows: pd.DataFrame, say: PlotWords, *, many: bool) -> str:
    row = rows.loc[[key]].iloc[0]
    name = level_name(say, {"level": key[2], "unit": row["unit"], "x": row["x"]})
    return say("alt.value", name=key[0], value=name) if many else name


def kind_name(kind: str, say: PlotWords) -> str:
    """``http 429`` and ``timeout first_token`` in words."""
    first, _, rest = kind.partition(" ")
    known = say.known(f"load.kind_{first}", first)
    return f"{known} {say.known(f'load.deadline_{rest}', rest)}".strip() if rest else known


def _alt(result: LoadErrorsResult, say: PlotWords) -> str:
    mine = result.counts[(result.counts["of"] == _of(result)) & ~result.counts["kind"].isin(_FINE)]
    by_kind = mine.groupby("kind")["n"].sum().sort_values(ascending=False)
    points = [say("alt.value", name=kind_name(str(kind), say), value=f"{n}") for kind, n in by_kind.head(8).items()]
    return alt_text(result, say, "load.alt_errors", points or ["0"])
