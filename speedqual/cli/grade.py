"""``speedqual grade``: judge a run's answers again; nobody is asked anything."""

from __future__ import annotations

from pathlib import Path

import click

from speedqual.cli.offers import RUN
from speedqual.cli.outcome import exit_code_of, print_scoreboard

__all__ = ["command"]


@click.command("grade")
@click.argument("run", type=RUN)
@click.option("--allow-code", is_flag=True, help="Run the grader.py of an eval set.")
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")
def command(run: Path, allow_code: bool, as_json: bool) -> None:
    """Grade a run again with the graders of this version.

    \b
    Example:
      speedqual grade runs/20260101-120000-ab12
    """
    from speedqual.running import Run, regrade

    graded = regrade(Run.open(run), allow_code=allow_code)
    print_scoreboard(graded, as_json=as_json)
    raise click.exceptions.Exit(exit_code_of(graded))
