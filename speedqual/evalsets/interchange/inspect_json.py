"""Inspect: a JSON dataset of samples ``{id, input, target, choices, metadata}``, and the FieldSpec that maps columns.

A folder may hold the mapping as ``field_spec.json`` beside ``dataset.jsonl``; for a lone file ``--field`` gives it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from speedqual.errors import EvalSetError
from speedqual.evalsets.interchange.draft import Draft, lines
from speedqual.evalsets.interchange.mapping import Fields, by_fields, fields_from
from speedqual.evalsets.interchange.ours import draft_back, extra, flat_prompt
from speedqual.evalsets.interchange.records import inside, read_file
from speedqual.evalsets.interchange.safeyaml import read_yaml
from speedqual.evalsets.prompts import build_prompt, reference
from speedqual.records import Candidate, EvalSet, Item

__all__ = ["SPEC", "export", "is_one", "read"]

SPEC = "field_spec.json"
_DATA = ("dataset.jsonl", "dataset.json")
_PROGRAMS = ("sandbox", "files", "setup")


def is_one(path: Path) -> bool:
    """Whether the file looks like samples: ``input`` and ``target`` in the first record, and none of our columns."""
    try:
        first = read_file(path)[0]
    except EvalSetError:
        return False
    return (
        {"input", "target"} <= set(first)
        and isinstance(first["target"], (str, list))
        and "id" not in {key for key in first if key in {"tests", "facts"}}
    )


def read(path: Path, mapping: Mapping[str, str]) -> Draft:
    """The draft of a dataset file, or of a folder with its FieldSpec."""
    spec: dict[str, Any] = {}
    folder = path if path.is_dir() else path.parent
    if path.is_dir():
        spec = _spec(path)
        name = next((name for name in _DATA if (path / name).is_file()), _DATA[0])
        path = inside(folder, name)
    records = read_file(path)
    if isinstance(spec.get("speedqual"), dict):
        shots = [_metadata(one) for one in read_file(folder / "fewshot.jsonl")] if _has_shots(folder) else []
        return draft_back(spec["speedqual"], [_metadata(one) for one in records], shots, path.name)
    lost: list[str] = []
    found = _fields(records, spec | dict(mapping), path.name, lost)
    draft = by_fields([_flat(one, lost) for one in records], found, path.name)
    for what in lost:
        draft.lose(what)
    draft.lose("the scorer, which is in the task's Python code: right answers are compared by our grader exact")
    return draft


def _spec(folder: Path) -> dict[str, Any]:
    spec = read_yaml(inside(folder, SPEC))
    if not isinstance(spec, dict):
        raise EvalSetError("the field spec is not a table", where=SPEC, fix='Write {"input": …, "target": …}')
    return spec


def _has_shots(folder: Path) -> bool:
    return (folder / "fewshot.jsonl").is_file()


def _fields(records: list[dict[str, Any]], spec: dict[str, Any], where: str, lost: list[str]) -> Fields:
    usual = {"choices": "choices"} if any(one.get("choices") for one in records) else {}
    known = {key: value for key, value in spec.items() if key not in ("metadata", *_PROGRAMS)}
    return fields_from(usual | known, where, lost)


def _flat(record: dict[str, Any], lost: list[str]) -> dict[str, Any]:
    """A sample with its metadata as columns; files and set-up of a sandbox stay behind."""
    row = {key: value for key, value in record.items() if key not in ("metadata", *_PROGRAMS)}
    for name in _PROGRAMS:
        if record.get(name) and f"{name} of the samples" not in lost:
            lost.append(f"{name} of the samples")
    metadata = record.get("metadata")
    return (metadata if isinstance(metadata, dict) else {}) | row


def _metadata(record: dict[str, Any]) -> dict[str, Any]:
    metadata = record.get("metadata")
    return dict(metadata) if isinstance(metadata, dict) else {}


def export(evalset: EvalSet, folder: Path) -> list[str]:
    """Write ``dataset.jsonl`` and ``field_spec.json``. Returns what Inspect will not know of."""
    (folder / "dataset.jsonl").write_text(lines(_sample(evalset, item) for item in evalset.items), encoding="utf-8")
    if evalset.fewshot:
        shots = lines(_sample(evalset, item) for item in evalset.fewshot)
        (folder / "fewshot.jsonl").write_text(shots, encoding="utf-8")
    spec = {"id": "id", "input": "input", "target": "target", "speedqual": extra(evalset, [])}
    (folder / SPEC).write_text(json.dumps(spec, ensure_ascii=False, indent=1), encoding="utf-8")
    lost = [f"for Inspect: the grader {evalset.grader.name} with its options; name a scorer in the task"]
    return lost + (["for Inspect: examples (few-shot) in the prompt"] if evalset.fewshot else [])


def _sample(evalset: EvalSet, item: Item) -> dict[str, Any]:
    prompt = build_prompt(evalset, item, Candidate(name="export", shots=0))
    turns = [{"role": turn.role, "content": turn.content} for turn in prompt.messages]
    asked: Any = flat_prompt(evalset, item) if len(turns) == 1 else turns
    return {
        "id": item.id,
        "input": asked,
        "target": reference(evalset, item),
        "metadata": {**item.row, "id": item.id},
    }
