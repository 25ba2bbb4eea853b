"""``speedqual doctor``: what this machine can measure and grade, and what to install for the rest."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from speedqual.cli.findings import ROOMS, Finding
from speedqual.cli.table import width

__all__ = ["command"]

MARKS = {"good": "✓", "missing": "–", "bad": "✗"}


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def command(as_json: bool) -> None:
    """Say what this machine can measure, grade and show. Asks nobody; exits with 1 when something is bad.

    \b
    ✓ is there   – is missing: what it is for, and how to get it   ✗ spoils numbers

    \b
    Example:
      speedqual doctor
    """
    found = {room: [finding for look in looks for finding in look()] for room, looks in ROOMS.items()}
    every = [finding for findings in found.values() for finding in findings]
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in every], ensure_ascii=False, indent=1))
    else:
        _print(found, max(width(finding.what) for finding in every))
    raise click.exceptions.Exit(int(any(finding.state == "bad" for finding in every)))


def _print(found: dict[str, list[Finding]], size: int) -> None:
    for room, findings in found.items():
        click.echo(f"{room}")
        for finding in findings:
            pad = " " * (size - width(finding.what))
            click.echo(f"  {MARKS[finding.state]} {finding.what}{pad}  {finding.says}")
