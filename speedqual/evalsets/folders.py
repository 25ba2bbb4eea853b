"""Will other readers of the folder see the same set? What is checked without reading the rows with them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from speedqual.evalsets.card import Card
from speedqual.evalsets.problems import Findings, nearest, quoted
from speedqual.evalsets.sources import Source
from speedqual.records import EvalSet

__all__ = ["check_folder"]

_OTHER_DATA = {".csv", ".tsv", ".parquet", ".arrow", ".txt", ".xml", ".ndjson", ".json", ".zip", ".gz", ".zst"}
_FILES = ("README.md", "test.jsonl", "fewshot.jsonl", "grader.py", "schema.json")


def check_folder(source: Source, card: Card, evalset: EvalSet, findings: Findings) -> None:
    """Note files that change what ``datasets.load_dataset(folder)`` gives, slips in ``configs`` and features."""
    names = sorted(path.name for path in source.folder.iterdir() if not path.name.startswith("."))
    _check_files(source, names, card, evalset, findings)
    if "README.md" not in names:
        fix = "Write a README.md; `speedqual evalset new NAME` makes one to start from"
        findings.warn(source.where("README.md"), "there is no card, so that all settings are guessed", fix)
        return
    if not card.top:
        return  # the header cannot be read, which is said already; what it declares is not known
    _check_configs(source, card, findings)
    _check_features(source, card, evalset, findings)
    if not card.licence:
        findings.warn(card.header.at("license"), "the card names no licence", "Add `license: cc-by-4.0` or another")


def _check_files(source: Source, names: list[str], card: Card, evalset: EvalSet, findings: Findings) -> None:
    if set(str(source.folder.resolve())) & set("*?[]"):
        what = "dataset readers take * ? [ ] in the path of a folder for a pattern"
        findings.error(source.name, what, "Rename the folder")
    script = f"{source.name}.py"
    if script in names:
        fix = "Rename it to grader.py, or remove it"
        findings.error(source.where(script), "dataset readers refuse a folder with a script of its own name", fix)
    others = [name for name in names if PurePosixPath(name).suffix in _OTHER_DATA and name not in _FILES]
    if others:
        what = f"data files of another format stand beside test.jsonl: {quoted(others)}"
        findings.error(source.where(others[0]), what, "Move them out of the folder")
    if "grader.py" in names and not evalset.grader.name.startswith("file:"):
        what = f"grader.py is not used, because the card names the grader {evalset.grader.name}"
        findings.warn(source.where("grader.py"), what, "Write grader: file:grader.py, or remove the file")
    known = {*_FILES, f"{card.fewshot.split}.jsonl"}
    for name in names:
        near = nearest(name, _FILES)
        if name not in known and near and near not in names:
            findings.warn(source.where(name), "the file is not read", f"Rename it to {near}")


def _check_configs(source: Source, card: Card, findings: Findings) -> None:
    """Paths in ``configs`` stay inside the folder, and the test split is the file that we read."""
    configs = card.top.get("configs")
    if not isinstance(configs, list):
        fix = "Add configs: [{config_name: default, data_files: [{split: test, path: test.jsonl}]}]"
        findings.warn(card.header.at("configs"), "the card does not say which file is which split", fix)
        return
    for path, place in _data_files(configs):
        at = card.header.at("configs", *place)
        if "://" in path or source.inside(path) is None:
            findings.error(at, f"the data file {path!r} lies outside the folder", "Put a copy into the folder")
        elif not any(character in path for character in "*?[") and not (source.folder / path).is_file():
            findings.error(at, f"there is no data file {path!r}", "Correct the path")
    tests = [path for path, place in _data_files(configs) if _split(configs, place) == "test"]
    if tests and "test.jsonl" not in tests:
        what = f"the split test is {quoted(tests)}, and speedqual reads test.jsonl"
        findings.error(card.header.at("configs"), what, "Name the file test.jsonl")


def _data_files(configs: list[Any]) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    """Each path under ``configs[*].data_files``, in any of the forms that dataset readers take, with its place."""
    for number, config in enumerate(configs):
        files = config.get("data_files") if isinstance(config, dict) else None
        yield from _paths(files, (number, "data_files"))


def _paths(value: Any, place: tuple[str | int, ...]) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    if isinstance(value, str):
        yield value, place
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from _paths(one, (*place, index))
    elif isinstance(value, dict):
        for key, one in value.items():
            if key != "split":
                yield from _paths(one, (*place, key))


def _split(configs: list[Any], place: tuple[str | int, ...]) -> str:
    """The split that the path at ``place`` belongs to; empty when the form does not say."""
    value: Any = configs
    for step in place:
        if isinstance(value, dict) and "split" in value:
            return str(value["split"])
        value = value[step]
    return str(place[2]) if len(place) > 2 and isinstance(place[2], str) else ""


def _check_features(source: Source, card: Card, evalset: EvalSet, findings: Findings) -> None:
    """``dataset_info.features`` names every column, with ``dtype: json`` for all that is no plain value."""
    declared = _declared(card.top.get("dataset_info"))
    columns = {column: value for item in evalset.items for column, value in item.row.items() if value is not None}
    nested = {column for item in evalset.items for column, value in item.row.items() if isinstance(value, (dict, list))}
    if declared is None:
        types = {column: _dtype(value, column in nested) for column, value in columns.items()}
        listed = ", ".join(f"{{name: {column}, dtype: {dtype}}}" for column, dtype in types.items())
        what = "the card does not declare the columns, so that dataset readers guess their types"
        findings.warn(card.header.at("dataset_info"), what, f"Add dataset_info: {{features: [{listed}]}}")
        return
    for column, value in columns.items():
        if column not in declared:
            at, dtype = card.header.at("dataset_info", "features"), _dtype(value, column in nested)
            what = f"the column {column!r} is not declared in dataset_info.features"
            findings.error(at, what, f"Add {{name: {column}, dtype: {dtype}}}")
    for column in sorted(nested):
        dtype, index = declared.get(column, ("json", 0))
        if dtype != "json":
            at = card.header.at("dataset_info", "features", index)
            what = f"the column {column!r} is declared {dtype}, and dataset readers would fill or change its parts"
            findings.error(at, what, f"Write {{name: {column}, dtype: json}}")


def _declared(info: Any) -> dict[str, tuple[str, int]] | None:
    """Column → (dtype, its index); None when there is no list of features."""
    if isinstance(info, list) and info:
        info = info[0]
    features = info.get("features") if isinstance(info, dict) else None
    if not isinstance(features, list):
        return None
    rows = [(index, feature) for index, feature in enumerate(features) if isinstance(feature, dict)]
    return {str(feature.get("name")): (_written(feature), index) for index, feature in rows}


def _written(feature: dict[str, Any]) -> str:
    dtype = feature.get("dtype")
    if isinstance(dtype, str):
        return dtype
    return next((key for key in ("struct", "list", "sequence", "dtype") if key in feature), "nothing")


def _dtype(value: Any, nested: bool) -> str:
    if nested:
        return "json"
    return {bool: "bool", int: "int64", float: "float64"}.get(type(value), "string")
