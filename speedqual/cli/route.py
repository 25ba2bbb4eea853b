"""``speedqual route``: replay routing and fallback policies from recorded items."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from speedqual.cli.brought import columns, give, load, picked

__all__ = ["command"]


@click.command("route")
@columns
@click.option("--fast", default="", help="Candidate asked first. Default: the quickest or cheapest.")
@click.option("--strong", default="", help="Candidate behind it. Default: the best.")
@click.option("--feature", "features", multiple=True, help="Column known before the call; may be repeated.")
@click.option("--keep", type=click.FloatRange(0, 1), default=0.98, show_default=True, help="Quality to keep.")
@click.option("--save", type=click.Path(path_type=Path), help="Write the recommended policy as JSON.")
@click.option("--seed", type=int, default=0, show_default=True)
def command(
    data: Path,
    fast: str,
    strong: str,
    features: tuple[str, ...],
    keep: float,
    save: Path | None,
    seed: int,
    as_json: bool,
    plot_file: Path | None,
    dark: bool,
    **options: Any,
) -> None:
    """Replay cascades, routers and hedges between a fast and a strong candidate. Nothing is asked.

    \b
    Examples:
      speedqual route RUN --fast small --strong large --save policy.json
      speedqual route items.csv --rungs weak,strong --item id --cluster subject
    """
    from speedqual.analysis.routing import Routing

    ask = Routing(fast=fast, strong=strong, features=features, keep=keep, seed=seed)
    result = ask(load(data, options))
    if save is not None and result.policy is not None:
        click.echo(f"policy: {result.policy.save(save)}", err=True)
    wanted = [
        *("policy", "quality", "quality_lo", "quality_hi", "share_strong", "cost", "time_p50", "time_p95"),
        *("gap_recovered", "assumes"),
    ]
    give(result, picked(result.table, wanted), as_json=as_json, plot_file=plot_file, dark=dark)
