"""``speedqual show``: a run's table, or one trial in full."""

from __future__ import annotations

import json
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import click

from speedqual.cli.offers import RUN
from speedqual.cli.outcome import print_scoreboard
from speedqual.display.safe import visible
from speedqual.errors import UsageError
from speedqual.evalsets.problems import quoted
from speedqual.records import Record

if TYPE_CHECKING:
    from speedqual.running import Run

__all__ = ["command"]

LONG = 100_000


@click.command("show")
@click.argument("run", type=RUN)
@click.option("--item", help="Show the trials of this item in full.")
@click.option("--candidate", help="Only this candidate's.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON; with --item one record a line.")
def command(run: Path, item: str | None, candidate: str | None, as_json: bool) -> None:
    """Print a run's table, or each trial of one item in full.

    \b
    Examples:
      speedqual show runs/20260101-120000-ab12
      speedqual show RUN --item en-add --candidate fast
    """
    from speedqual.running import Run

    opened = Run.open(run)
    if item is None and candidate is None:
        print_scoreboard(opened, as_json=as_json)
        return
    _check_names(opened, item, candidate)
    found = [
        record
        for record in opened.records
        if item in (None, record.trial.item) and candidate in (None, record.trial.candidate)
    ]
    if not found:
        raise UsageError(
            "no such trial in this run", where=run.name, fix="Look at the items with: speedqual show RUN --json"
        )
    for record in found:
        click.echo(json.dumps(record.to_dict(), ensure_ascii=False) if as_json else _text(record))


def _check_names(run: Run, item: str | None, candidate: str | None) -> None:
    """Say which of the two is not in the run, and what is like it there."""
    for flag, column, name in (("--candidate", "candidate", candidate), ("--item", "item", item)):
        known = list(dict.fromkeys(run.df[column]))
        if name is not None and name not in known:
            near = get_close_matches(name, known, n=3)
            fix = f"Did you mean {' or '.join(near)}?" if near else f"There are: {quoted(known)}"
            raise UsageError(f"no {column} {name!r} in this run", where=flag, fix=visible(fix, 2_000))


def _text(record: Record) -> str:
    trial, last, grade = record.trial, record.last, record.grade
    lines = [f"── {trial.candidate} · {trial.evalset} · {trial.item} · repeat {trial.repeat}"]
    lines.append(
        f"outcome {last.outcome}, attempts {len(record.attempts)}, stop {last.stop}, flags {list(record.flags)}"
    )
    if last.status is not None:
        lines.append(f"HTTP status {last.status}")
    if last.error_message:
        lines.append(f"error: {last.error_message}")
    if last.reasoning:
        lines += ["reasoning:", last.reasoning]
    lines += ["answer:", last.text]
    if grade is not None:
        lines.append(f"grade: {grade.verdict}, score {grade.score}, {grade.failure}: {grade.why}")
    lines += [f"  {name} {_number(value)}" for name, value in record.metrics.items() if value is not None]
    lines += [f"  {name} – ({why})" for name, why in record.missing.items()]
    return "\n".join(visible(line, LONG) for line in lines)


def _number(value: float | int | str | None) -> str:
    return f"{value:,.2f}" if isinstance(value, float) else str(value)
