"""What commands say of runs: limits that are not there, why nothing was answered, what was mistyped."""

from __future__ import annotations

from pathlib import Path


def test_an_output_without_a_limit_is_not_shown_as_none(call, bare_set: Path) -> None:
    who = ("--model", "openai/gpt-5-mini", "--base-url", "http://127.0.0.1:9/v1")
    said = call("run", *who, "--evalset", bare_set, "--dry-run")
    row = said.out.splitlines()[-1]
    assert said.code == 0 and "no limit" in row, said.out
    assert "no max_tokens" in said.err
    load = call("load", *who, "--evalset", bare_set, "--users", "1", "--requests", "2", "--dry-run")
    assert "no limit" in load.out.splitlines()[-1]


def _ask(endpoint: str, *models: str) -> list[str]:
    return [word for model in models for word in ("--model", f"openai/{model}")] + ["--base-url", endpoint, "--quiet"]


HASTE = ("--no-check", "--attempts", "1", "--out", "r")


def test_an_endpoint_that_fails_every_request(call, endpoint: str, bare_set: Path) -> None:
    said = call("run", *_ask(endpoint, "broken"), "--evalset", bare_set, *HASTE)
    assert said.code == 3, said.err
    assert "openai/broken: 4 × http_error 500: " in said.err and "scripted error" in said.err
    shown = call("show", "r", "--item", "i1")
    assert shown.code == 0 and "HTTP status 500" in shown.out
    loaded = call("load", *_ask(endpoint, "broken"), "--evalset", bare_set, "--users", 1, "--requests", 2, "--no-check")
    assert loaded.code == 3 and "openai/broken: 2 × http_error 500: " in loaded.err, loaded.err


def test_one_that_answers_beside_one_that_fails(call, endpoint: str, bare_set: Path) -> None:
    said = call("run", *_ask(endpoint, "broken", "good"), "--evalset", bare_set, *HASTE)
    assert said.code == 4 and "openai/broken: 4 × http_error 500" in said.err
    assert "openai/good: " not in said.err


def test_show_says_which_name_is_wrong(call, endpoint: str, bare_set: Path) -> None:
    call("run", *_ask(endpoint, "good"), "--evalset", bare_set, *HASTE)
    said = call("show", "r", "--candidate", "openai/god")
    assert said.code == 2 and "no candidate 'openai/god' in this run. Did you mean openai/good?" in said.err
    said = call("show", "r", "--item", "z99")
    assert said.code == 2 and "no item 'z99' in this run. There are: " in said.err


def test_a_wrong_path_is_said_as_it_was_typed(call, tmp_path: Path) -> None:
    said = call("show", "runs/of/none")
    assert said.code == 2 and f"{Path('runs/of/none')}: there is no such folder" in said.err
    (tmp_path / "runs" / "bare").mkdir(parents=True)
    assert "runs/bare: this is no run folder" in call("show", Path("runs/bare")).err
    said = call("show", tmp_path / "none")
    assert "none: there is no such folder" in said.err and str(tmp_path) not in said.err
