"""``speedqual report``: the HTML file of a run."""

from __future__ import annotations

from pathlib import Path

import click

from speedqual.cli.offers import RUN
from speedqual.report import EACH
from speedqual.report.exports import FORMS
from speedqual.report.words import LANGUAGES

__all__ = ["command"]


def _items(ctx: click.Context, parameter: click.Parameter, value: str) -> int | None:
    """A number from 1 up, or None for all."""
    if value == "all":
        return None
    return int(click.IntRange(1)(value, parameter, ctx))


@click.command("report")
@click.argument("run", type=RUN)
@click.option("--out", "-o", type=click.Path(path_type=Path), help="Default: report.html in the run's folder.")
@click.option("--format", "form", type=click.Choice(FORMS), help="Default: what the ending of --out says, else html.")
@click.option("--lang", type=click.Choice(LANGUAGES), default="en", show_default=True, help="Language of the report.")
@click.option("--redact", is_flag=True, help="Leave prompts and answers out.")
@click.option(
    "--items",
    callback=_items,
    default=str(EACH),
    show_default=True,
    metavar="N|all",
    help="Items of each kind (flipped, worst, slowest) on the page; all = every item, compressed.",
)
def command(run: Path, out: Path | None, form: str | None, lang: str, redact: bool, items: int | None) -> None:
    """Write the report of a run: one HTML file, opened offline; or Markdown, CSV, Parquet or JSON.

    \b
    Examples:
      speedqual report runs/20260101-120000-ab12
      speedqual report RUN --lang zh --redact -o for-the-customer.html
      speedqual report RUN --format md -o comment.md
      speedqual report RUN --items all
    """
    from speedqual.report import write
    from speedqual.running import Run

    target = out or run / f"report.{form or 'html'}"
    click.echo(write(Run.open(run), target, redact=redact, lang=lang, items=items, form=form or ""))
