"""``speedqual cost``: per success, per thousand tasks, where the tokens go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from speedqual.cli.brought import columns, give, load, picked

__all__ = ["command"]


@click.command("cost")
@columns
@click.option("--arrivals", type=float, help="Requests a second to size own hardware for.")
@click.option("--utilisation", type=float, default=0.7, show_default=True, help="How full a replica may run.")
@click.option("--seed", type=int, default=0, show_default=True)
def command(
    data: Path,
    arrivals: float | None,
    utilisation: float,
    seed: int,
    as_json: bool,
    plot_file: Path | None,
    dark: bool,
    **options: Any,
) -> None:
    """What a success costs, failures and retries included. An unknown cost stays unknown.

    \b
    Examples:
      speedqual cost RUN --arrivals 5
      speedqual cost items.csv --candidate model --quality resolved --item id --cost usd --json
    """
    from speedqual.analysis.cost import Cost

    result = Cost(arrivals_per_s=arrivals, utilisation=utilisation, seed=seed)(load(data, options))
    wanted = [
        *("candidate", "requests", "successes", "cost_per_success", "cost_per_success_lo", "cost_per_success_hi"),
        *("cost_per_thousand", "prompt", "cached", "reasoning", "answer", "tokens_per_success", "attempts"),
        *("speed", "of_claimed", "replicas", "cost_from"),
    ]
    give(result, picked(result.table, wanted), as_json=as_json, plot_file=plot_file, dark=dark)
