"""promptfoo: tests in YAML or CSV with literal assertions, which our grader ``assertions`` judges.

Assertions that call a model or run code (``llm-rubric``, ``javascript``, ``python``, ``similar`` …) stay behind, and a
test that has no other is left out; both are listed. Of several prompts the first is taken.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from speedqual.errors import EvalSetError
from speedqual.evalsets.interchange.assertions import assertion_of, from_cell, to_cell
from speedqual.evalsets.interchange.draft import Draft
from speedqual.evalsets.interchange.jinja import plain_prompt, render
from speedqual.evalsets.interchange.ours import draft_back, extra, flat_prompt
from speedqual.evalsets.interchange.records import inside, read_file, to_csv
from speedqual.evalsets.interchange.safeyaml import read_yaml
from speedqual.evalsets.prompts import build_prompt
from speedqual.evalsets.yamltext import dump
from speedqual.records import Candidate, EvalSet, Item

__all__ = ["export", "read"]

Row = dict[str, Any]

_SPECIAL = re.compile(r"__(expected\d*|description|metric|threshold|prefix|suffix|metadata.*|config.*|provider.*)$")


def read(path: Path) -> Draft:
    """The draft of a config file, a list of tests, or a CSV file of tests."""
    config: Any = {"tests": [f"file://{path.name}"]} if path.suffix in {".csv", ".tsv"} else read_yaml(path)
    if isinstance(config, list):
        config = {"tests": config}
    if not isinstance(config, dict):
        raise EvalSetError("the file holds no tests", where=path.name, fix="Write tests: [{vars: …, assert: […]}]")
    default = _table(config.get("defaultTest"))
    tests = list(_tests(config.get("tests"), path.parent, path.name))
    back = (default.get("metadata") or {}).get("speedqual")
    if isinstance(back, dict) and all("row" in (test.get("metadata") or {}) for test in tests):
        return draft_back(back, [dict(test["metadata"]["row"]) for test in tests], [], path.name)
    draft = Draft([], {"task": "assertions", "grader": {"name": "assertions"}})
    for number, test in enumerate(tests, 1):
        row = _row(test, default, f"{path.name}, test {number}", draft)
        if row is not None:
            draft.rows.append(row)
    if not draft.rows:
        raise EvalSetError("no test has a literal assertion", where=path.name, fix="Add equals, contains or is-json")
    _take_prompt(config, path, draft)
    for key in sorted(set(config) - {"tests", "prompts", "defaultTest", "description", "providers", "targets"}):
        draft.lose(f"the key {key}")
    draft.about = f"{config.get('description') or ''} {len(draft.rows)} tests from {path.name}."
    return draft


def _tests(value: Any, folder: Path, where: str) -> Iterator[Mapping[str, Any]]:
    """Tests written out, or in files of the same folder."""
    for test in value if isinstance(value, list) else [value]:
        if isinstance(test, dict):
            yield test
        elif isinstance(test, str):
            yield from _tests_of(inside(folder, test), folder)
        else:
            raise EvalSetError("a test is neither a table nor a file", where=where, fix="Write {vars: …, assert: […]}")


def _tests_of(file: Path, folder: Path) -> Iterator[Mapping[str, Any]]:
    if file.suffix in {".yaml", ".yml"}:
        yield from _tests(read_yaml(file) or [], folder, file.name)
    elif file.suffix in {".csv", ".tsv"}:
        yield from map(_of_line, read_file(file))
    else:
        yield from read_file(file)


def _of_line(line: Row) -> Row:
    """One line of a table: columns that begin with ``__`` are about the test, all others are its variables."""
    names = [name for name in line if re.fullmatch(r"__expected\d*", name)]
    test: Row = {
        "vars": {name: value for name, value in line.items() if not _SPECIAL.match(name)},
        "assert": [from_cell(line[name]) for name in names if line[name].strip()],
        "description": line.get("__description", ""),
        "threshold": line.get("__threshold", ""),
    }
    for name in line:
        if name.startswith("__metadata:"):
            test.setdefault("metadata", {})[name.removeprefix("__metadata:")] = line[name]
    return test


def _row(test: Mapping[str, Any], default: Mapping[str, Any], where: str, draft: Draft) -> Row | None:
    """The variables of the test as columns, and what is asserted; None when nothing of that can be judged here."""
    variables = _table(default.get("vars")) | _table(test.get("vars"))
    for name, value in list(variables.items()):
        if isinstance(value, str) and value.startswith("file://"):
            draft.lose(f"{where}: the variable {name} comes from a file")
            return None
        if isinstance(value, list):
            draft.lose(f"{where}: the variable {name} is a list; promptfoo asks once for each, here it is one text")
    asserted = []
    for one in [*_list(default.get("assert")), *_list(test.get("assert"))]:
        literal, lost = assertion_of(one, variables, where)
        asserted += [literal] if literal else []
        if lost:
            draft.lose(lost)
    if not asserted:
        draft.lose(f"{where}: the test, which has no literal assertion")
        return None
    row: Row = {key: value for key, value in variables.items() if key not in ("assert", "threshold", "messages")}
    row["assert"] = asserted
    threshold = _number(test.get("threshold", default.get("threshold")))
    if threshold is not None:
        row["threshold"] = threshold
    return row | _labels(test)


def _labels(test: Mapping[str, Any]) -> Row:
    labels: Row = {"id": str(test["description"])} if test.get("description") else {}
    metadata = _table(test.get("metadata"))
    names = {"difficulty": "tier", "tier": "tier", "category": "cluster", "cluster": "cluster", "language": "lang"}
    return labels | {names[key]: str(value) for key, value in metadata.items() if key in names and value}


def _table(value: Any) -> Row:
    return dict(value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _take_prompt(config: Mapping[str, Any], path: Path, draft: Draft) -> None:
    """The first prompt, with ``{column}`` where it only names variables, else filled into a column ``prompt``."""
    prompts = config.get("prompts")
    listed = prompts if isinstance(prompts, list) else [prompts] if prompts else []
    columns = {column for row in draft.rows for column in row}
    if not listed:
        asked = next((name for name in ("prompt", "question", "input", "query", "text") if name in columns), "")
        asked = asked or next(iter(columns - {"assert", "id", "threshold", "tier", "cluster", "lang"}), "")
        draft.settings["prompt"] = f"{{{asked}}}"
        draft.lose(f"there is no prompt in {path.name}: the variable {asked} alone is asked")
        return
    if len(listed) > 1:
        draft.lose(f"{len(listed) - 1} further prompts: a set asks one, make another set for each")
    template = _prompt_text(listed[0], path.parent)
    turns = _chat(template)
    if turns is not None:
        for number, row in enumerate(draft.rows, 1):
            row["messages"] = [
                {"role": str(turn["role"]), "content": render(turn["content"], row, f"{path.name}, test {number}")}
                for turn in turns
            ]
        return
    plain = plain_prompt(template, columns)
    draft.settings["prompt"] = plain or "{prompt}"
    if plain is None:
        for number, row in enumerate(draft.rows, 1):
            row["prompt"] = render(template, row, f"{path.name}, test {number}")


def _chat(template: str) -> list[dict[str, Any]] | None:
    """The turns when the prompt is a JSON list of them."""
    try:
        turns = json.loads(template)
    except (ValueError, RecursionError):
        return None
    is_chat = isinstance(turns, list) and bool(turns) and all(map(_is_turn, turns))
    return turns if is_chat else None


def _is_turn(turn: Any) -> bool:
    return isinstance(turn, dict) and "role" in turn and isinstance(turn.get("content"), str)


def _prompt_text(prompt: Any, folder: Path) -> str:
    if isinstance(prompt, dict):
        prompt = prompt.get("raw") or prompt.get("id") or ""
    text = str(prompt)
    if not text.startswith("file://"):
        return text
    file = inside(folder, text)
    if file.suffix not in {".txt", ".md", ".json"}:
        raise EvalSetError("the prompt is a program", where=file.name, fix="Write the prompt as text")
    return file.read_text(encoding="utf-8-sig", errors="replace")


def export(evalset: EvalSet, path: Path) -> list[str]:
    """Write the tests: as YAML, which comes back whole, or as CSV. Returns what promptfoo will not know of."""
    lost: list[str] = []
    tests = [_test(evalset, item, lost) for item in evalset.items]
    if evalset.fewshot:
        lost.append("the examples (few-shot)")
    if path.suffix == ".csv":
        path.write_text(to_csv([_line(test) for test in tests]), encoding="utf-8")
        return [*lost, "all settings of the card, and columns that the prompt does not use"]
    config = {
        "description": f"{evalset.name}: {len(evalset.items)} items, task {evalset.task}",
        "prompts": ["{{input}}"],
        "defaultTest": {"metadata": {"speedqual": extra(evalset, [])}},
        "tests": tests,
    }
    path.write_text(dump(config), encoding="utf-8")
    return lost


def _test(evalset: EvalSet, item: Item, lost: list[str]) -> Row:
    prompt = build_prompt(evalset, item, Candidate(name="export", shots=0))
    turns = [{"role": turn.role, "content": turn.content} for turn in prompt.messages]
    asked = flat_prompt(evalset, item) if len(turns) == 1 else json.dumps(turns, ensure_ascii=False)
    return {
        "description": item.id,
        "vars": {"input": asked},
        "assert": _asserted(evalset, item, lost),
        "metadata": {"row": {**item.row, "id": item.id}},
    }


def _asserted(evalset: EvalSet, item: Item, lost: list[str]) -> list[Row]:
    """The nearest that promptfoo has; what is weaker than our grader is noted once."""
    name = evalset.grader.name
    if name == "assertions":
        return [dict(one) for one in item.row.get("assert") or ()]
    if name == "exact" and isinstance(item.target, Mapping) and "answer" in item.target:
        _once(lost, "for promptfoo: the grader exact becomes `icontains`, which a wrong reply can pass as well")
        return [{"type": "icontains", "value": str(item.target["answer"])}]
    if name == "extraction":
        _once(lost, "for promptfoo: the grader extraction becomes `is-json`, which looks at no value")
        return [{"type": "is-json"}]
    _once(lost, f"for promptfoo: the grader {name}; the tests assert nothing")
    return []


def _once(lost: list[str], what: str) -> None:
    if what not in lost:
        lost.append(what)


def _line(test: Row) -> Row:
    cells = {f"__expected{number}": to_cell(one) for number, one in enumerate(test["assert"], 1)}
    return {**test["vars"], **(cells or {"__expected1": ""}), "__description": test["description"]}
