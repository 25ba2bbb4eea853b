"""The evalset commands: results on stdout, hints on stderr, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from speedqual.cli.evalset import command
from speedqual.errors import SpeedqualError
from speedqual.evalsets import builtin_names, scaffold


def run(*arguments: str, stdin: str = "") -> Result:
    return CliRunner().invoke(command, arguments, input=stdin)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return scaffold("mine", tmp_path)


def test_new_from_nothing(tmp_path: Path) -> None:
    done = run("new", "mine", "--folder", str(tmp_path))
    assert done.exit_code == 0 and done.stdout.startswith(str(tmp_path / "mine"))
    assert done.stdout.count("── prompt of") == 3
    assert "speedqual evalset check" in done.stderr


def test_new_from_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"{n},Bill {n}: pay {n}.50 EUR,{n}.50,EUR" for n in range(1, 6)]
    Path("invoices.csv").write_text("\n".join(["id,text,total,currency", *rows]), encoding="utf-8")
    done = run("new", "invoices", "--from", "invoices.csv")
    assert done.exit_code == 0 and done.stdout.count("── prompt of") == 3
    assert "Bill 3: pay 3.50 EUR" in done.stdout and "Bill 4" not in done.stdout
    assert run("check", "invoices").exit_code == 0


def test_check_is_good(folder: Path) -> None:
    done = run("check", "mine")
    assert (done.exit_code, done.stdout) == (0, "mine: 0 errors, 0 warnings\n")
    assert json.loads(run("check", "mine", "--json").stdout) == {"path": "mine", "ok": True, "problems": []}


def test_check_says_what_is_wrong(folder: Path) -> None:
    card = folder / "README.md"
    card.write_text(card.read_text(encoding="utf-8").replace("floor:", "flor:"), encoding="utf-8")
    done = run("check", "mine")
    assert done.exit_code == 2 and "error: mine/README.md:22:3: unknown key 'flor'. Write floor" in done.stdout
    found = json.loads(run("check", "mine", "--json").stdout)
    assert found["ok"] is False and set(found["problems"][0]) == {"severity", "where", "what", "fix"}


def test_check_of_nothing(tmp_path: Path) -> None:
    done = run("check", str(tmp_path / "no"))
    assert done.exit_code == 2 and "there is no eval set" in done.stdout


def test_check_asks_the_grader_about_its_options(folder: Path) -> None:
    card = folder / "README.md"
    card.write_text(card.read_text(encoding="utf-8").replace("total: number", "total: nmber"), encoding="utf-8")
    done = run("check", "mine")
    assert done.exit_code == 2 and "nmber" in done.stdout


def test_show_describes(folder: Path) -> None:
    done = run("show", "mine")
    assert done.exit_code == 0
    for words in ("mine 0.1", "items       3", "easy 2, hard 1", "extraction (fields)", "floor       0.9"):
        assert words in done.stdout


def test_show_as_json(folder: Path) -> None:
    head = json.loads(run("show", "mine", "--json").stdout)
    assert (head["name"], head["items"], head["fewshot"], head["floor"]) == ("mine", ["a1", "a2", "a3"], 1, 0.9)


def test_show_an_item(folder: Path) -> None:
    done = run("show", "mine", "--item", "a1", "--candidate-shots", "1")
    assert done.stdout.index("40 GBP") < done.stdout.index('{"total": 40') < done.stdout.index("120.50 EUR")
    prompt = json.loads(run("show", "mine", "--item", "a1", "--json").stdout)
    assert [turn["role"] for turn in prompt["messages"]] == ["user"] and prompt["max_tokens"] == 200


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("show", "mine", "--item", "a11"), "has no item 'a11'. Write a1"),
        (("show", "mine", "--item", "zzz"), "The first are: a1, a2, a3"),
        (("show", "mine", "--item", "a1", "--candidate-shots", "5"), "asks for 5 examples and the set has 1"),
        (("show", "mien"), "there is no eval set"),
        (("new", "mine"), "already there"),
    ],
)
def test_mistakes_have_one_clear_message(folder: Path, arguments: tuple[str, ...], words: str) -> None:
    fault = run(*arguments).exception
    assert isinstance(fault, SpeedqualError) and words in str(fault) and fault.exit_code == 2


def test_escape_sequences_of_a_set_do_not_reach_the_terminal(folder: Path) -> None:
    row = {"id": "a1", "tier": "easy", "text": "\x1b]0;owned\x07 \u202egnp", "target": {"total": 1}}
    (folder / "test.jsonl").write_text(json.dumps(row), encoding="utf-8")
    shown = run("show", "mine", "--item", "a1").stdout
    assert "\x1b" not in shown and "\u202e" not in shown and "⟨U+001B⟩" in shown


def test_try_prints_the_grade(folder: Path) -> None:
    answer = folder.parent / "answer.txt"
    answer.write_text('{"total": 120.5, "currency": "EUR", "due": "2026-05-03"}', encoding="utf-8")
    done = run("try", "mine", "--id", "a1", "--answer", str(answer), "--json")
    grade = json.loads(done.stdout)
    assert done.exit_code == 0 and (grade["verdict"], grade["score"], grade["failure"]) == ("pass", 1.0, "none")
    for key in ("score_lenient", "why", "how", "extracted", "repairs", "flags", "parts", "version"):
        assert key in grade


def test_try_reads_stdin_and_says_why(folder: Path) -> None:
    answer = '{"total": 7, "currency": "EUR", "due": "2026-05-03"}'
    done = run("try", "mine", "--id", "a1", "--answer", "-", stdin=answer)
    assert done.exit_code == 0 and "wrong_field" in done.stdout and "why" in done.stdout


def test_list() -> None:
    done = run("list")
    assert done.exit_code == 0 and all(name in done.stdout for name in builtin_names())
    assert {one["name"] for one in json.loads(run("list", "--json").stdout)} == set(builtin_names())
