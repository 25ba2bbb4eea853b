"""What a run's command says at the end: the table on stdout, where things are on stderr, and the exit code."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from speedqual.display import numbers
from speedqual.errors import EndpointError, StorageError

if TYPE_CHECKING:
    from speedqual.records import Candidate, EvalSet
    from speedqual.running import Run, RunEvent
    from speedqual.running.plan import CandidateEstimate

__all__ = [
    "PARTIAL",
    "exit_code_of",
    "planned_table",
    "print_scoreboard",
    "run_until_done",
    "say",
    "say_causes",
    "until_done",
]

PARTIAL = 4


def say(line: str) -> None:
    """One line on stderr."""
    click.echo(line, err=True)


def run_until_done(candidates: Sequence[Candidate], evalsets: Sequence[EvalSet], **options: Any) -> Run:
    """``run_sync`` that says how to go on when it was interrupted or the disk gave out."""
    from speedqual.running import run_sync

    return until_done(partial(run_sync, candidates, evalsets), "run", **options)


def until_done(start: Callable[..., Run], command: str, **options: Any) -> Run:
    """``start(folder=…, observers=…, …)``, saying how to go on with ``command`` when it was interrupted or the disk
    gave out."""
    from speedqual.running import Started

    where: list[Path] = [Path(options["folder"])] if options.get("folder") else []

    def remember(event: RunEvent) -> None:
        if isinstance(event, Started) and not where:
            where.append(Path("runs", event.run))

    try:
        return start(**{**options, "observers": [remember, *options.get("observers", ())]})
    except (KeyboardInterrupt, EndpointError, StorageError):
        if where and (where[0] / "manifest.json").is_file():
            say(f"\nWhat was finished is kept. Go on with: speedqual {command} --resume {where[0]}")
        raise


def print_scoreboard(run: Run, *, as_json: bool) -> None:
    """The table of the run on stdout, notes on stderr."""
    from speedqual.analysis.base import records
    from speedqual.analysis.scoreboard import Scoreboard, scoreboard_rows
    from speedqual.cli.table import text_table

    board = Scoreboard()(run.df)
    if as_json:
        found = {"run": run.name, "status": run.status, "candidates": records(board.table), "notes": list(board.notes)}
        click.echo(json.dumps(found, ensure_ascii=False, indent=1))
        say_causes(run)
        return
    if len(board.table):
        click.echo(text_table(*scoreboard_rows(board.table)))
    for note in (*board.notes, *_served_otherwise(run), *_price_dates(run)):
        say(note)
    say_causes(run)
    if run.client_limit:
        say(f"The client was the limit ({run.client_limit}): do not rank these speeds.")
    if run.manifest.get("why"):
        say(f"Stopped: {run.manifest['why']}. Go on with: speedqual run --resume {run.folder}")


def say_causes(run: Run) -> None:
    """Why requests failed, if some did."""
    from speedqual.cli.causes import causes

    for line in causes(run):
        say(line)


def _served_otherwise(run: Run) -> Iterator[str]:
    """Replies by another model than asked (some servers ignore the name), and those of another tier."""
    for candidate in run.candidates:
        for model, n in run.manifest["served"].get(candidate.name, {}).items():
            if candidate.model not in model and model not in candidate.model:
                yield f"{candidate.name}: asked for {candidate.model}, {n} replies say they are by {model}."
    other = run.df["phase"].eq("other_tier")
    for name, n in run.df["candidate"][other].value_counts().items():
        yield f"{name}: {n} replies were served on another tier than asked; they are kept apart."


def _price_dates(run: Run) -> Iterator[str]:
    """A cost is only as good as the day of its prices."""
    prices = {name: price for name, price in run.manifest["prices"].items() if price and price.get("as_of")}
    for date in sorted({price["as_of"] for price in prices.values()}):
        names = ", ".join(name for name, price in prices.items() if price["as_of"] == date)
        yield f"Prices as of {date}: {names}."


def planned_table(rows: Sequence[CandidateEstimate]) -> tuple[list[str], list[list[str]]]:
    """Head and rows of what would be asked."""
    return ["candidate", "requests", "prompt tokens ≈", "output tokens ≤", "USD ≤"], [_planned(row) for row in rows]


def _planned(row: CandidateEstimate) -> list[str]:
    endless = None if row.bounded else "no limit"
    usd = "unknown" if row.usd is None else (row.usd and endless) or numbers.usd(row.usd)
    output = endless or numbers.count(row.output_tokens)
    return [row.candidate, numbers.count(row.requests), numbers.count(row.prompt_tokens), output, usd]


def exit_code_of(run: Run) -> int:
    """0 when every trial got a usable reply; 3 when none did; 4 when some failed or the run stopped early."""
    from speedqual.cli.causes import nothing_answered
    from speedqual.records import GRADED_OUTCOMES

    if nothing_answered(run):
        return EndpointError.exit_code
    failed = not run.df["outcome"].isin(GRADED_OUTCOMES).all()
    return PARTIAL if failed or run.status != "finished" else 0
