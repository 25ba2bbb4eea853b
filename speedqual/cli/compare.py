"""``speedqual compare``: a gate between two runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from speedqual.cli.offers import RUN
from speedqual.report.words import LANGUAGES

if TYPE_CHECKING:
    from speedqual.analysis.gate import Margin

__all__ = ["command"]


@click.command("compare")
@click.argument("base", type=RUN)
@click.argument("new", type=RUN)
@click.option("--margins", type=click.Path(path_type=Path), help="TOML file with a [gate] table.")
@click.option(
    "--allow", multiple=True, type=click.Choice(["set", "prompts", "graders", "params", "machine"]),
    help="Accept a difference of this kind; it is noted.",
)  # fmt: skip
@click.option("--markdown", type=click.Path(path_type=Path), help="Write a table for a pull request.")
@click.option("--junit", type=click.Path(path_type=Path), help="Write JUnit XML.")
@click.option("--report", type=click.Path(path_type=Path), help="Write an HTML page of both runs, item by item.")
@click.option(
    "--lang", type=click.Choice(LANGUAGES), default="en", show_default=True, help="Language of page and plot."
)
@click.option("--redact", is_flag=True, help="Leave prompts and answers out of the page.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--plot", "plot_file", type=click.Path(path_type=Path), help="Draw into .svg, .png or .pdf.")
@click.option("--dark", is_flag=True, help="Draw on a dark ground.")
def command(
    base: Path,
    new: Path,
    margins: Path | None,
    allow: tuple[str, ...],
    markdown: Path | None,
    junit: Path | None,
    report: Path | None,
    lang: str,
    redact: bool,
    as_json: bool,
    plot_file: Path | None,
    dark: bool,
) -> None:
    """Is NEW no worse than BASE? Exits 0 pass, 1 fail, 5 inconclusive, 2 when they cannot be compared.

    \b
    Examples:
      speedqual compare runs/main runs/branch --markdown gate.md
      speedqual compare BASE NEW --margins speedqual.toml --junit gate.xml
      speedqual compare BASE NEW --report diff.html --lang zh
    """
    from speedqual.analysis.gate import DEFAULT_MARGINS, Gate
    from speedqual.analysis.gate_files import to_junit, to_markdown
    from speedqual.cli.brought import give, speak
    from speedqual.running import Run

    chosen = _margins(margins) if margins else DEFAULT_MARGINS
    old, now = Run.open(base), Run.open(new)
    result = Gate(margins=chosen, allow=allow)(old, now)
    if markdown:
        markdown.write_text(to_markdown(result), encoding="utf-8")
    if junit:
        junit.write_text(to_junit(result), encoding="utf-8")
    if report:
        from speedqual.report.compare import write_comparison

        write_comparison(old, now, report, result=result, redact=redact, lang=lang)
    speak(lang)
    give(result, result.table, as_json=as_json, plot_file=plot_file, dark=dark)
    raise click.exceptions.Exit(result.exit_code)


def _margins(path: Path) -> tuple[Margin, ...]:
    import tomllib

    from speedqual.analysis.gate import margins_from
    from speedqual.errors import ConfigError

    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as fault:
        raise ConfigError(f"cannot be read ({fault})", where=path.name) from fault
    return margins_from(table.get("gate", table), f"{path.name}: gate")
