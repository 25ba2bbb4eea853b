"""lm-evaluation-harness: one task in YAML of the ``generate_until`` kind, whose fields are plain Jinja.

Whatever names Python (``!function``, ``process_docs``, ``class``, a ``.py`` path) is refused: it would have to be run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from speedqual.errors import EvalSetError, RefusedError
from speedqual.evalsets.interchange.draft import Draft, lines
from speedqual.evalsets.interchange.jinja import plain_prompt, render
from speedqual.evalsets.interchange.mapping import answered
from speedqual.evalsets.interchange.ours import added_columns, draft_back, extra, with_texts
from speedqual.evalsets.interchange.records import inside, read_any
from speedqual.evalsets.interchange.safeyaml import read_yaml
from speedqual.evalsets.template import show
from speedqual.evalsets.yamltext import dump
from speedqual.records import EvalSet

__all__ = ["export", "read"]

Row = dict[str, Any]

_CODE_KEYS = ("class", "process_docs", "process_results", "custom_dataset", "unsafe_code")
_FORMATS = {"json", "csv", "parquet"}
_SHOTS_MAX = 64
_QUIET = frozenset(
    """task task_alias tag group output_type dataset_path dataset_name dataset_kwargs test_split validation_split
    training_split fewshot_split doc_to_text doc_to_target description num_fewshot generation_kwargs metadata include
    target_delimiter fewshot_delimiter should_decontaminate doc_to_decontamination_query repeats metric_list
    filter_list""".split()  # noqa: SIM905
)


def read(path: Path) -> Draft:
    """The draft of one task file. Raises RefusedError for what names code or compares likelihoods."""
    task = _whole(path, 0)
    where = path.name
    _check(task, where)
    docs, shots = _docs(task, path.parent, where)
    metadata = task.get("metadata")
    if isinstance(metadata, dict) and isinstance(metadata.get("speedqual"), dict):
        return draft_back(metadata["speedqual"], docs, shots, where)
    draft = Draft([], {}, about=f"{len(docs)} items of the task {task.get('task') or path.stem}.")
    draft.settings = _settings(task, {column for row in docs for column in row}, where)
    for rows, out in ((docs, draft.rows), (shots, draft.fewshot)):
        out += [_row(doc, task, draft.settings, f"{where}, doc {n}") for n, doc in enumerate(rows)]
    _settle_grader(draft)
    _take_limits(task, draft)
    _tell(task, draft)
    return draft


def _whole(path: Path, depth: int) -> dict[str, Any]:
    """The file with what it includes, which must lie in its folder or below."""
    task = read_yaml(path)
    if not isinstance(task, dict):
        raise EvalSetError("the file is no task", where=path.name, fix="Write task: NAME, doc_to_text: …")
    included = task.pop("include", None)
    if not included:
        return task
    if depth > 5:
        raise EvalSetError("files include each other without end", where=path.name, fix="Write one file")
    base: dict[str, Any] = {}
    for name in included if isinstance(included, list) else [included]:
        base |= _whole(inside(path.parent, str(name)), depth + 1)
    return base | task


def _check(task: Mapping[str, Any], where: str) -> None:
    for key in _CODE_KEYS:
        if task.get(key):
            fix = "Apply it once, save the rows as JSON Lines, and import those"
            raise RefusedError(f"{key} names Python code, and no code of other tools is run", where=where, fix=fix)
    if isinstance(task.get("task"), list) or "task_list" in task:
        raise RefusedError("this is a group of tasks", where=where, fix="Import the task files it lists, one by one")
    kind = task.get("output_type", "generate_until")
    if kind != "generate_until":
        what = f"output_type {kind} compares likelihoods; an endpoint that streams text gives none"
        raise RefusedError(what, where=where, fix="Use the task's generate_until variant")
    for key in ("doc_to_text", "doc_to_target"):
        if not isinstance(task.get(key), (str, int)) or isinstance(task.get(key), bool):
            raise EvalSetError(f"{key} is missing or not text", where=where, fix="Write a Jinja text or a column")


def _docs(task: Mapping[str, Any], folder: Path, where: str) -> tuple[list[Row], list[Row]]:
    split = str(task.get("test_split") or task.get("validation_split") or task.get("training_split") or "")
    docs = _split(task, split, folder, where)
    n_shots = task.get("num_fewshot") or 0
    shots_split = str(task.get("fewshot_split") or task.get("training_split") or "")
    if not shots_split or shots_split == split:
        return docs, []
    if not n_shots and not (isinstance(task.get("metadata"), dict) and "speedqual" in task["metadata"]):
        return docs, []
    return docs, _split(task, shots_split, folder, where)[:_SHOTS_MAX]


def _split(task: Mapping[str, Any], split: str, folder: Path, where: str) -> list[Row]:
    path, kwargs = str(task.get("dataset_path") or ""), task.get("dataset_kwargs") or {}
    if not path:
        raise EvalSetError("there is no dataset_path", where=where, fix="Name a dataset, or json with data_files")
    if path.endswith(".py"):
        raise RefusedError("dataset_path names Python code", where=where, fix="Save the rows as JSON Lines")
    if path not in _FORMATS:
        base = folder if (folder / path).exists() else None
        if base is None and path.startswith((".", "/", "~")):
            inside(folder, path)
        return read_any(path, split=split, config=str(task.get("dataset_name") or ""), base=base)
    files = kwargs.get("data_files") if isinstance(kwargs, dict) else None
    file = files.get(split) or next(iter(files.values()), None) if isinstance(files, dict) else files
    if isinstance(file, list):
        file = file[0] if len(file) == 1 else None
    if not isinstance(file, str):
        raise EvalSetError("data_files names no single file", where=where, fix="Write data_files: {test: FILE.jsonl}")
    return read_any(file, base=folder)


def _settings(task: Mapping[str, Any], columns: set[str], where: str) -> dict[str, Any]:
    template = str(task["doc_to_text"])
    prompt = f"{{{template}}}" if template in columns else plain_prompt(template, columns)
    settings: dict[str, Any] = {"prompt": prompt or "{prompt}"}
    if isinstance(task.get("description"), str) and task["description"].strip():
        settings["system"] = task["description"].strip()
    version = (task.get("metadata") or {}).get("version") if isinstance(task.get("metadata"), dict) else None
    return settings | ({"version": str(version)} if version is not None else {})


def _row(doc: Row, task: Mapping[str, Any], settings: dict[str, Any], where: str) -> Row:
    """The doc with its target, and with the filled prompt where that is more than columns."""
    row = dict(doc)
    if settings["prompt"] == "{prompt}" and str(task["doc_to_text"]) != "prompt":
        row["prompt"] = render(str(task["doc_to_text"]), doc, f"{where}, doc_to_text")
    target = task["doc_to_target"]
    value = doc[target] if target in doc else render(str(target), doc, f"{where}, doc_to_target")
    if isinstance(value, str):
        value = value.strip()
    row.pop("tests", None)
    return row | answered(value if value != "" else None, [], where)


def _settle_grader(draft: Draft) -> None:
    values = [row["target"].get("answer") for row in draft.rows]
    is_number = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)
    if not is_number:
        for row in (*draft.rows, *draft.fewshot):
            if "answer" in row["target"]:
                row["target"] = {"answer": show(row["target"]["answer"])}
    is_exact = all(set(row["target"]) == {"answer"} for row in draft.rows)
    grader = {"name": "exact", "type": "number" if is_number else "string"} if is_exact else {"name": "extraction"}
    draft.settings |= {"task": grader["name"], "grader": grader}


def _take_limits(task: Mapping[str, Any], draft: Draft) -> None:
    kwargs = dict(task.get("generation_kwargs") or {})
    until = kwargs.pop("until", None)
    stops = [until] if isinstance(until, str) else [str(one) for one in until or () if str(one)]
    if stops:
        draft.settings["stop"] = stops
    limit = kwargs.pop("max_gen_toks", kwargs.pop("max_new_tokens", None))
    if isinstance(limit, int) and limit > 0:
        draft.settings["max_tokens"] = limit
    if kwargs:
        draft.lose(f"generation_kwargs {', '.join(kwargs)}: sampling belongs to the candidate (params)")
    if isinstance(task.get("num_fewshot"), int) and draft.fewshot:
        draft.settings["fewshot"] = {"split": "fewshot", "n": min(task["num_fewshot"], len(draft.fewshot))}
    elif task.get("num_fewshot"):
        draft.lose("num_fewshot: there is no other split to take examples from")


def _tell(task: Mapping[str, Any], draft: Draft) -> None:
    metrics = [str(one.get("metric")) for one in task.get("metric_list") or () if isinstance(one, dict)]
    if metrics:
        name = draft.settings["grader"]["name"]
        draft.lose(f"metric_list ({', '.join(metrics)}): our grader {name} judges instead")
    if task.get("filter_list"):
        draft.lose("filter_list: our grader finds the answer in the reply by its own rules")
    for key in sorted(set(task) - _QUIET):
        draft.lose(f"the key {key}")


def export(evalset: EvalSet, folder: Path) -> list[str]:
    """Write ``NAME.yaml`` and its rows. Returns what lm-eval will not know of."""
    name = re.sub(r"[^\w-]+", "_", evalset.name)
    asked, expected = added_columns(evalset)
    files = {"test": f"{name}.jsonl"}
    (folder / files["test"]).write_text(lines(with_texts(evalset, evalset.items)), encoding="utf-8")
    if evalset.fewshot:
        files["fewshot"] = f"{name}.fewshot.jsonl"
        (folder / files["fewshot"]).write_text(lines(with_texts(evalset, evalset.fewshot)), encoding="utf-8")
    task: dict[str, Any] = {
        "task": name,
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": files},
        "test_split": "test",
        "output_type": "generate_until",
        "description": f"{evalset.system}\n\n" if evalset.system else "",
        "doc_to_text": f"{{{{{asked}}}}}",
        "doc_to_target": f"{{{{{expected}}}}}",
        "generation_kwargs": _limits(evalset),
        "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
        "metadata": {"version": evalset.version or "0", "speedqual": extra(evalset, [asked, expected])},
    }
    if evalset.fewshot:
        task |= {"fewshot_split": "fewshot", "num_fewshot": evalset.shots}
    (folder / f"{name}.yaml").write_text(dump(json.loads(json.dumps(task))), encoding="utf-8")
    return [f"for lm-eval: the grader {evalset.grader.name} with its options (exact_match compares texts)"]


def _limits(evalset: EvalSet) -> dict[str, Any]:
    limits: dict[str, Any] = {"until": list(evalset.stop) or ["</s>"], "do_sample": False}
    return limits | ({"max_gen_toks": evalset.max_tokens} if evalset.max_tokens else {})
