"""``speedqual quickstart``: the main job end to end, on a real model on this machine."""

from __future__ import annotations

import time
from pathlib import Path

import click

from speedqual.cli.outcome import exit_code_of, print_scoreboard, run_until_done, say

__all__ = ["command"]


@click.command("quickstart")
@click.option("--out", "folder", type=click.Path(path_type=Path), help="The run's folder. Default: runs/…")
@click.option("--report", type=click.Path(path_type=Path), default=Path("report.html"), show_default=True)
@click.option(
    "--lang", type=click.Choice(["en", "zh"]), default="en", show_default=True, help="Language of the report."
)
def command(folder: Path | None, report: Path, lang: str) -> None:
    """Measure a real small model on this machine and write a report.

    Fetches SmolLM2-135M once, serves it six ways, asks 24 short questions of each, draws what each way trades.
    To measure a remote model instead: speedqual run --model openai/NAME --base-url URL --evalset code@minimal
    """
    from speedqual.cli.progress import Progress
    from speedqual.endpoints.local import fetch_model, quickstart_candidates
    from speedqual.evalsets import minimal_sets
    from speedqual.report import write

    begin = time.monotonic()
    model = fetch_model(say=say)
    with quickstart_candidates(model, say=say) as candidates:
        run = run_until_done(candidates, minimal_sets(), folder=folder, observers=[Progress()])
    print_scoreboard(run, as_json=False)
    say(f"run: {run.folder}")
    say(f"report: {write(run, report, lang=lang)}")
    say(f"{time.monotonic() - begin:.0f} s in all")
    raise click.exceptions.Exit(exit_code_of(run))
