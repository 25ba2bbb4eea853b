"""``eval.yaml``, which makes a dataset repository of the hub a benchmark: which columns are asked, how, and scored.

Read is the kind that Inspect runs: ``tasks: [{id, config, split, field_spec, solvers, scorers, epochs}]``. A task whose
solvers or scorers are programs of their own comes with its rows; what those programs do is noted as lost.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from speedqual.errors import EvalSetError, UsageError
from speedqual.evalsets.interchange.draft import Draft, lines
from speedqual.evalsets.interchange.mapping import by_fields, fields_from
from speedqual.evalsets.interchange.ours import added_columns, draft_back, extra, with_texts
from speedqual.evalsets.interchange.records import inside, read_dataset, read_file
from speedqual.evalsets.interchange.safeyaml import read_yaml
from speedqual.evalsets.problems import quoted
from speedqual.evalsets.yamltext import dump
from speedqual.records import EvalSet

__all__ = ["export", "read"]

_SCORERS = {"match", "includes", "exact", "choice", "pattern", "answer", "math"}
_SEED = 0
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def read(path: Path, *, task: str = "", split: str = "") -> Draft:
    """The draft of one task of the file at ``path``, or of the ``eval.yaml`` in that folder."""
    file = path / "eval.yaml" if path.is_dir() else path
    head = read_yaml(file)
    tasks = head.get("tasks") if isinstance(head, dict) else None
    if not isinstance(tasks, list) or not tasks or not all(isinstance(one, dict) for one in tasks):
        raise EvalSetError("there is no list of tasks", where=file.name, fix="Write tasks: [{id: …, field_spec: …}]")
    chosen = _chosen(tasks, task, file.name)
    split = split or str(chosen.get("split") or "test")
    rows = read_dataset(str(file.parent), split, str(chosen.get("config") or "").replace("default", ""))
    if isinstance(head.get("speedqual"), dict):
        shots = read_file(inside(file.parent, "fewshot.jsonl")) if (file.parent / "fewshot.jsonl").is_file() else []
        return draft_back(head["speedqual"], rows, shots, file.name)
    draft = _mapped(rows, chosen, file.name)
    for other in tasks:
        if other is not chosen:
            draft.lose(f"the task {other.get('id')}: import it with --task")
    draft.about = f"{head.get('name') or file.parent.name}. {head.get('description') or ''}"
    return draft


def _chosen(tasks: list[dict[str, Any]], wanted: str, where: str) -> dict[str, Any]:
    for one in tasks:
        if not wanted or one.get("id") == wanted:
            return one
    known = quoted(str(one.get("id")) for one in tasks)
    raise UsageError(f"there is no task {wanted!r}", where=where, fix=f"Use one of: {known}")


def _mapped(rows: list[dict[str, Any]], task: Mapping[str, Any], where: str) -> Draft:
    spec = task.get("field_spec")
    if not isinstance(spec, dict):
        fix = "Import the dataset itself: --from hf with --field input=COLUMN --field target=COLUMN"
        raise EvalSetError("the task has no field_spec", where=where, fix=fix)
    lost: list[str] = []
    spec = {key: value for key, value in spec.items() if key != "metadata"}
    rows, spec = _gathered(rows, spec, bool(task.get("shuffle_choices")))
    draft = by_fields(rows, fields_from(spec, where, lost), where)
    for what in lost:
        draft.lose(what)
    _take_solvers(task, draft)
    _take_scorers(task, draft)
    if isinstance(task.get("epochs"), int) and task["epochs"] > 1:
        draft.settings["repeats"] = task["epochs"]
    return draft


def _gathered(
    rows: list[dict[str, Any]], spec: dict[str, Any], shuffle: bool
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """``choices`` as a list of columns and ``target: literal:A`` as two columns of their own.

    Where the file has the choices shuffled, they are, by a seed: the right one would otherwise always stand first.
    """
    columns, target = spec.get("choices"), str(spec.get("target") or "")
    if not isinstance(columns, list):
        return rows, spec
    letter = target.removeprefix("literal:") if target.startswith("literal:") else ""
    rng = random.Random(_SEED)
    gathered = []
    for row in rows:
        texts = [row.get(str(column)) for column in columns]
        at = _LETTERS.find(letter) if letter else -1
        right = texts[at] if 0 <= at < len(texts) else row.get(target)
        if shuffle:
            rng.shuffle(texts)
        gathered.append(row | {"choices": texts, "right_choice": right})
    return gathered, spec | {"choices": "choices", "target": "right_choice"}


def _take_solvers(task: Mapping[str, Any], draft: Draft) -> None:
    for solver in task.get("solvers") or ():
        name, args = str(solver.get("name")), solver.get("args") or {}
        template = args.get("template") if isinstance(args, dict) else None
        if name == "system_message" and isinstance(template, str):
            draft.settings["system"] = template
        elif name == "prompt_template" and isinstance(template, str) and "{prompt}" in template:
            asked = re.search(r"\{(\w+)\}", str(draft.settings.get("prompt", "")))
            slot = asked[0] if asked else "{input}"
            draft.settings["prompt"] = template.replace("{{", "{").replace("}}", "}").replace("{prompt}", slot)
        elif name not in {"generate", "multiple_choice"}:
            draft.lose(f"the solver {name}")


def _take_scorers(task: Mapping[str, Any], draft: Draft) -> None:
    for scorer in task.get("scorers") or ():
        name = str(scorer.get("name"))
        if name in _SCORERS:
            draft.lose(f"the scorer {name} as it is: our grader {draft.settings['grader']['name']} judges instead")
        else:
            draft.lose(f"the scorer {name}: the right answers are compared instead of judged by a model or program")


def export(evalset: EvalSet, folder: Path) -> list[str]:
    """Write a dataset folder with ``eval.yaml``. Returns what Inspect will not know of."""
    asked, expected = added_columns(evalset)
    (folder / "test.jsonl").write_text(lines(with_texts(evalset, evalset.items)), encoding="utf-8")
    files = [{"split": "test", "path": "test.jsonl"}]
    if evalset.fewshot:
        (folder / "fewshot.jsonl").write_text(lines(with_texts(evalset, evalset.fewshot)), encoding="utf-8")
        files.append({"split": "fewshot", "path": "fewshot.jsonl"})
    card = {"license": evalset.licence or "other", "configs": [{"config_name": "default", "data_files": files}]}
    (folder / "README.md").write_text(f"---\n{dump(card)}---\n\n# {evalset.name}\n", encoding="utf-8")
    solvers: list[dict[str, Any]] = [{"name": "generate"}]
    if evalset.system:
        solvers.insert(0, {"name": "system_message", "args": {"template": evalset.system}})
    scorer = "match" if evalset.grader.name == "exact" else "includes"
    task = {
        "id": re.sub(r"\W+", "_", evalset.name),
        "config": "default",
        "split": "test",
        "field_spec": {"input": asked, "target": expected},
        "solvers": solvers,
        "scorers": [{"name": scorer}],
    }
    head = {
        "name": evalset.name,
        "description": f"{len(evalset.items)} items, task {evalset.task}.",
        "evaluation_framework": "inspect-ai",
        "tasks": [task],
        "speedqual": extra(evalset, [asked, expected]),
    }
    (folder / "eval.yaml").write_text(dump(head), encoding="utf-8")
    return [f"for Inspect: the grader {evalset.grader.name} (its scorer `{scorer}` compares texts)"]
