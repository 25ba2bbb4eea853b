"""The mistakes that people make: one clear message, the right code, no traceback, no key."""

from __future__ import annotations

from pathlib import Path

import pytest

CARD = "---\nspeedqual:\n  task: extraction\n  prompt: '{text}'\n---\n"
ROW = '{"id": "a", "text": "n is 1", "target": {"n": 1}}\n'
SECRET = "sk-secret-0123456789"


def _set(folder: Path, card: str = CARD, rows: str = ROW) -> Path:
    folder.mkdir()
    (folder / "README.md").write_text(card, encoding="utf-8")
    (folder / "test.jsonl").write_text(rows, encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SECRET_KEY", SECRET)


def _check(said, code: int, *words: str) -> None:
    assert said.code == code, said.err
    message = [line for line in said.err.splitlines() if line.startswith(("speedqual:", "Error:"))]
    assert len(message) == 1, said.err
    for word in words:
        assert word in message[0]
    assert "Traceback" not in said.err and SECRET not in said.err + said.out


def test_no_key(call, bare_set: Path) -> None:
    _check(call("run", "--model", "openai/gpt-5-mini", "--evalset", bare_set, "--quiet"), 2, "OPENAI_API_KEY")


@pytest.mark.parametrize(
    ("model", "code", "words"),
    [
        ("gone", 3, ("gone", "model")),
        ("page", 3, ("web page", "base_url")),
        ("shut", 3, ("401", "SECRET_KEY")),
    ],
)
def test_what_the_endpoint_says_no_to(
    call, endpoint: str, bare_set: Path, model: str, code: int, words: tuple[str, ...]
) -> None:
    who = ("--model", f"openai/{model}", "--base-url", endpoint, "--api-key-env", "SECRET_KEY")
    _check(call("run", *who, "--evalset", bare_set, "--quiet"), code, *words)


def test_a_wrong_url(call, bare_set: Path) -> None:
    who = ("--model", "openai/x", "--base-url", "http://127.0.0.1:9/v1?key=abc")
    said = call("run", *who, "--evalset", bare_set, "--quiet")
    _check(said, 3, "127.0.0.1:9")
    assert "key=abc" not in said.err


def test_a_typo_in_the_endpoint(call, bare_set: Path) -> None:
    _check(call("run", "--model", "opanai/x", "--evalset", bare_set), 2, "opanai", "openai")


def test_nobody_and_nothing_to_ask(call, bare_set: Path) -> None:
    _check(call("run", "--evalset", bare_set), 2, "--model")
    _check(call("run", "--model", "openai/x"), 2, "--evalset")


@pytest.mark.parametrize(
    ("card", "rows", "words"),
    [
        (CARD.replace("task: extraction", "task: extraction\n  grader: extarction"), ROW, ("extarction", "extraction")),
        (CARD.replace("  prompt", " \tprompt"), ROW, ("README.md:4:2", "tab")),
        (CARD.replace("task:", "tsak:"), ROW, ("README.md", "tsak", "task")),
        (CARD, ROW + ROW, ("test.jsonl:2", "'a'")),
        (CARD, "", ("test.jsonl", "no rows")),
        (CARD, '{"id": "a", "text": "x", "target": "bare"}\n', ("test.jsonl:1", "target")),
        (CARD, ROW + '{"id": "b", "text": \n', ("test.jsonl:2",)),
        (CARD.replace("{text}", "{txet}"), ROW, ("txet", "text")),
    ],
    ids=["grader", "yaml", "key", "duplicate", "empty", "target", "json", "column"],
)
def test_what_is_wrong_with_a_set(call, tmp_path: Path, card: str, rows: str, words: tuple[str, ...]) -> None:
    folder = _set(tmp_path / "mine", card, rows)
    _check(call("run", "--model", "openai/x", "--base-url", "http://127.0.0.1:9/v1", "--evalset", folder), 2, *words)


def test_a_folder_that_is_no_run(call, tmp_path: Path) -> None:
    _check(call("show", "nowhere"), 2, "nowhere")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "manifest.json").write_text('{"format": 1,')
    _check(call("report", "broken"), 2, "manifest.json")


def test_a_slip_in_the_settings(call, bare_set: Path) -> None:
    Path("speedqual.toml").write_text("[run]\nseed = \n")
    _check(call("run", "--evalset", bare_set), 2, "speedqual.toml", "line 2")
    Path("speedqual.toml").write_text("[run]\nsede = 1\n")
    _check(call("run", "--evalset", bare_set), 2, "sede", "seed")
    Path("speedqual.toml").write_text("[candidate.x]\nmodel = 'openai/x'\n")
    _check(call("run", "--evalset", bare_set), 2, "candidate", "candidates")


def test_an_unknown_command_and_option(call) -> None:
    said = call("rnu")
    assert said.code == 2 and "rnu" in said.err
    assert call("run", "--evalsets", "x").code == 2
