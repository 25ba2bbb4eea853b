"""``speedqual runs``: what lies in a folder of runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from speedqual.cli.outcome import say
from speedqual.cli.table import text_table

__all__ = ["command"]


@click.command("runs")
@click.argument("folder", type=click.Path(path_type=Path), default=Path("runs"))
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def command(folder: Path, as_json: bool) -> None:
    """List the runs in a folder, newest first.

    \b
    Example:
      speedqual runs runs/
    """
    from speedqual.errors import RunFolderError
    from speedqual.running import Run

    rows: list[dict[str, Any]] = []
    for path in sorted(folder.glob("*/manifest.json"), reverse=True):
        try:
            rows.append(_row(Run.open(path.parent)))
        except RunFolderError as fault:
            say(str(fault))
    if as_json:
        click.echo(json.dumps(rows, ensure_ascii=False, indent=1))
    elif rows:
        head = ["run", "status", "trials", "candidates", "eval sets", "started"]
        click.echo(text_table(head, [[str(value) for value in row.values()] for row in rows]))
    else:
        say(f"no runs in {folder}")


def _row(run: Any) -> dict[str, Any]:
    manifest = run.manifest
    return {
        "run": run.folder.name,
        "status": run.status,
        "trials": f"{len(run)}/{manifest['n_trials']}",
        "candidates": len(manifest["candidates"]),
        "evalsets": ", ".join(entry["name"] for entry in manifest["evalsets"]),
        "started": manifest["created"][:19],
    }
