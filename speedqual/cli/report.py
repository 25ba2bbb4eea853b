"""``speedqual report``: the HTML file of a run."""

from __future__ import annotations

from pathlib import Path

import click

from speedqual.report.words import LANGUAGES

__all__ = ["command"]


@click.command("report")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--out", "-o", type=click.Path(path_type=Path), help="Default: report.html in the run's folder.")
@click.option("--lang", type=click.Choice(LANGUAGES), default="en", show_default=True, help="Language of the report.")
@click.option("--redact", is_flag=True, help="Leave prompts and answers out.")
def command(run: Path, out: Path | None, lang: str, redact: bool) -> None:
    """Write the HTML report of a run: one file, opened offline.

    \b
    Examples:
      speedqual report runs/20260101-120000-ab12
      speedqual report RUN --lang zh --redact -o for-the-customer.html
    """
    from speedqual.report import write
    from speedqual.running import Run

    click.echo(write(Run.open(run), out or run / "report.html", redact=redact, lang=lang))
