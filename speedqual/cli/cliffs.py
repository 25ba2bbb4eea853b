"""``speedqual cliffs``: where quality falls off on a ladder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from speedqual.cli.brought import columns, give, load, picked

__all__ = ["command"]


@click.command("cliffs")
@columns
@click.option("--by", default="", help="'ladder', or a column of the items such as difficulty.")
@click.option("--order", default="", help="Rungs from easy to hard, A,B,C, where their names do not say it.")
@click.option("--delta", type=float, default=0.10, show_default=True, help="Drop that counts, 0.1 = 10 points.")
@click.option("--seed", type=int, default=0, show_default=True)
def command(
    data: Path,
    by: str,
    order: str,
    delta: float,
    seed: int,
    as_json: bool,
    plot_file: Path | None,
    dark: bool,
    **options: Any,
) -> None:
    """Find capability cliffs on the ladders of a run folder or of any table.

    \b
    Examples:
      speedqual cliffs RUN
      speedqual cliffs lengths.csv --ladder model --rungs L4k,L8k,L16k,L32k --n 500 --json
    """
    from speedqual.analysis.cliffs import Cliffs

    rungs = tuple(part.strip() for part in order.split(",") if part.strip())
    result = Cliffs(by=by, order=rungs, delta=delta, seed=seed)(load(data, options))
    wanted = ["ladder", "label", "from", "to", "drop", "drop_lo", "drop_hi", "p", "n", "why"]
    give(result, picked(result.ladders, wanted), as_json=as_json, plot_file=plot_file, dark=dark)
