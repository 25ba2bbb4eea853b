"""A standing in words and cells: the same for a widget, for HTML that stays in the notebook, and for a line of text."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from speedqual.display import numbers
from speedqual.display.safe import visible
from speedqual.notebook import markup
from speedqual.notebook.live.tally import Row, Standing
from speedqual.notebook.words import NotebookWords

__all__ = ["Picture", "picture"]


@dataclass(frozen=True, slots=True)
class Picture:
    """What is shown of a run: what it does, facts, a table. ``share``: of the work at hand, None when over."""

    heading: str
    facts: tuple[str, ...]
    share: float | None
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def state(self) -> dict[str, Any]:
        """The form that a widget takes."""
        return asdict(self)

    def html(self) -> str:
        """One block of HTML without any script; a finished run shows no bar."""
        bar = "" if self.share is None else _bar(self.heading, self.share)
        table = markup.table(self.head, self.rows) if self.rows else ""
        return markup.heading(self.heading, " · ".join(self.facts)) + bar + table

    def line(self) -> str:
        """One line of text."""
        return " · ".join([self.heading, *self.facts])

    def text(self) -> str:
        """The line and the table in columns."""
        return "\n".join([self.line(), *("  ".join(row) for row in (self.head, *self.rows) if self.rows)])


def picture(standing: Standing, say: NotebookWords) -> Picture:
    """``standing`` in the words of one language."""
    why = visible(standing.why, 200)
    columns = tuple(name for name in _COLUMNS if _wanted(name, standing.rows))
    return Picture(
        heading=say(f"status.{_status(standing)}", why=why),
        facts=tuple(_facts(standing, say)),
        share=_share(standing),
        head=tuple(say(f"head.{name}") for name in columns),
        rows=tuple(tuple(_COLUMNS[name](row, say) for name in columns) for row in standing.rows),
    )


def duration(seconds: float, say: NotebookWords) -> str:
    """Whole seconds, then minutes, then hours.

    >>> from speedqual.notebook.words import notebook_words
    >>> duration(3725, notebook_words("en"))
    '1 h 2 min'
    """
    whole = round(seconds)
    if whole < 60:
        return say("time.s", s=whole)
    if whole < 3600:
        return say("time.min", min=whole // 60, s=whole % 60)
    return say("time.h", h=whole // 3600, min=whole % 3600 // 60)


def _status(standing: Standing) -> str:
    """An asking that is finished says nothing of grading that was cut off."""
    cut_off = standing.status == "finished" and standing.n_graded < standing.n_to_grade
    return "ungraded" if cut_off else standing.status


def _share(standing: Standing) -> float | None:
    if standing.over:
        return None
    grading = standing.status == "grading"
    done, total = (standing.n_graded, standing.n_to_grade) if grading else (standing.n_done, standing.n_trials)
    return done / total if total else 0.0


def _facts(standing: Standing, say: NotebookWords) -> list[str]:
    if standing.status == "preparing":
        return []
    facts = [say("fact.trials", done=numbers.count(standing.n_done), total=numbers.count(standing.n_trials))]
    if standing.n_before:
        facts.append(say("fact.before", n=numbers.count(standing.n_before)))
    if standing.in_flight and not standing.over:
        facts.append(say("fact.in_flight", n=standing.in_flight))
    if standing.n_to_grade:
        done, total = numbers.count(standing.n_graded), numbers.count(standing.n_to_grade)
        facts.append(say("fact.graded", done=done, total=total))
    facts.append(say("fact.elapsed", time=duration(standing.elapsed_s, say)))
    if standing.left_s is not None:
        facts.append(say("fact.left", time=duration(_roughly(standing.left_s), say)))
    return [*facts, *_spending(standing, say)]


def _roughly(seconds: float) -> float:
    """To 5 s below two minutes, to whole minutes above: more would be a promise."""
    step = 5 if seconds < 120 else 60
    return step * math.ceil(seconds / step)


def _spending(standing: Standing, say: NotebookWords) -> list[str]:
    """What is known to be spent, against the budget where there is one; replies without a price are said."""
    limits = standing.limits
    cost = "" if standing.cost_usd is None else numbers.usd(standing.cost_usd)
    if limits.usd is not None:
        cost = say("fact.of_budget", cost=cost or numbers.usd(0.0), budget=numbers.usd(limits.usd))
    if cost and standing.partly_priced:
        cost = say("fact.partly_priced", cost=cost)
    others = [
        say(f"fact.{name}", n=numbers.count(most))
        for name, most in (("requests", limits.requests), ("tokens", limits.tokens))
        if most is not None
    ]
    return [*filter(None, [cost]), *others]


def _failures(row: Row, say: NotebookWords) -> str:
    """How many, and of which kinds: "3 (2 timeout, 1 HTTP error)"."""
    kinds = sorted((n, kind) for kind, n in row.outcomes.items() if kind != "ok" and n)
    if not kinds:
        return "0"
    named = ", ".join(f"{n:,} {say.known(f'outcome.{kind}', kind)}" for n, kind in reversed(kinds))
    return f"{row.n_failed:,} ({named})"


def _bar(label: str, share: float) -> str:
    style = "width:24em;max-width:100%"
    return f"<progress style='{style}' aria-label='{escape(label)}' max='1' value='{share:.3f}'></progress>"


def _early(row: Row, say: NotebookWords) -> str:
    how = say.known(f"ended.{row.ended}", row.ended)
    return ": ".join(filter(None, [how, row.why]))


_COLUMNS: dict[str, Callable[[Row, NotebookWords], str]] = {
    "candidate": lambda row, say: visible(row.candidate, 80),
    "level": lambda row, say: visible(row.level, 60),
    "in_flight": lambda row, say: numbers.count(row.in_flight),
    "req_s": lambda row, say: numbers.rate(row.req_s),
    "ok": lambda row, say: numbers.count(row.outcomes.get("ok", 0)),
    "failed": _failures,
    "ttft_p50": lambda row, say: numbers.milliseconds(row.ttft_ms_p50),
    "ttft_p95": lambda row, say: numbers.milliseconds(row.ttft_ms_p95),
    "tok_s": lambda row, say: numbers.rate(row.decode_tok_s_p50),
    "cost": lambda row, say: numbers.usd(row.cost_usd),
    "ended": lambda row, say: visible(_early(row, say), 160),
}


def _wanted(column: str, rows: tuple[Row, ...]) -> bool:
    """Levels only in a load test, costs only where one is known."""
    if column in ("level", "in_flight", "req_s"):
        return any(row.level for row in rows)
    if column == "ended":
        return any(row.ended or row.why for row in rows)
    return column != "cost" or any(row.cost_usd is not None for row in rows)
