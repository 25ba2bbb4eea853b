"""``speedqual grade``: judge a run's answers again; nobody is asked anything."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from speedqual.cli.offers import MODEL, RUN
from speedqual.cli.outcome import exit_code_of, print_scoreboard, say
from speedqual.display.numbers import digits

__all__ = ["command"]


@contextmanager
def _judged_by(model: str | None, url: str) -> Iterator[None]:
    """Offer the model as the judge, and say at the end what it cost."""
    if not model:
        yield
        return
    from speedqual.endpoints.naming import parse_candidate
    from speedqual.grading.judge import use
    from speedqual.running.judges import JudgeModel

    candidate = parse_candidate(model, base_url=url)
    with JudgeModel(candidate) as ask:
        use(ask)
        yield
        cost = "an unknown cost" if ask.cost_usd is None else f"${digits(ask.cost_usd, 4)}"
        say(f"judge {candidate.name}: {ask.requests} requests, {ask.faults} failed, {cost}")


@click.command("grade")
@click.argument("run", type=RUN)
@click.option("--allow-code", is_flag=True, help="Run the grader.py of an eval set.")
@click.option("--judge", type=MODEL, help="The model that judges where a card says `grader: judge`. It is paid for.")
@click.option("--judge-url", default="", help="Base URL of the judge's endpoint.")
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")
def command(run: Path, allow_code: bool, judge: str | None, judge_url: str, as_json: bool) -> None:
    """Grade a run again with the graders of this version. Only a judge, where one is named, is asked anything.

    Which grader judges stands in the card of each eval set: `grader: facts`, `{name: nli, model: FOLDER}`, `judge`, …

    \b
    Examples:
      speedqual grade runs/20260101-120000-ab12
      speedqual grade runs/20260101-120000-ab12 --judge openai/NAME
    """
    from speedqual.running import Run, regrade

    with _judged_by(judge, judge_url):
        graded = regrade(Run.open(run), allow_code=allow_code)
    print_scoreboard(graded, as_json=as_json)
    raise click.exceptions.Exit(exit_code_of(graded))
