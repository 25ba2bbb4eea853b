"""``speedqual local`` and ``speedqual doctor``: what this machine has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from speedqual.cli.table import text_table, width


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    (folder / "models").mkdir(parents=True)
    monkeypatch.setenv("SPEEDQUAL_CACHE", str(folder))
    return folder / "models"


def test_the_list_is_of_the_cache(call, cache: Path) -> None:
    assert call("local", "list").out == ""
    (cache / "mine.gguf").write_bytes(b"x" * 2_000_000)
    assert call("local", "list").out == "mine\t2 MB\n"


def test_a_file_that_is_not_there_or_no_model(call, cache: Path) -> None:
    said = call("local", "serve", "--model", "nothing")
    assert said.code == 2 and "no model file" in said.err
    (cache / "mine.gguf").write_bytes(b"x")
    said = call("local", "serve", "--model", "mine")
    assert said.code == 3 and "could not load" in said.err and str(cache) not in said.err


def test_layers_that_are_no_numbers(call, cache: Path) -> None:
    (cache / "mine.gguf").write_bytes(b"x")
    said = call("local", "variants", "--model", "mine", "--drop", "last")
    assert said.code == 2 and "10,14" in said.err


def test_the_doctor_looks_at_everything_once(call) -> None:
    found = json.loads(call("doctor", "--json").out)
    names = [finding["what"] for finding in found]
    assert len(names) == len(set(names))
    assert {"Python", "cores", "clock", "arrival stamps", "sandbox", "checks python", "local models"} <= set(names)
    assert {finding["state"] for finding in found} <= {"good", "missing", "bad"}
    assert all(finding["says"] for finding in found)
    assert "✓ Python" in call("doctor").out


def test_the_doctor_names_keys_and_never_shows_them(call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-0123456789")
    out = call("doctor").out
    assert "OPENAI_API_KEY" in out and "sk-secret" not in out


def test_tables_line_up_with_wide_names() -> None:
    lines = text_table(["candidate", "quality"], [["模型一", "0.50"], ["plain", "1.00"]]).splitlines()
    assert {width(line) for line in lines} == {len("candidate  quality")}
