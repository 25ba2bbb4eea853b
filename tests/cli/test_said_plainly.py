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
