"""``speedqual deadlines``: which candidate is best within each deadline or budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from speedqual.cli.brought import columns, give, load

__all__ = ["command"]


@click.command("deadlines")
@columns
@click.option(
    "--x", default="", help="What is limited: e2e, ttfa, seconds; cost for a budget. Default: the whole answer."
)
@click.option("--lead", type=float, default=0.01, show_default=True, help="Lead at which the advice switches.")
@click.option("--seed", type=int, default=0, show_default=True)
def command(
    data: Path, x: str, lead: float, seed: int, as_json: bool, plot_file: Path | None, dark: bool, **options: Any
) -> None:
    """Quality delivered within a deadline or a budget, and where the best candidate changes.

    \b
    Examples:
      speedqual deadlines RUN --plot deadlines.svg
      speedqual deadlines items.csv --candidate model --quality resolved --item id --cost usd --x cost
    """
    from speedqual.analysis.deadlines import Deadlines

    result = Deadlines(x=x, lead=lead, seed=seed)(load(data, options))
    give(result, result.switches, as_json=as_json, plot_file=plot_file, dark=dark)
