"""``speedqual history``: trends and change points over many runs."""

from __future__ import annotations

from pathlib import Path

import click

from speedqual.cli.brought import plot_lang
from speedqual.cli.offers import RUN

__all__ = ["command"]


@click.command("history")
@click.argument("runs", nargs=-1, required=True, type=RUN)
@click.option("--metric", "metrics", multiple=True, help="quality, ttft_ms, …; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--plot", "plot_file", type=click.Path(path_type=Path), help="Draw into .svg, .png or .pdf.")
@click.option("--dark", is_flag=True, help="Draw on a dark ground.")
@plot_lang
def command(
    runs: tuple[Path, ...], metrics: tuple[str, ...], as_json: bool, plot_file: Path | None, dark: bool
) -> None:
    """Follow RUNS from the oldest to the newest: where a level changes, and what drifts slowly.

    \b
    Examples:
      speedqual history runs/*
      speedqual history runs/* --metric quality --plot history.svg
    """
    from speedqual.analysis.history import History
    from speedqual.cli.brought import give
    from speedqual.running import Run

    opened = sorted((Run.open(path) for path in runs), key=lambda run: str(run.manifest.get("created", "")))
    ask = History(metrics=metrics) if metrics else History()
    result = ask(opened, [run.name for run in opened])
    shown = result.trends.assign(changes=[", ".join(names) for names in result.trends["changes"]])
    give(result, shown, as_json=as_json, plot_file=plot_file, dark=dark)
