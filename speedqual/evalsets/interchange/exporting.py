"""``export_set``: a loaded set in the form of another tool."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from speedqual.errors import EvalSetError, StorageError, UsageError
from speedqual.evalsets.interchange import eval_yaml, inspect_json, lm_eval, promptfoo
from speedqual.evalsets.interchange.draft import lines, write
from speedqual.evalsets.interchange.ours import draft_of_set
from speedqual.evalsets.interchange.records import to_csv
from speedqual.evalsets.problems import nearest, quoted
from speedqual.records import EvalSet

__all__ = ["EXPORTS", "Exported", "export_set"]


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written, and what the format cannot carry."""

    path: Path
    kind: str
    n_items: int
    lost: tuple[str, ...]


def _hf(evalset: EvalSet, path: Path) -> list[str]:
    write(draft_of_set(evalset), path.name, path.parent)
    return ["the prose of the card"]


def _rows(evalset: EvalSet) -> list[dict[str, Any]]:
    return [{"id": item.id, **{key: value for key, value in item.row.items() if key != "id"}} for item in evalset.items]


def _settings_lost(evalset: EvalSet) -> list[str]:
    lost = ["all settings of the card: prompt, grader, floor, tiers, limits"]
    return lost + (["the examples (few-shot)"] if evalset.fewshot else [])


def _jsonl(evalset: EvalSet, path: Path) -> list[str]:
    path.write_text(lines(_rows(evalset)), encoding="utf-8")
    return _settings_lost(evalset)


def _csv(evalset: EvalSet, path: Path) -> list[str]:
    path.write_text(to_csv(_rows(evalset)), encoding="utf-8")
    return [*_settings_lost(evalset), "the types of cells: numbers, booleans and null become text"]


def _parquet(evalset: EvalSet, path: Path) -> list[str]:
    """Columns of one simple type as such; all others as JSON text, so that no table reader changes a value."""
    import json

    import pyarrow
    import pyarrow.parquet

    rows = _rows(evalset)
    columns = dict.fromkeys(column for row in rows for column in row)
    table: dict[str, list[Any]] = {}
    for column in columns:
        cells = [row.get(column) for row in rows]
        is_simple = len({type(cell) for cell in cells if cell is not None} & {str, bool, int, float}) <= 1 and not any(
            isinstance(cell, (dict, list)) for cell in cells
        )
        table[column] = (
            cells if is_simple else [None if c is None else json.dumps(c, ensure_ascii=False) for c in cells]
        )
    pyarrow.parquet.write_table(pyarrow.table(table), path)
    return [*_settings_lost(evalset), "the types of columns with lists, objects or mixed values: they become JSON text"]


def _into(write_files: Callable[[EvalSet, Path], list[str]]) -> Callable[[EvalSet, Path], list[str]]:
    """For formats of several files: a new folder, taken away again when it can't be filled."""

    def into(evalset: EvalSet, path: Path) -> list[str]:
        path.mkdir(parents=True)
        try:
            return write_files(evalset, path)
        except BaseException:
            shutil.rmtree(path, ignore_errors=True)
            raise

    return into


EXPORTS: dict[str, Callable[[EvalSet, Path], list[str]]] = {
    "hf": _hf,
    "csv": _csv,
    "jsonl": _jsonl,
    "parquet": _parquet,
    "eval-yaml": _into(eval_yaml.export),
    "inspect": _into(inspect_json.export),
    "lm-eval": _into(lm_eval.export),
    "promptfoo": promptfoo.export,
}
"""Kind → its writer. ``csv``, ``jsonl``, ``parquet`` and ``promptfoo`` write one file, the others a folder."""

_SUFFIXES = {"csv": {".csv"}, "jsonl": {".jsonl"}, "parquet": {".parquet"}, "promptfoo": {".yaml", ".yml", ".csv"}}


def export_set(evalset: EvalSet, kind: str, out: str | Path) -> Exported:
    """Write ``evalset`` to ``out``, which must not exist yet."""
    if kind not in EXPORTS:
        near = nearest(kind, EXPORTS)
        raise UsageError(f"unknown kind {kind!r}", fix=f"Write {near}" if near else f"Use one of: {quoted(EXPORTS)}")
    path = Path(out)
    suffixes = _SUFFIXES.get(kind)
    if suffixes and path.suffix not in suffixes:
        raise UsageError(
            f"{kind} is written to one file", where=path.name, fix=f"End --out with {quoted(sorted(suffixes))}"
        )
    if path.exists():
        raise EvalSetError(f"{path.name} is already there", fix="Take another name, or remove it first")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lost = EXPORTS[kind](evalset, path)
    except OSError as fault:
        raise StorageError(f"{path.name} cannot be written ({fault.strerror})", fix="Check --out") from None
    return Exported(path, kind, len(evalset.items), tuple(lost))
