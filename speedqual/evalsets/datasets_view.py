"""Compare our reading of a folder with that of ``datasets.load_dataset``, row by row.

``datasets`` is imported here alone, when the comparison is made: into a cache folder of its own, offline, silently.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from speedqual.evalsets.jsonl import Row
from speedqual.evalsets.problems import Findings
from speedqual.evalsets.sources import Source

__all__ = ["compare"]

_ERROR_CHARS_MAX = 300


def compare(source: Source, rows: Mapping[str, list[Row]], findings: Findings) -> None:
    """Note where ``load_dataset(folder)`` gives other rows. ``rows``: split → rows as we read them."""
    where = source.where("test.jsonl")
    try:
        views = _load(source)
    except Exception as fault:  # whatever the library raises is the finding
        fix = "Declare every column in dataset_info.features, and keep the rows free of a BOM and of empty lines"
        findings.error(where, f"datasets.load_dataset fails: {_reason(fault, source)}", fix)
        return
    if "test" not in views:
        fix = "Add configs: [{config_name: default, data_files: [{split: test, path: test.jsonl}]}]"
        findings.error(where, f"datasets.load_dataset finds no split test, only {', '.join(views)}", fix)
    for split in rows.keys() & views.keys():
        _compare_split(source.where(f"{split}.jsonl"), rows[split], views[split], findings)


def _load(source: Source) -> dict[str, list[dict[str, Any]]]:
    with _offline(), tempfile.TemporaryDirectory(prefix="speedqual-") as cache:
        import datasets

        was_disabled = datasets.are_progress_bars_disabled()
        datasets.disable_progress_bars()
        try:
            loaded = datasets.load_dataset(str(source.folder.resolve()), cache_dir=cache)
            return {str(split): list(rows) for split, rows in loaded.items()}
        finally:
            if not was_disabled:
                datasets.enable_progress_bars()


@contextmanager
def _offline() -> Iterator[None]:
    """Nothing is looked up on the network here; what the rest of the process may look up stays as it was."""
    import datasets
    from huggingface_hub import constants

    places: tuple[Any, ...] = (constants, datasets.config)
    before = [place.HF_HUB_OFFLINE for place in places]
    for place in places:
        place.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        for place, value in zip(places, before, strict=True):
            place.HF_HUB_OFFLINE = value


def _reason(fault: BaseException, source: Source) -> str:
    """The innermost cause in one line, without absolute paths."""
    while fault.__cause__ is not None:
        fault = fault.__cause__
    text = " ".join(str(fault).replace(str(source.folder.resolve()), source.name).split())
    return f"{type(fault).__name__}: {text}"[:_ERROR_CHARS_MAX]


def _compare_split(where: str, rows: list[Row], view: list[dict[str, Any]], findings: Findings) -> None:
    if len(rows) != len(view):
        what = f"datasets.load_dataset gives {len(view)} rows, the file has {len(rows)}"
        findings.error(where, what, "Remove empty lines and keep one object a line")
        return
    first: dict[str, tuple[int, str]] = {}
    counts: dict[str, int] = {}
    for row, theirs in zip(rows, view, strict=True):
        for field, ours, other in _differences(row.data, theirs):
            first.setdefault(field, (row.line, f"{_shown(ours)} becomes {_shown(other)}"))
            counts[field] = counts.get(field, 0) + 1
    for field, (line, what) in first.items():
        more = f" (and in {counts[field] - 1} more places)" if counts[field] > 1 else ""
        column = field.partition(".")[0]
        dtype = "json" if "." in field or "[" in field else "string"
        fix = f"Declare {{name: {column}, dtype: {dtype}}} in dataset_info.features"
        findings.error(f"{where}:{line}", f"{field}: in datasets {what}{more}", fix)


def _differences(ours: dict[str, Any], theirs: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """(field, ours, theirs) for each part that differs; a column that a row lacks is null in a table."""
    for column in sorted(ours.keys() | theirs.keys()):
        one, other = ours.get(column), theirs.get(column)
        if column == "id" and isinstance(one, int):
            one, other = str(one), str(other)  # a bare number is the same id as its text
        yield from _parts(column, one, other)


def _parts(field: str, ours: Any, theirs: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(ours, dict) and isinstance(theirs, dict) and ours.keys() == theirs.keys():
        for key in ours:
            yield from _parts(f"{field}.{key}", ours[key], theirs[key])
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for one, other in zip(ours, theirs, strict=True):
            yield from _parts(f"{field}[]", one, other)
    elif type(ours) is not type(theirs) or ours != theirs:
        yield field, ours, theirs


def _shown(value: Any) -> str:
    text = value.isoformat(" ") if hasattr(value, "isoformat") else repr(value)
    kind = "" if value is None else f" ({type(value).__name__})"
    return (text if len(text) <= 60 else f"{text[:57]}...") + kind
