"""Tables of two runs compared: the gate's checks, quality by eval set, ratios of latency."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from speedqual.analysis.base import records
from speedqual.analysis.gate import DEFAULT_MARGINS, Gate, GateResult
from speedqual.analysis.paired import paired_difference
from speedqual.analysis.sameness import KINDS
from speedqual.analysis.tidy import tidy
from speedqual.display import numbers
from speedqual.display.numbers import digits
from speedqual.plots.words import PlotWords, plot_words
from speedqual.report.tables import Cell, Head, Row, Table, between, text, value
from speedqual.report.words import Words

__all__ = ["by_set", "checks", "speeds"]

_SHARES = ("quality", "failed")


def checks(result: GateResult, words: Words) -> Table:
    """Every check of the gate with its margin and its result."""
    heads = _heads(words, "check", "base", "new", "change", "margin", "n", "result")
    rows = [_check(row, words) for row in records(result.table)]
    return Table(words("compare.checks"), heads, rows, words("compare.checks_caption"))


def _heads(words: Words, *names: str) -> list[Head]:
    return [Head(words(f"compare.{name}"), is_text=name in ("check", "evalset", "result")) for name in names]


def _check(row: dict[str, Any], words: Words) -> Row:
    need = "" if not row["n_needed"] else words("compare.needed", n=numbers.count(row["n_needed"]))
    result = text(words(f"compare.result_{row['result']}"), need)
    name = text(plot_words(words.lang).check(row["check"]))
    cells = (name, *_values(row), _margin(row), value(str(row["n"]), row["n"]), result)
    return Row(row["candidate"], cells, candidate=True)


def _values(row: dict[str, Any]) -> tuple[Cell, ...]:
    """Base, new and the change with its interval: points for shares, a factor for speeds."""
    metric = row["check"].split()[0]
    show = numbers.score if metric in _SHARES else _speed(metric)
    change = signed if metric in _SHARES else factor
    bounds = between(change(row["lo"]), change(row["hi"]))
    return (
        value(show(row["base"]), row["base"]),
        value(show(row["new"]), row["new"]),
        value(change(row["change"]), row["change"], bounds),
    )


def _margin(row: dict[str, Any]) -> Cell:
    share = row["check"].split()[0] in _SHARES
    return value(numbers.points(row["margin"]) if share else factor(row["margin"]), row["margin"])


def _speed(metric: str) -> Any:
    return numbers.milliseconds if metric.endswith("_ms") else numbers.rate


def signed(share: float | None) -> str:
    """A difference of shares in points of a hundred, with its sign.

    >>> signed(-0.042), signed(0.0), signed(None)
    ('−4.2', '0', '–')
    """
    if share is None or numbers.missing(share):
        return numbers.DASH
    shown = f"{100 * share:+.1f}".removesuffix(".0")
    return "0" if shown in ("+0", "-0") else shown.replace("-", "−")


def factor(ratio: float | None) -> str:
    """New over base.

    >>> factor(1.0823), factor(None)
    ('× 1.08', '–')
    """
    return numbers.DASH if ratio is None or numbers.missing(ratio) else f"× {digits(ratio)}"


def by_set(base: pd.DataFrame, new: pd.DataFrame, pairs: Sequence[tuple[str, str]], words: Words) -> Table | None:
    """Quality by eval set on the items that both have; absent for a single set, which the checks cover."""
    names = [name for name in dict.fromkeys(base["evalset"]) if name in set(new["evalset"])]
    if len(names) < 2:
        return None
    heads = _heads(words, "evalset", "base", "new", "change", "n")
    rows = [row for a, b in pairs for name in names for row in _of_set(base, new, a, b, str(name))]
    return Table(words("compare.by_set"), heads, rows, words("compare.by_set_caption"))


def _of_set(base: pd.DataFrame, new: pd.DataFrame, a: str, b: str, name: str) -> Iterator[Row]:
    old, now = (tidy(df[df["evalset"] == name]) for df in (base, new))
    if a not in old.names or b not in now.names:
        return
    before, after = old.matrix()[a].dropna(), now.matrix()[b].dropna()
    items = before.index.intersection(after.index)
    if len(items) == 0:
        return
    was, now_is = before[items].to_numpy(float), after[items].to_numpy(float)
    d = paired_difference(was, now_is, now.clusters(items))
    yield Row(
        b,
        (
            text(name),
            value(numbers.score(float(was.mean())), was.mean()),
            value(numbers.score(float(now_is.mean())), now_is.mean()),
            value(signed(d.value), d.value, between(signed(d.lo), signed(d.hi))),
            value(str(d.n), d.n),
        ),
        candidate=True,
    )


def speeds(base: Any, new: Any, words: Words) -> Table | None:
    """Latency and speed before and after, whatever the gate was told to check; None where neither was measured."""
    wanted = tuple(margin for margin in DEFAULT_MARGINS if margin.metric not in _SHARES)
    found = Gate(margins=wanted, allow=KINDS)(base, new)
    if not len(found.table):
        return None
    heads = _heads(words, "check", "base", "new", "change", "n")
    rows = [_pace(row, words) for row in records(found.table)]
    return Table(words("compare.speeds"), heads, rows, words("compare.speeds_caption"))


def _pace(row: dict[str, Any], words: Words) -> Row:
    name = text(_with_unit(row["check"], plot_words(words.lang)))
    return Row(row["candidate"], (name, *_values(row), value(str(row["n"]), row["n"])), candidate=True)


def _with_unit(check: str, say: PlotWords) -> str:
    unit = "ms" if check.split()[0].endswith("_ms") else say.unit("tokens/s")
    return f"{say.check(check)}, {unit}"
