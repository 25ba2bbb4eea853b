"""JSON Lines are read strictly, and each slip is named with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from speedqual.evalsets import jsonl
from speedqual.evalsets.problems import Findings

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def parse(raw: bytes) -> tuple[list[dict[str, Any]], list[str]]:
    findings = Findings()
    rows = jsonl.parse(raw, "f", findings)
    return [row.data for row in rows], [str(problem) for problem in findings.problems]


@given(
    st.lists(st.dictionaries(st.text(), JSON, max_size=5), min_size=1), st.sampled_from(["\n", "\r\n"]), st.booleans()
)
def test_what_json_writes_is_read_back(rows: list[dict[str, Any]], newline: str, ascii_only: bool) -> None:
    text = newline.join(json.dumps(row, ensure_ascii=ascii_only) for row in rows)
    assert parse(text.encode("utf-8")) == (rows, [])


@given(st.binary(max_size=200))
def test_any_bytes_give_rows_or_an_error(raw: bytes) -> None:
    rows, problems = parse(raw)
    assert rows or any(problem.startswith("error") for problem in problems)


@given(st.text(max_size=100))
def test_any_line_gives_a_row_or_its_place(line: str) -> None:
    rows, problems = parse(b'{"id": "a"}\n' + line.replace("\n", " ").encode("utf-8", "replace"))
    assert len(rows) == 2 or not line.strip() or "f:2" in problems[0]


def test_line_separators_of_unicode_do_not_end_a_line() -> None:
    row = {"a": "one\u2028two\u2029three\x85four"}
    assert parse(json.dumps(row, ensure_ascii=False).encode()) == ([row], [])


def test_text_stays_as_written() -> None:
    row = {"id": "007", "date": "2024-01-01", "n": "1e3", "big": 12345678901234567890, "half": 1.0}
    (read,), problems = parse(json.dumps(row).encode())
    assert read == row and [type(value) for value in read.values()] == [type(value) for value in row.values()]
    assert problems == []


@pytest.mark.parametrize(
    ("raw", "place", "words"),
    [
        (b'{"a": 1}\n{"a": 1,}', "f:2:9", "comma"),
        (b"{'a': 1}", "f:1:2", "double quotes"),
        (b'{"a": True}', "f:1:7", "true, false or null"),
        (b'{"a": 1} {"a": 2}', "f:1:10", "one object a line"),
        (b'{"a": "x\ty"}', "f:1:9", "\\n and \\t"),
        (b'{"a": 1', "f:1", "invalid JSON"),
        (b'{"a": 1e999}', "f:1", "the number 1e999 is too large"),
        (b'{"a": NaN}', "f:1", "NaN is not JSON"),
        (b'{"a": -Infinity}', "f:1", "-Infinity is not JSON"),
        (b'{"a": 1, "b": {"c": 1, "c": 2}}', "f:1", "'c' stands twice"),
        (b'{"a": "\\ud800"}', "f:1", "surrogate"),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "f:1", "too deep"),
        (b'{"a": ' + b"9" * 5_000 + b"}", "f:1", "too long"),
        (b'{"a": 1}\n[1]', "f:2", "a list, not an object"),
        (b'{"a": 1}\nnull', "f:2", "null, not an object"),
        (b'{"a": 1}\n"x"', "f:2", "a string, not an object"),
        (b"", "f", "no rows"),
        (b"\n  \n\r\n", "f", "no rows"),
        (b'[{"a": 1}]', "f:1:1", "one JSON array"),
        (b'{\n  "a": 1\n}', "f:1:1", "several lines"),
        ('{"a": 1}'.encode("utf-16"), "f:1", "UTF-16"),
        (b'{"a": 1}\n{"b": "caf\xe9"}\n', "f:2:11", "0xe9 is not UTF-8"),
        ('{"a": "发票"}'.encode("gbk"), "f:1:8", "GBK"),
    ],
)
def test_slips(raw: bytes, place: str, words: str) -> None:
    _, problems = parse(raw)
    assert problems[0].startswith(f"error: {place}:") and words in problems[0]


def test_a_byte_order_mark_and_empty_lines_are_allowed_with_a_warning() -> None:
    rows, problems = parse(b'\xef\xbb\xbf{"a": 1}\r\n\r\n{"a": 2}\r\n\n')
    assert [row["a"] for row in rows] == [1, 2]
    assert problems[0].startswith("warning: f:1:") and "byte order mark" in problems[0]
    assert problems[1].startswith("warning: f:2:") and "1 more" in problems[1]


def test_lines_keep_their_numbers() -> None:
    assert [row.line for row in jsonl.parse(b'\n{"a": 1}\n\n{"a": 2}', "f", Findings())] == [2, 4]


def test_a_file_of_another_kind_gives_a_few_errors() -> None:
    _, problems = parse(b"id,text\n" * 10_000)
    assert len(problems) == 21 and "was not read" in problems[-1]


def test_a_huge_file_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "big.jsonl"
    path.write_bytes(b'{"a": 1}\n' * 20)
    monkeypatch.setattr(jsonl, "MAX_BYTES", 100)
    findings = Findings()
    assert jsonl.read(path, "big.jsonl", findings) == []
    assert "sample" in findings.errors[0].fix


def test_a_missing_file_is_a_finding(tmp_path: Path) -> None:
    findings = Findings()
    assert jsonl.read(tmp_path / "no.jsonl", "no.jsonl", findings) == []
    assert "cannot be read" in findings.errors[0].what
