"""Rows become items; what the columns say decides where a card is silent."""

from __future__ import annotations

import json
import logging
import time
from pathlib import Path
from typing import Any

import pytest

from speedqual.errors import EvalSetError
from speedqual.evalsets import check, load
from speedqual.records import EvalSet, Message

from .conftest import ROWS, SETTINGS, Make


def message(path: str | Path) -> str:
    with pytest.raises(EvalSetError) as caught:
        load(path)
    return str(caught.value)


def with_second(**columns: Any) -> list[dict[str, Any]]:
    return [ROWS[0], {**ROWS[1], **columns}]


def without(column: str) -> list[dict[str, Any]]:
    return [ROWS[0], {key: value for key, value in ROWS[1].items() if key != column}]


def bare(tmp_path: Path, *rows: dict[str, Any]) -> EvalSet:
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return load(path)


def test_a_folder(make: Make) -> None:
    evalset = load(make())
    assert (evalset.name, evalset.task, evalset.grader.name) == ("set", "extraction", "extraction")
    assert (evalset.floor, evalset.success_at, evalset.licence) == (0.9, 1.0, "cc-by-4.0")
    assert [item.id for item in evalset.items] == ["a", "b"]
    assert evalset.items[0].target == {"total": 1, "currency": "EUR"}
    assert EvalSet.from_dict(json.loads(json.dumps(evalset.to_dict()))) == evalset


def test_all_settings_arrive(make: Make) -> None:
    settings = """speedqual:
  task: invoices
  messages: [{role: system, content: Be brief.}, {role: user, content: "{text}?"}]
  grader: {name: extraction, fields: {total: number}}
  tiers: {by: size, order: [small, large]}
  cluster: firm
  max_tokens: 64
  stop: ["###", END]
  repeats: 3
  timeout: 2.5
  success_at: 0.5
"""
    rows = with_second(size="large", firm="B", tags=["minimal"], lang="en")
    evalset = load(make(settings, rows))
    assert (evalset.system, evalset.messages) == ("Be brief.", (Message("user", "{text}?"),))
    assert evalset.grader.options == {"fields": {"total": "number"}}
    assert (evalset.max_tokens, evalset.stop, evalset.repeats, evalset.timeout_s) == (64, ("###", "END"), 3, 2.5)
    assert (evalset.success_at, evalset.difficulty_order) == (0.5, ("small", "large"))
    second = evalset.items[1]
    assert (second.difficulty, second.cluster, second.tags, second.language) == ("large", "B", ("minimal",), "en")


@pytest.mark.parametrize(
    ("rows", "place", "words"),
    [
        (with_second(id="a"), ":2", "already stands on line 1"),
        (with_second(id="2024-01-02"), ":2", "looks like a date"),
        (with_second(id="02.01.2024"), ":2", "looks like a date"),
        (with_second(id=None), ":2", "the id is null"),
        (with_second(id=[1]), ":2", "printable text"),
        (with_second(id="a\x1b[31m"), ":2", "printable text"),
        (with_second(id="x" * 300), ":2", "200 characters"),
        (with_second(id="  "), ":2", "printable text"),
        (without("id"), ":2", "the row has no id"),
        ([{"ID": "a", "text": "x", "target": {}}], ":1", "Rename ID to id"),
        (with_second(target="007"), ":2", 'neither an object nor a list. Write "target": {"answer": "007"}'),
        (with_second(target=7), ":2", 'Write "target": {"answer": 7}'),
        (without("target"), ":2", 'the row has no target. Add "target": {…}'),
        ([{"id": "a", "text": "x", "traget": {}}], ":1", "Rename traget to target"),
        (without("text"), ":2", "no column 'text', which the prompt uses"),
        ([ROWS[0], {"id": "b", "txt": "x", "target": {}}], ":2", "Rename txt to text"),
        (with_second(tags=3), ":2", "list of texts"),
        (with_second(messages="hi"), ":2", "not a list of turns"),
        (with_second(messages=[{"role": "usr", "content": "x"}]), ":2", "turn 1 of messages has the role 'usr'"),
        (with_second(messages=[{"role": "user"}]), ":2", "no content"),
        (with_second(messages=[{"role": "assistant", "content": "x"}]), ":2", "not the user's"),
        (with_second(tests=[1]), ":2", "tests must be an object"),
        (with_second(facts={}), ":2", "facts must be a list"),
        (with_second(unanswerable="yes"), ":2", "true or false"),
        (b"", "", "no rows"),
        (b'{"id": "a"}\n[]\n', ":2", "not an object"),
        (b'{"id": "a", }\n', ":1:13", "comma"),
    ],
)
def test_row_slips(make: Make, rows: Any, place: str, words: str) -> None:
    text = message(make(SETTINGS, rows))
    assert text.startswith(f"set/test.jsonl{place}:") and words in text


def test_a_tier_that_the_order_does_not_name(make: Make) -> None:
    settings = "speedqual: {task: extraction, prompt: '{text}', tiers: [easy, hard]}\n"
    assert "tier is 'esy', which tiers.order does not name. Write easy" in message(
        make(settings, with_second(tier="esy"))
    )


@pytest.mark.parametrize(
    ("columns", "grader"),
    [
        ({"tests": {"entry_point": "f", "cases": []}}, "code"),
        ({"facts": []}, "facts"),
        ({"forbidden": []}, "facts"),
        ({"unanswerable": True}, "facts"),
        ({"target": {"answer": 4}}, "exact"),
        ({"target": {"answer": 4, "unit": "m"}}, "extraction"),
        ({"target": [1, 2]}, "extraction"),
    ],
)
def test_the_columns_of_a_bare_file_choose_the_grader(tmp_path: Path, columns: dict[str, Any], grader: str) -> None:
    evalset = bare(tmp_path, {"id": "a", "prompt": "?", **columns})
    assert (evalset.name, evalset.grader.name, evalset.task) == ("mine", grader, grader)


@pytest.mark.parametrize(
    ("columns", "prompt"),
    [
        ({"prompt": "p"}, "{prompt}"),
        ({"question": "q"}, "{question}"),
        ({"question": "q", "context": "c"}, "{context}\n\n{question}"),
        ({"question": "q", "text": "t", "prompt": None}, "{text}\n\n{question}"),
        ({"text": "t"}, "{text}"),
    ],
)
def test_the_columns_of_a_bare_file_choose_the_prompt(tmp_path: Path, columns: dict[str, Any], prompt: str) -> None:
    assert bare(tmp_path, {"id": "a", "target": {"answer": 1}, **columns}).prompt == prompt


def test_bare_extraction_over_text_names_all_keys(tmp_path: Path) -> None:
    rows = [{"id": "a", "text": "t", "target": {"x": 1}}, {"id": "b", "text": "t", "target": {"y": 1, "x": 2}}]
    assert "with the keys x, y." in bare(tmp_path, *rows).prompt


def test_bare_rows_without_ids_are_numbered_with_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        evalset = bare(tmp_path, {"prompt": "a", "target": {"answer": 1}}, {"prompt": "b", "target": {"answer": 2}})
    assert [item.id for item in evalset.items] == ["line-1", "line-2"]
    assert "no row has an id" in caplog.text


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"id": "a", "prompt": "x"}, "nothing says which grader to use"),
        ({"id": "a", "foo": "x", "target": {"answer": 1}}, "no prompt, and no column that could be one"),
        ({"id": "a", "prompt": "x", "target": 4}, "neither an object nor a list"),
    ],
)
def test_a_bare_file_that_says_too_little(tmp_path: Path, row: dict[str, Any], words: str) -> None:
    with pytest.raises(EvalSetError, match=words):
        bare(tmp_path, row)


def test_a_folder_without_a_card_is_guessed(make: Make) -> None:
    assert load(make(None)).grader.name == "extraction"


def test_its_own_grader_is_read_and_not_run(make: Make, tmp_path: Path) -> None:
    source = f"open({str(tmp_path / 'ran')!r}, 'w')\ndef grade(answer, item): ...\n"
    folder = make("speedqual: {task: mine, prompt: '{text}'}\n", files={"grader.py": source})
    for allow in (False, True):
        spec = load(folder, allow_code=allow).grader
        assert (spec.name, spec.options["_file"], spec.options["_source"]) == ("file:grader.py", "grader.py", source)
        assert spec.options["_allow_code"] is allow
    assert not (tmp_path / "ran").exists()


def test_schema_json_is_an_option_of_the_grader(make: Make) -> None:
    schema = {"type": "object", "properties": {"total": {"type": "number"}}}
    evalset = load(make(files={"schema.json": json.dumps(schema)}))
    assert evalset.grader.options == {"schema": schema}
    assert "schema.json:1:2: invalid JSON" in message(make(files={"schema.json": "{,}"}))
    assert "not an object" in message(make(files={"schema.json": "[]"}))


def test_files_without_the_right_to_read_them(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make()

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "is_file", refuse)
    assert message(folder) == "set: it cannot be read (Permission denied). Check its rights"
    assert [problem.what for problem in check(folder)] == ["it cannot be read (Permission denied)"]


def test_files_do_not_lead_out_of_the_folder(make: Make, tmp_path: Path) -> None:
    outside = tmp_path / "secret.jsonl"
    outside.write_text('{"id": "a", "text": "x", "target": {}}\n', encoding="utf-8")
    folder = make("speedqual: {task: extraction, prompt: '{text}', fewshot: {split: ../secret, n: 1}}\n")
    assert "lies outside the folder" in message(folder)
    folder = make(SETTINGS)
    for name in ("test.jsonl", "README.md"):
        (folder / name).unlink()
        (folder / name).symlink_to(outside)
        assert f"set/{name}: the" in message(folder) and "outside the folder" in message(folder)
        make(SETTINGS) if name == "README.md" else (folder / name).unlink() or make(SETTINGS)


def test_a_selection_by_tag(make: Make) -> None:
    folder = make(SETTINGS, with_second(tags=["minimal", "short"]))
    evalset = load(f"{folder}@minimal")
    assert (evalset.name, [item.id for item in evalset.items]) == ("set@minimal", ["b"])
    assert evalset.hash != load(folder).hash
    assert "Use one of: minimal, short" in message(f"{folder}@minimum")
    assert "no tag stands after" in message(f"{folder}@")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "is empty"),
        ("facst", "Write facts"),
        ("no-such-set-at-all", "one of: chinese, code"),
        ("./no/such.jsonl", "Check the path"),
        ("@minimal", "no eval set"),
        ("x" * 5_000, "no eval set"),
        ("\0", "no eval set"),
        ("~no-such-user/set", "no eval set"),
    ],
)
def test_unknown_names(name: str, words: str) -> None:
    assert words in message(name) and len(message(name)) < 300


def test_other_file_kinds_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id\n")
    assert "evalset new NAME --from" in message(tmp_path / "a.csv")
    assert "one of: a.csv" in message(tmp_path)


CHANGES: list[tuple[str, Any]] = [
    ("speedqual: {task: extraction, prompt: 'Look: {text}', floor: 0.9}\n", ROWS),
    (SETTINGS.replace("floor: 0.9", "system: Hi"), ROWS),
    (SETTINGS.replace("floor: 0.9", "max_tokens: 9"), ROWS),
    (SETTINGS.replace("floor: 0.9", "stop: x"), ROWS),
    (SETTINGS.replace("floor: 0.9", "grader: {name: extraction, strict_null: true}"), ROWS),
    (SETTINGS, with_second(text="three")),
    (SETTINGS, with_second(target={"total": 3})),
    (SETTINGS, with_second(id="c")),
    (SETTINGS, ROWS[:1]),
]


@pytest.mark.parametrize(("settings", "rows"), CHANGES)
def test_the_hash_changes_with_answers_and_grades(make: Make, settings: str, rows: Any) -> None:
    before = load(make()).hash
    assert load(make(settings, rows)).hash != before


@pytest.mark.parametrize(
    ("settings", "rows"),
    [
        (SETTINGS.replace("0.9", "0.5"), ROWS),
        (SETTINGS.replace("floor: 0.9", "version: '9', repeats: 4, success_at: 0.5"), ROWS),
        (SETTINGS, ROWS[::-1]),
        (SETTINGS, with_second(tags=["minimal"])),
    ],
)
def test_the_hash_stays_where_neither_changes(make: Make, settings: str, rows: Any) -> None:
    before = load(make()).hash
    assert len(before) == 16 and load(make(settings, rows)).hash == before


def test_the_hash_covers_files_and_not_the_permission(make: Make) -> None:
    settings = "speedqual: {task: mine, prompt: '{text}', grader: file:grader.py}\n"
    one = load(make(settings, files={"grader.py": "def grade(a, i): return 1"}))
    two = load(make(settings, files={"grader.py": "def grade(a, i): return 0"}), allow_code=True)
    again = load(make(settings, files={"grader.py": "def grade(a, i): return 1"}), allow_code=True)
    assert one.hash == again.hash != two.hash


@pytest.mark.timing
def test_ten_thousand_rows_load_within_a_second(make: Make) -> None:
    rows = [{"id": f"i{n}", "text": f"item {n} " * 20, "target": {"total": n}, "tags": ["x"]} for n in range(10_000)]
    folder = make(SETTINGS, rows)
    load(folder)
    start = time.process_time()
    assert len(load(folder).items) == 10_000
    assert time.process_time() - start < 1.0
