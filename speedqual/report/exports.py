"""A run for other readers than a browser: Markdown for pull requests, its table as CSV and Parquet, analyses as JSON.

HTML files are those of ``speedqual.report``; here is everything else, chosen by the name of a form.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from speedqual.display.safe import visible
from speedqual.errors import UsageError
from speedqual.report.private import without_addresses

if TYPE_CHECKING:
    import pandas as pd

    from speedqual.report.context import Context
    from speedqual.running import Run

__all__ = ["FORMS", "export", "to_csv", "to_json", "to_parquet"]

FORMS = ("html", "md", "csv", "parquet", "json")
"""What a run can be written as; also the endings of their files."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_ANALYSES = ("frontier", "deadlines", "cliffs", "by_task", "routing", "paired")
_LOAD = (
    *("levels", "knee", "latency", "saturation", "timeline", "quality", "errors", "lengths", "prefix", "cold"),
    "by_length",
)
"""The analyses of a run and of a load test, as the context names them."""


def export(run: Run, form: str, *, redact: bool = False, lang: str = "en") -> bytes:
    """The run as the bytes of a file. Raises UsageError for a form that there is not."""
    from speedqual.report.exports_markdown import to_markdown

    made: dict[str, Callable[[], bytes]] = {
        "md": lambda: to_markdown(run, redact=redact, lang=lang).encode("utf-8", "replace"),
        "csv": lambda: to_csv(run).encode("utf-8-sig"),
        "parquet": lambda: to_parquet(run),
        "json": lambda: to_json(run, redact=redact, lang=lang).encode("utf-8", "backslashreplace"),
    }
    if form not in made:
        raise UsageError(
            f"a run cannot be written as {form!r}", where="--format", fix=f"Use one of: {', '.join(FORMS)}"
        )
    return made[form]()


def to_csv(run: Run) -> str:
    """``run.df`` as CSV. It holds no prompt and no answer; column names are the same in every language.

    Its file begins with a byte order mark: without one Excel reads UTF-8 as the machine's own code page and Chinese as
    noise, and pandas, R, DuckDB and polars skip it. A text that a spreadsheet would run as a formula gets ``'`` in
    front, as OWASP advises; numbers are left alone. Hidden characters are spelled out.
    """
    frame = _shared(run.df)
    for name in frame.columns[[_is_text(frame[name]) for name in frame]]:
        frame[name] = frame[name].map(_harmless, na_action="ignore")
    stream = io.StringIO()
    frame.to_csv(stream, index=False, quoting=csv.QUOTE_MINIMAL, lineterminator="\n")
    return stream.getvalue()


def _is_text(column: pd.Series[Any]) -> bool:
    return column.dtype == object or str(column.dtype) in ("str", "string", "category")


def _harmless(text: object) -> object:
    if not isinstance(text, str):
        return text
    shown = visible(text).replace("\n", " ")
    return f"'{shown}" if text.startswith(_FORMULA) else shown


def _shared(frame: pd.DataFrame) -> pd.DataFrame:
    """A copy without paths and addresses: a local model may be asked by its path."""
    return frame.assign(model=frame["model"].map(without_addresses, na_action="ignore"))


def to_parquet(run: Run) -> bytes:
    """``run.df`` with its types, as it is."""
    stream = io.BytesIO()
    _shared(run.df).to_parquet(stream, index=False, compression="zstd")
    return stream.getvalue()


def to_json(run: Run, *, redact: bool = False, lang: str = "en") -> str:
    """What follows from the run: the verdict in words, the scoreboard and each analysis as its ``to_dict``.

    Keys and the analyses' own words are English; ``sentences`` speak ``lang``.
    """
    from speedqual.report.context import gather
    from speedqual.report.sections.verdict import sentences
    from speedqual.report.words import Words

    context = gather(run, Words.load(lang), redact=redact)
    tree = {
        "kind": "report",
        "run": _provenance(context),
        "sentences": list(sentences(context)),
        "scoreboard": _board(context),
        **_told(context, _ANALYSES),
        "load": None if context.load is None else _told(context.load, _LOAD),
    }
    return json.dumps(tree, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _told(analyses: Any, names: Iterable[str]) -> dict[str, Any]:
    found = {name: getattr(analyses, name) for name in names}
    return {name: None if result is None else result.to_dict() for name, result in found.items()}


def _board(context: Context) -> list[dict[str, Any]]:
    from speedqual.analysis.base import records

    return records(context.board)


def _provenance(context: Context) -> dict[str, Any]:
    manifest = context.manifest
    sets = [{key: entry.get(key) for key in ("name", "hash", "n_items")} for entry in manifest["evalsets"]]
    known = ("name", "id", "endpoint", "model", "tier")
    asked = [{key: entry.get(key) for key in known} for entry in manifest["candidates"]]
    for entry in asked:
        entry["model"] = without_addresses(str(entry["model"]))
    facts = {key: manifest[key] for key in ("run", "created", "status", "speedqual", "versions", "machine", "seed")}
    return {**facts, "n_items": context.n_items, "evalsets": sets, "candidates": asked}
