"""Rows of any origin: JSON Lines, JSON, CSV, Parquet, a dataset folder or a hub id. Values become plain JSON."""

from __future__ import annotations

import base64
import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from speedqual.errors import EvalSetError, MissingDependencyError, UnreachableError
from speedqual.evalsets.jsonl import MAX_BYTES
from speedqual.evalsets.jsonl import read as read_lines
from speedqual.evalsets.problems import Findings, quoted

__all__ = ["fetch_lines", "inside", "read_any", "read_dataset", "read_file"]

Row = dict[str, Any]

_SPLITS = ("test", "validation", "dev", "train")
_ASIDE = {"fewshot.jsonl", "dataset_infos.json", "state.json", "dataset_info.json", "schema.json", "field_spec.json"}


def inside(folder: Path, file: str) -> Path:
    """``file`` below ``folder``, symbolic links followed. Raises EvalSetError when it lies outside or is not there."""
    path = (folder / file.removeprefix("file://")).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise EvalSetError(f"{file[:80]} lies outside the folder", where=folder.name, fix="Put a copy into the folder")
    if not path.exists():
        raise EvalSetError(f"there is no file {file[:80]}", where=folder.name, fix="Check the path")
    return path


def read_any(source: str, *, split: str = "", config: str = "", base: Path | None = None) -> list[Row]:
    """The rows of a file, of a folder, or of a data set of the hub. ``base``: the folder that paths must stay in."""
    path = Path(source).expanduser() if base is None else base / source
    if path.exists():
        path = path if base is None else inside(base, source)
        return read_dataset(str(path), split, config) if path.is_dir() else read_file(path)
    if source.count("/") > 1 or path.suffix or source.startswith((".", "/", "~")):
        raise EvalSetError(f"there is no file {source[:80]}", fix="Check the path")
    return read_dataset(source, split, config)


def read_file(path: Path) -> list[Row]:
    """The rows of one file; its suffix says how it is read."""
    readers: dict[str, Callable[[Path], list[Row]]] = {
        ".jsonl": _lines,
        ".ndjson": _lines,
        ".json": _json,
        ".csv": _csv,
        ".tsv": _csv,
        ".parquet": _parquet,
    }
    if path.suffix.lower() not in readers:
        raise EvalSetError(
            f"{path.suffix or 'a file without suffix'} is not read",
            where=path.name,
            fix=f"Use one of: {quoted(readers)}",
        )
    if path.stat().st_size > MAX_BYTES:
        what = f"the file has more than {MAX_BYTES // 2**20} MiB"
        raise EvalSetError(what, where=path.name, fix="Take a sample of its rows")
    rows = readers[path.suffix.lower()](path)
    if not rows:
        raise EvalSetError("the file has no rows", where=path.name, fix="Write one record a line")
    return rows


def _lines(path: Path) -> list[Row]:
    findings = Findings()
    rows = [row.data for row in read_lines(path, path.name, findings)]
    findings.raise_first()
    return rows


def _json(path: Path) -> list[Row]:
    """A list of objects, an object that holds one list of objects, or, all the same, JSON Lines."""
    try:
        value = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return _lines(path)
    if isinstance(value, dict):
        lists = [one for one in value.values() if isinstance(one, list) and one and isinstance(one[0], dict)]
        value = lists[0] if len(lists) == 1 else [value]
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise EvalSetError("the file is not a list of objects", where=path.name, fix='Write [{"input": …}, …]')
    return [_plain_row(one) for one in value]


def _csv(path: Path) -> list[Row]:
    from speedqual.evalsets.tables import read_table

    return [dict(row) for row in read_table(path)]


def _parquet(path: Path) -> list[Row]:
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(path)
    except (pyarrow.ArrowException, OSError) as fault:
        raise EvalSetError(f"the Parquet file cannot be read: {str(fault)[:200]}", where=path.name) from None
    return [_plain_row(row) for row in table.to_pylist()]


def read_dataset(source: str, split: str = "", config: str = "") -> list[Row]:
    """The rows of a folder or hub id. JSON Lines in a folder are read as they are, all else by ``datasets``."""
    folder = Path(source)
    if folder.is_dir() and not config:
        file = _single_file(folder, split)
        if file is not None:
            return read_file(file)
    return _by_datasets(source, split, config)


def fetch_lines(source: str, folder: Path) -> Path | None:
    """Card and JSON Lines of a data set of the hub, downloaded as they are: a table reader would make dates of texts.

    None when it has none, or when it cannot be had; ``datasets`` says then why.
    """
    try:
        from huggingface_hub import HfApi, snapshot_download

        files = HfApi().list_repo_files(source, repo_type="dataset")
        if not any(name.endswith(".jsonl") for name in files):
            return None
        wanted = ["README.md", "*.jsonl", "data/*.jsonl", "schema.json", "eval.yaml"]
        snapshot_download(source, repo_type="dataset", local_dir=folder, allow_patterns=wanted)
    except (ImportError, OSError, ValueError, RuntimeError):
        return None
    return folder


def _single_file(folder: Path, split: str) -> Path | None:
    """The one JSON Lines file of the split: table readers would make dates and numbers of texts in it."""
    for name in [split] if split else _SPLITS:
        for path in (folder / f"{name}.jsonl", folder / "data" / f"{name}.jsonl"):
            if path.is_file():
                return inside(folder, str(path.relative_to(folder)))
    files = [path for path in folder.glob("*.jsonl") if path.name not in _ASIDE]
    others = [path for path in folder.iterdir() if path.suffix in {".parquet", ".csv", ".arrow"}]
    return inside(folder, files[0].name) if len(files) == 1 and not others and not split else None


def _by_datasets(source: str, split: str, config: str) -> list[Row]:
    import tempfile

    try:
        import datasets
    except ImportError:
        raise MissingDependencyError("datasets is not installed", fix="Run pip install datasets") from None
    datasets.disable_progress_bars()
    is_folder = Path(source).is_dir()
    with tempfile.TemporaryDirectory() as cache:
        where = {"cache_dir": cache} if is_folder else {}
        try:
            found = datasets.load_dataset(source, config or None, **where)
        except (OSError, ValueError, RuntimeError) as fault:
            raise _not_read(source, is_folder, fault) from None
        return [_plain_row(row) for row in _of_split(found, split, source)]


def _not_read(source: str, is_folder: bool, fault: Exception) -> Exception:
    text = " ".join(str(fault).split())[:300]
    if is_folder or not isinstance(fault, OSError):
        fix = (
            "Name the configuration with --config" if "onfig" in text else "Check the folder with datasets.load_dataset"
        )
        return EvalSetError(f"datasets cannot read it: {text}", where=Path(source).name, fix=fix)
    return UnreachableError(
        f"the data set {source} cannot be had from the hub: {text}",
        fix="Check the name and the network, or download it and name the folder",
    )


def _of_split(found: Mapping[str, Any], split: str, source: str) -> Iterable[Mapping[str, Any]]:
    name = split or next((one for one in _SPLITS if one in found), next(iter(found)))
    if name not in found:
        fix = f"Use one of: {quoted(found)}"
        raise EvalSetError(f"there is no split {name!r}", where=Path(source).name, fix=fix)
    rows = found[name]
    for column, feature in rows.features.items():
        if hasattr(feature, "decode"):  # pictures and sounds stay bytes: nothing of them is decoded here
            rows = rows.cast_column(column, type(feature)(decode=False))
    iterable: Iterable[Mapping[str, Any]] = rows
    return iterable


def _plain_row(row: Mapping[str, Any]) -> Row:
    return {str(key): _plain(value) for key, value in row.items()}


def _plain(value: Any) -> Any:
    """As JSON has it: dates as ISO text, bytes as base64, what is not finite as null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, Mapping):
        return _plain_row(value)
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def to_csv(rows: list[Row]) -> str:
    """Rows as CSV; lists and objects as JSON in a cell, null as an empty one."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(columns)
    writer.writerows([_cell(row.get(column)) for column in columns] for row in rows)
    return out.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
