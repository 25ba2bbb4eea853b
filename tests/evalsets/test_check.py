"""``check`` lists all that is wrong, and where other readers would see another set."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from speedqual.evalsets import check
from speedqual.evalsets.problems import Problem

from .conftest import HEAD, ROWS, SETTINGS, Make


def errors(path: Path) -> list[str]:
    return [str(problem) for problem in check(path) if problem.severity == "error"]


def warnings(path: Path) -> list[str]:
    return [str(problem) for problem in check(path) if problem.severity == "warning"]


def head(*features: str) -> str:
    listed = ", ".join(f"{{name: {name}, dtype: {dtype}}}" for name, dtype in (f.split() for f in features))
    return HEAD.split("dataset_info")[0] + f"dataset_info: {{features: [{listed}]}}\n"


def test_a_good_set_has_no_problems(make: Make) -> None:
    assert check(make()) == []


def test_a_path_that_is_not_there_is_a_problem() -> None:
    (problem,) = check("./no/such/set")
    assert problem == Problem("error", "./no/such/set", "there is no eval set './no/such/set'", "Check the path")


def test_errors_come_first(make: Make) -> None:
    folder = make(SETTINGS.replace("floor", "flor"), b'\xef\xbb\xbf{"id": "a", "text": "x", "target": {}}\n')
    assert [problem.severity for problem in check(folder)] == ["error", "warning"]


@pytest.mark.parametrize(
    ("columns", "features", "words"),
    [
        ({"code": "2024-01-02"}, ("code string",), "code: in datasets '2024-01-02' (str) becomes"),
        ({"note": "2024-01-02 10:00"}, (), "note: in datasets"),
        ({"target": {"a": "007"}}, (), ""),
    ],
)
def test_both_readings_are_compared(make: Make, columns: dict[str, Any], features: tuple[str, ...], words: str) -> None:
    declared = ("id string", "text string", "target json", *features)
    rows = [{**row, **columns} for row in ROWS]
    folder = make(SETTINGS, rows, head=head(*declared) if features or words == "" else HEAD.split("dataset_info")[0])
    found = errors(folder)
    assert (words in found[0] and "set/test.jsonl:1" in found[0] and "1 more" in found[0]) if words else found == []


def test_a_target_that_a_table_would_fill_up(make: Make) -> None:
    rows = [{"id": "a", "text": "x", "target": {"a": 1}}, {"id": "b", "text": "y", "target": {"b": "2"}}]
    folder = make(SETTINGS, rows, head=head("id string", "text string", "target string"))
    (found,) = errors(folder)
    assert "set/README.md:5:" in found and "'target' is declared string" in found
    assert "Write {name: target, dtype: json}" in found


def test_columns_that_are_not_declared(make: Make) -> None:
    found = errors(make(SETTINGS, [{**row, "size": 3, "tags": ["x"]} for row in ROWS]))
    assert "Add {name: size, dtype: int64}" in found[0] and "Add {name: tags, dtype: json}" in found[1]


def test_a_card_without_declarations_is_told_what_to_write(make: Make) -> None:
    found = warnings(make(head=HEAD.split("dataset_info")[0]))
    assert "{name: id, dtype: string}, {name: text, dtype: string}, {name: target, dtype: json}" in found[0]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"set.py": "print()"}, "set/set.py: dataset readers refuse a folder with a script of its own name"),
        ({"more.csv": "id\n1\n"}, "set/more.csv: data files of another format"),
        ({"extra.json": "{}"}, "set/extra.json: data files of another format"),
    ],
)
def test_files_that_change_what_others_read(make: Make, files: dict[str, str], words: str) -> None:
    assert words in errors(make(files=files))[0]


def test_a_path_that_dataset_readers_take_for_a_pattern(make: Make) -> None:
    folder = make().rename(make().parent / "set [2]")
    assert errors(folder) == [
        "error: set [2]: dataset readers take * ? [ ] in the path of a folder for a pattern. Rename the folder"
    ]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"few-shot.jsonl": "{}"}, "Rename it to fewshot.jsonl"),
        ({"Grader.py": ""}, "Rename it to grader.py"),
        ({"grader.py": ""}, "grader.py is not used"),
    ],
)
def test_files_that_are_not_read(make: Make, files: dict[str, str], words: str) -> None:
    settings = SETTINGS.replace("floor: 0.9", "grader: extraction")
    assert any(words in warning for warning in warnings(make(settings, files=files)))


@pytest.mark.parametrize(
    ("data_files", "words"),
    [
        ("[{split: test, path: ../other.jsonl}]", "lies outside the folder"),
        ("[{split: test, path: 'https://example.com/x.jsonl'}]", "lies outside the folder"),
        ("[{split: test, path: /etc/hostname}]", "lies outside the folder"),
        ("{test: ../x.jsonl}", "lies outside the folder"),
        ("../x.jsonl", "lies outside the folder"),
        ("[{split: test, path: tset.jsonl}]", "there is no data file 'tset.jsonl'"),
        ("[{split: test, path: [README.md]}]", "speedqual reads test.jsonl"),
    ],
)
def test_configs_that_name_other_files(make: Make, data_files: str, words: str) -> None:
    configs = f"configs: [{{config_name: default, data_files: {data_files}}}]\n"
    found = errors(make(head=configs + HEAD.split("\n", 3)[-1]))
    assert words in found[0] and found[0].startswith("error: set/README.md:2:")


def lint(make: Make, rows: list[dict[str, Any]], settings: str = SETTINGS, **files: str) -> str:
    columns = {column for row in rows for column in row} - {"id", "text"}
    features = ("id string", "text string", *(f"{column} json" for column in columns))
    split = "{split: test, path: test.jsonl}"
    declared = head(*features).replace(split, f"{split}, {{split: fewshot, path: fewshot.jsonl}}" if files else split)
    return "\n".join(
        map(str, check(make(settings, rows, head=declared, files={f"{k}.jsonl": v for k, v in files.items()})))
    )


def test_twins_and_leaks(make: Make) -> None:
    rows = [*ROWS, {**ROWS[0], "id": "c"}]
    assert "set/test.jsonl:3: item c asks the same as a" in lint(make, rows)
    shot = json.dumps({**ROWS[1], "id": "s"})
    assert "set/test.jsonl:2: the example s is also asked as item b" in lint(make, ROWS, fewshot=shot)


def test_an_example_without_an_answer(make: Make) -> None:
    settings = "speedqual: {task: facts, prompt: '{text}'}\n"
    rows = [{"id": "a", "text": "x", "facts": [{"id": "f", "value": "x"}]}]
    shot = json.dumps({"id": "s", "text": "y", "facts": []})
    assert "error: set/fewshot.jsonl:1: the example s has no answer to show" in lint(make, rows, settings, fewshot=shot)


def test_pairs(make: Make) -> None:
    settings = "speedqual: {task: facts, prompt: '{text}'}\n"
    rows = [
        {"id": "a", "text": "x", "facts": [{"value": "x"}], "pair": {"id": "p", "kind": "counterfactual"}},
        {"id": "b", "text": "y", "facts": [], "pair": {"id": "q", "kind": "parafrase"}},
        {"id": "c", "text": "z", "facts": [{"value": "x"}], "pair": {"id": "q", "kind": "paraphrase"}},
    ]
    found = lint(make, rows, settings)
    assert "set/test.jsonl:1: the pair 'p' has only this one item" in found
    assert "set/test.jsonl:2: pair.kind is 'parafrase'. Use one of: counterfactual, paraphrase" in found
    assert "set/test.jsonl:2: item b has nothing to be graded by" in found
    assert "'q' has only" not in found


def test_half_given_tiers(make: Make) -> None:
    assert "item b has no tier, unlike the others" in lint(make, [{**ROWS[0], "tier": "easy"}, ROWS[1]])


@pytest.mark.parametrize("written", ["{{text}}", "{{ text }}", "{ text }", "{text.upper}", "{text[0]}", "{text!r}"])
def test_odd_braces(make: Make, written: str) -> None:
    settings = f"speedqual:\n  task: extraction\n  prompt: 'A {{id}} {written}'\n"
    assert f"set/README.md:8:19: {written} is not replaced as a whole" in lint(make, ROWS, settings)


def test_columns_where_they_do_not_belong(make: Make) -> None:
    settings = "speedqual: {task: extraction, prompt: '{text} {target}', system: 'For {id}'}\n"
    found = lint(make, ROWS, settings)
    assert "the prompt shows the model the target" in found and "the system text names a column" in found


def test_types_of_fields_that_no_target_has(make: Make) -> None:
    settings = SETTINGS.replace("floor: 0.9", "grader: {fields: {totl: number, currency: currency}}")
    assert "no target has the field 'totl'. Write total" in lint(make, ROWS, settings)


def test_a_bare_file(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"prompt": "p", "target": {"answer": 1}}\n', encoding="utf-8")
    (problem,) = check(path)
    assert (problem.severity, problem.where) == ("warning", "x.jsonl") and "no row has an id" in problem.what


def test_empty_lines_fail_in_other_readers(make: Make) -> None:
    raw = b"\n\n".join(json.dumps(row).encode() for row in ROWS)
    found = "\n".join(map(str, check(make(SETTINGS, raw))))
    assert (
        "error: set/test.jsonl: datasets.load_dataset fails" in found and "set/test.jsonl:2: the line is empty" in found
    )


def test_nothing_is_written_fetched_or_left_behind(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    import datasets
    from huggingface_hub import constants

    def no_network(*_: Any) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", no_network)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "home" / "datasets")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    was_disabled = datasets.are_progress_bars_disabled()
    was_offline = [place.HF_HUB_OFFLINE for place in (constants, datasets.config)]
    assert check(make()) == []
    assert [place.HF_HUB_OFFLINE for place in (constants, datasets.config)] == was_offline
    assert not (tmp_path / "home").exists() and "HF_HUB_OFFLINE" not in os.environ
    assert datasets.are_progress_bars_disabled() == was_disabled
    assert capfd.readouterr() == ("", "")


def test_dataset_readers_are_only_imported_by_check() -> None:
    code = (
        "import sys, speedqual.evalsets as e; e.load('facts'); e.check; print({'datasets', 'pandas'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
