"""Levels, layers and their states as a page calls them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from speedqual.plots.load.places import level_name
from speedqual.plots.words import plot_words
from speedqual.report.context import Context
from speedqual.report.figures import figure
from speedqual.report.tables import Cell, Head, Row, Table, between, value

__all__ = ["bounded", "ladder_name", "level_names", "named", "pictured", "place_name", "several", "twin"]


def named(context: Context, row: Any) -> str:
    """A level: "8 users"."""
    return level_name(plot_words(context.lang), row)


def level_names(context: Context, rows: Iterable[Any]) -> str:
    """Levels in a sentence, each once."""
    return context.words("page.list").join(dict.fromkeys(named(context, row) for row in rows))


def several(rows: Iterable[Mapping[Any, Any]]) -> bool:
    """Whether more than one candidate is among the rows."""
    return len({row["candidate"] for row in rows}) > 1


def ladder_name(context: Context, row: Mapping[Any, Any]) -> str:
    """A candidate's layer in a sentence."""
    layer = context.words.known(f"load.layer_{row['layer']}", str(row["layer"]))
    return context.words("load.ladder", candidate=context.called(row["candidate"]), layer=layer)


def place_name(context: Context, row: Mapping[Any, Any], *, many: bool) -> str:
    """A level as the head of a row, with its candidate where there are several."""
    level = named(context, row)
    return context.words("load.place", candidate=row["candidate"], level=level) if many else level


def pictured(
    context: Context, result: Any, caption: str, table: Table, *, heading: str = "", lines: Iterable[str] = ()
) -> dict[str, Any]:
    """A figure of a section: heading, sentences, picture, caption and its numbers."""
    picture = figure(result, context.lang)
    return {"heading": heading, "lines": list(lines), "picture": picture, "caption": caption, "table": table}


def twin(context: Context, head: Sequence[Head], rows: Sequence[Row], first: str = "load.level") -> Table:
    """The numbers of a figure."""
    return Table(context.words("page.figure_table"), head, rows, first=context.words(first))


def bounded(row: Mapping[Any, Any], name: str, show: Callable[[float | None], str], lo: str = "", hi: str = "") -> Cell:
    """A number with its interval; ``lo`` and ``hi``: its columns, the name with ``_lo`` and ``_hi`` where not given."""
    bounds = between(show(row[lo or f"{name}_lo"]), show(row[hi or f"{name}_hi"]))
    return value(show(row[name]), row[name], bounds)
