"""Options and output that the analysis commands share: a run folder or any table in, a verdict, JSON or a plot out."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from speedqual.cli.offers import DATA
from speedqual.display.numbers import cell
from speedqual.display.words import LANGUAGES
from speedqual.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

    from speedqual.analysis.base import Result
    from speedqual.analysis.tidy import Table

__all__ = ["columns", "give", "load", "plot_lang", "speak"]

_LANG = "speedqual.lang"


def speak(lang: str) -> None:
    """Let ``give`` draw in this language."""
    click.get_current_context().meta[_LANG] = lang


def _keep_lang(ctx: click.Context, parameter: click.Parameter, value: str) -> None:
    ctx.meta[_LANG] = value


plot_lang = click.option(
    "--lang", type=click.Choice(LANGUAGES), default="en", show_default=True, expose_value=False, callback=_keep_lang,
    help="Language of the plot.",
)  # fmt: skip
"""``give`` draws in the language asked for, so that no command need hand it on."""

_COLUMN_OPTIONS = (
    click.option("--candidate", default="", help="Column with the candidate's name."),
    click.option("--quality", default="", help="Column of quality, or a ratio of two: passed/total."),
    click.option("--n", default="", help="Number of items: a column or a number."),
    click.option("--seconds", default="", help="Column of seconds per item, or a ratio."),
    click.option("--cost", default="", help="Column of USD per item, or a ratio: total_cost/n."),
    click.option("--ladder", default="", help="Column that names the ladder."),
    click.option("--rung", default="", help="Column that names the rung."),
    click.option("--rungs", default="", help="Wide table: columns of quality, A,B,C."),
    click.option("--item", default="", help="Column (or columns A,B) that name the item."),
    click.option("--cluster", default="", help="Column of what items share."),
    click.option("--params-b", default="", help="Column of parameters in billions."),
    click.option("--zero-cost", type=click.Choice(["unknown", "free"]), default="unknown", show_default=True),
    click.option("--json", "as_json", is_flag=True, help="Print JSON."),
    click.option("--plot", "plot_file", type=click.Path(path_type=Path), help="Draw into .svg, .png or .pdf."),
    click.option("--dark", is_flag=True, help="Draw on a dark ground."),
    plot_lang,
)


def columns(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``DATA`` and the column options to a command."""
    for option in reversed(_COLUMN_OPTIONS):
        function = option(function)
    return click.argument("data", type=DATA)(function)


def load(data: Path, options: dict[str, Any]) -> Table:
    """The run folder or the table at ``data``, tidy. Takes the column options out of ``options``."""
    from speedqual.analysis.brought import from_table
    from speedqual.analysis.tidy import RUN_COLUMNS, tidy

    named = {name: options.pop(name) for name in _NAMES}
    if data.is_dir():
        from speedqual.running import Run

        return tidy(Run.open(data))
    frame = read_table(data)
    if not any(named[name] for name in ("candidate", "rungs", "quality")):
        if set(RUN_COLUMNS) <= set(frame):
            return tidy(frame)
        have = ", ".join(map(str, frame.columns[:20]))
        fix = "Name its columns with --candidate, --quality, --n, --seconds, --cost"
        raise UsageError(f"what its columns mean is not said (it has {have})", where=data.name, fix=fix)
    named["rungs"] = _split(named["rungs"])
    named["item"] = _split(named["item"])
    named["n"] = _count(named["n"])
    return from_table(frame, **named)


_NAMES = (
    *("candidate", "quality", "n", "seconds", "cost", "ladder", "rung", "rungs", "item", "cluster", "params_b"),
    "zero_cost",
)


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _count(text: str) -> str | float | None:
    """A number, a column's name, or None."""
    try:
        return float(text) if text else None
    except ValueError:
        return text


def read_table(path: Path) -> pd.DataFrame:
    """CSV, TSV, JSON lines or Parquet; lines that start with ``#`` are skipped."""
    import pandas as pd

    if not path.is_file():
        raise UsageError("there is no such file or run folder", where=path.name, fix="Give a run folder or a table")
    ending = path.suffix.lower()
    try:
        if ending in (".parquet", ".pq"):
            return pd.read_parquet(path)
        text = path.read_text(encoding="utf-8-sig")
        kept = io.StringIO("".join(line for line in text.splitlines(keepends=True) if not line.startswith("#")))
        if ending in (".jsonl", ".ndjson"):
            return pd.read_json(kept, lines=True)
        return pd.read_csv(kept, sep="\t" if ending == ".tsv" else ",")
    except (ValueError, OSError) as fault:
        raise UsageError(f"cannot be read as a table ({fault})", where=path.name, fix="Give CSV or Parquet") from fault


def give(
    result: Result,
    shown: pd.DataFrame,
    *,
    as_json: bool,
    plot_file: Path | None,
    dark: bool = False,
    most: int = 200,
) -> None:
    """Print the result: JSON alone, or the table with the verdict under it; notes go to stderr."""
    if plot_file is not None:
        from speedqual.plots.style import save

        lang = click.get_current_context().meta.get(_LANG, "en")
        save(result.plot(style="dark" if dark else "light", lang=lang), plot_file)
    if as_json:
        click.echo(json.dumps(result.to_dict(), ensure_ascii=False, indent=1, allow_nan=False))
        return
    from speedqual.cli.table import text_table

    rows = [
        [cell(name, value) for name, value in zip(shown.columns, row, strict=True)] for row in shown.head(most).values
    ]
    if rows:
        click.echo(text_table([str(c) for c in shown.columns], rows))
    click.echo(f"\n{result.verdict}" if rows else result.verdict)
    for note in result.notes:
        click.echo(f"note: {note}", err=True)
    if plot_file is not None:
        click.echo(f"drawn: {plot_file}", err=True)


def picked(table: pd.DataFrame, wanted: Sequence[str]) -> pd.DataFrame:
    """Those of the wanted columns that the table has and that say anything."""
    return table[[c for c in wanted if c in table and table[c].notna().any()]]
