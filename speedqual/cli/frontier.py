"""``speedqual frontier``: who is on the speed-quality front, and how surely."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from speedqual.cli.brought import columns, give, load, picked

__all__ = ["command"]


@click.command("frontier")
@columns
@click.option("--x", "axes", multiple=True, help="ttft, ttfa, e2e, speed, cost, tokens, seconds; twice for a triple.")
@click.option("--floor", type=float, help="Quality that a candidate's mean must reach, 0 to 1.")
@click.option("--draws", type=click.IntRange(100), default=4000, show_default=True, help="Joint bootstrap draws.")
@click.option("--seed", type=int, default=0, show_default=True)
def command(
    data: Path,
    axes: tuple[str, ...],
    floor: float | None,
    draws: int,
    seed: int,
    as_json: bool,
    plot_file: Path | None,
    dark: bool,
    **options: Any,
) -> None:
    """Draw the speed-quality frontier of a run folder or of any table.

    \b
    Examples:
      speedqual frontier RUN --x ttft --floor 0.9
      speedqual frontier board.csv --candidate model --quality pass_rate --n 225 --seconds sec --plot front.svg
    """
    from speedqual.analysis.frontier import Frontier

    result = Frontier(x=axes if len(axes) > 1 else "".join(axes), floor=floor, draws=draws, seed=seed)(
        load(data, options)
    )
    first = result.measures[0]
    order = result.table.sort_values(
        ["on_front", first.name], ascending=[False, not first.higher_is_better], kind="stable"
    )
    names = [m.name for m in result.measures]
    wanted = [
        "candidate",
        *names,
        "quality",
        "quality_lo",
        "quality_hi",
        "n",
        "on_front",
        "p_on_front",
        "regret",
        "floor",
    ]
    give(result, picked(order, wanted), as_json=as_json, plot_file=plot_file, dark=dark)
