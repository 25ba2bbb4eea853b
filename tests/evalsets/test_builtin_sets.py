"""Built-in sets are found in an installed wheel and in a source tree."""

from __future__ import annotations

from pathlib import Path

import pytest

import speedqual
from speedqual.evalsets import builtin, builtin_names, check, describe, load


@pytest.mark.parametrize("name", builtin_names())
def test_each_passes_check(name: str) -> None:
    assert check(name) == []


@pytest.mark.parametrize("name", builtin_names())
def test_each_is_described(name: str) -> None:
    evalset = load(name)
    text = describe(evalset)
    assert text.startswith(f"{name} {evalset.version}\n") and f"items       {len(evalset.items)}" in text
    assert evalset.hash in text and f"floor       {evalset.floor:g}" in text


@pytest.mark.parametrize("place", ["site/speedqual/_builtin_evalsets", "site/evalsets"])
def test_where_they_are_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    (tmp_path / "site/speedqual").mkdir(parents=True)
    for name in ("two", "one", "no-rows"):
        (tmp_path / place / name).mkdir(parents=True)
        if name != "no-rows":
            (tmp_path / place / name / "test.jsonl").write_text('{"id": "a", "prompt": "p", "target": {"answer": 1}}')
    monkeypatch.setattr(speedqual, "__file__", str(tmp_path / "site/speedqual/__init__.py"))
    builtin._root.cache_clear()
    try:
        assert builtin_names() == ("one", "two")
        assert load("one").name == "one"
    finally:
        builtin._root.cache_clear()


def test_a_built_in_name_wins_over_a_folder_of_that_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts/test.jsonl").write_text('{"id": "a", "prompt": "p", "target": {"answer": 1}}')
    monkeypatch.chdir(tmp_path)
    assert len(load("facts").items) > 1 and len(load("./facts").items) == 1
