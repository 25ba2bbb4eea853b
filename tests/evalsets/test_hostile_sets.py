"""Whatever stands in a card or a row, the answer is an eval set or one EvalSetError, never another exception."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from speedqual.errors import EvalSetError
from speedqual.evalsets import build_prompt, check, load
from speedqual.evalsets.settings import KEYS
from speedqual.records import Candidate

CARD = """---
license: cc-by-4.0
configs:
- {config_name: default, data_files: [{split: test, path: test.jsonl}]}
dataset_info: {features: [{name: id, dtype: string}, {name: text, dtype: string}, {name: target, dtype: json}]}
speedqual:
  task: extraction
  messages: [{role: system, content: Hi}, {role: user, content: "{text}"}]
  grader: {name: extraction, fields: {total: number}}
  tiers: {by: tier, order: [easy]}
  fewshot: {split: fewshot, n: 0}
  stop: ["#"]
---
"""
ROW = '{"id": "a", "tier": "easy", "text": "x", "target": {"total": 1}, "tags": ["minimal"], "messages": null}'
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3), max_leaves=6
)
COLUMNS = ["id", "text", "target", "tier", "cluster", "tags", "lang", "tests", "facts", "forbidden", "unanswerable"]
COLUMNS += ["pair", "messages", "answer", "reference", "prompt", "question", "context"]
fast = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)


def survives(folder: Path) -> None:
    assert all(problem.where and problem.what for problem in check(folder))
    try:
        evalset = load(folder)
    except EvalSetError as fault:
        assert len(str(fault)) < 4_000
        return
    for item in evalset.items:
        build_prompt(evalset, item, Candidate(name="c"))


def write(folder: Path, card: str | None, rows: str) -> None:
    (folder / "test.jsonl").write_bytes(rows.encode("utf-8", "surrogatepass"))
    if card is not None:
        (folder / "README.md").write_bytes(card.encode("utf-8", "surrogatepass"))


@pytest.fixture(autouse=True)
def without_table_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison with dataset readers is tested elsewhere; it would take most of the time here."""
    monkeypatch.setattr("speedqual.evalsets.checking.compare", lambda *_: None)


@fast
@given(st.integers(0, len(CARD)), st.integers(0, 12), st.text(max_size=6))
def test_a_damaged_card(tmp_path: Path, start: int, length: int, inserted: str) -> None:
    write(tmp_path, CARD[:start] + inserted + CARD[start + length :], ROW)
    survives(tmp_path)


@fast
@given(st.integers(0, len(ROW)), st.integers(0, 8), st.text(max_size=4))
def test_a_damaged_row(tmp_path: Path, start: int, length: int, inserted: str) -> None:
    write(tmp_path, CARD, ROW + "\n" + ROW[:start] + inserted + ROW[start + length :])
    survives(tmp_path)


@fast
@given(st.dictionaries(st.sampled_from(sorted(KEYS)), JSON, max_size=4))
def test_any_value_of_any_key(tmp_path: Path, table: dict[str, Any]) -> None:
    write(tmp_path, f"---\nspeedqual: {json.dumps(table)}\n---\n", ROW)
    survives(tmp_path)


@fast
@given(JSON, JSON)
def test_any_configs_and_features(tmp_path: Path, configs: Any, info: Any) -> None:
    header = {"configs": [configs, {"data_files": info}], "dataset_info": {"features": [info, configs]}}
    write(tmp_path, f"---\n{json.dumps(header)}\n---\n", ROW)
    survives(tmp_path)


@fast
@given(st.lists(st.dictionaries(st.sampled_from(COLUMNS), JSON, max_size=6), min_size=1, max_size=3), st.booleans())
def test_any_value_of_any_column(tmp_path: Path, rows: list[dict[str, Any]], with_card: bool) -> None:
    (tmp_path / "README.md").unlink(missing_ok=True)
    write(tmp_path, CARD if with_card else None, "\n".join(map(json.dumps, rows)))
    survives(tmp_path)


@fast
@given(st.text(max_size=60))
def test_any_name(name: str) -> None:
    try:
        load(name)
    except EvalSetError as fault:
        assert fault.fix
