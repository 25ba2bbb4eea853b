"""New sets: the skeleton is good as it stands, and a table is guessed rightly."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from speedqual.errors import EvalSetError, StorageError
from speedqual.evalsets import build_prompt, check, load, scaffold, scaffold_from_csv
from speedqual.evalsets.columns import guess_columns, value_of
from speedqual.records import Candidate


def table(tmp_path: Path, text: str, encoding: str = "utf-8") -> Path:
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode(encoding))
    return path


def written(*rows: list[str], separator: str = ",") -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=separator).writerows(rows)
    return out.getvalue()


INVOICES = written(
    ["Invoice No", "Text", "Total", "Currency", "Due date", "Vendor", "Paid", "Items"],
    [
        "0012",
        "Invoice 0012, Acme Ltd: 120.50 EUR due 13/05/2026",
        "120.5",
        "EUR",
        "13/05/2026",
        "Acme Ltd",
        "yes",
        "3",
    ],
    ["0013", 'Invoice 0013, "Bolt, Inc.": 1,200.00 USD', "1,200.00", "USD", "", "Bolt, Inc.", "no", "12"],
)


def test_the_skeleton_passes_check(tmp_path: Path) -> None:
    path = scaffold("my-set", tmp_path)
    assert path == tmp_path / "my-set" and check(path) == []
    evalset = load(path)
    assert (len(evalset.items), len(evalset.fewshot), evalset.shots, evalset.floor) == (3, 1, 0, 0.9)
    assert "my-set" in (path / "README.md").read_text(encoding="utf-8")
    two = build_prompt(evalset, evalset.items[0], Candidate(name="c", shots=1)).messages
    assert len(two) == 3 and json.loads(str(two[1].content)) == evalset.fewshot[0].target


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "a b", "/abs", "x" * 100, "_a"])
def test_names_that_are_no_folder_names(tmp_path: Path, name: str) -> None:
    with pytest.raises(EvalSetError, match="is no name for an eval set"):
        scaffold(name, tmp_path)


def test_a_folder_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "test.jsonl").write_text("precious")
    with pytest.raises(EvalSetError, match="already there"):
        scaffold("mine", tmp_path)
    assert (tmp_path / "mine" / "test.jsonl").read_text() == "precious"


def test_a_failure_leaves_nothing_half_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(StorageError, match="No space left"):
        scaffold("mine", tmp_path)
    assert not (tmp_path / "mine").exists()


def test_a_table_of_invoices(tmp_path: Path) -> None:
    path = scaffold_from_csv("invoices", table(tmp_path, INVOICES), tmp_path)
    assert check(path) == []
    evalset = load(path)
    assert evalset.grader.options["fields"] == {
        "Invoice No": "id",
        "Total": "money",
        "Currency": "currency",
        "Due date": "date",
        "Vendor": "name",
        "Paid": "boolean",
        "Items": "integer",
    }
    assert evalset.grader.options["date_order"] == "dmy"
    assert evalset.items[0].target == {
        "Invoice No": "0012",
        "Total": 120.5,
        "Currency": "EUR",
        "Due date": "13/05/2026",
        "Vendor": "Acme Ltd",
        "Paid": True,
        "Items": 3,
    }
    assert evalset.items[1].target["Total"] == "1,200.00" and evalset.items[1].target["Due date"] is None
    (message,) = build_prompt(evalset, evalset.items[1], Candidate(name="c")).messages
    assert '"Invoice No", "Total"' in str(message.content) and '"Bolt, Inc."' in str(message.content)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16"])
def test_chinese_headers(tmp_path: Path, encoding: str) -> None:
    text = written(
        ["编号", "原文", "金额(元)", "开票日期", "供应商", "税率", "电话", "是否已付"],
        ["甲1", "上海明珠公司，合计1200.5元", "1200.5", "2026年3月1日", "上海明珠公司", "13%", "13812345678", "是"],
        ["甲2", "北京长城厂，合计88元", "88", "2026年4月2日", "北京长城厂", "6%", "13912345678", "否"],
    )
    path = scaffold_from_csv("fapiao", table(tmp_path, text, encoding), tmp_path)
    assert check(path) == []
    evalset = load(path)
    assert list(evalset.grader.options["fields"].values()) == ["money", "date", "name", "percent", "phone", "boolean"]
    assert [item.id for item in evalset.items] == ["甲1", "甲2"]
    assert "只返回 JSON" in evalset.prompt and "{text}" in evalset.prompt


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_questions_and_answers(tmp_path: Path, separator: str) -> None:
    rows = [["id", "Question", "Answer", "Level"], ["q1", "2+2?", "4", "easy"], ["q2", "1,5|2;\t?", "5", "hard"]]
    path = scaffold_from_csv("qa", table(tmp_path, written(*rows, separator=separator)), tmp_path)
    evalset = load(path)
    assert (evalset.task, evalset.grader.options) == ("exact", {"type": "number"})
    assert (evalset.items[0].target, evalset.items[0].difficulty) == ({"answer": 4}, "easy")
    assert evalset.items[1].row["question"] == "1,5|2;\t?"
    assert check(path) == []


@pytest.mark.parametrize(
    ("header", "cells", "kind"),
    [
        ("total", ["12", "13.50"], "money"),
        ("count", ["12", "7"], "integer"),
        ("weight", ["1.5", "2"], "number"),
        ("x", ["$1,200.00", "€3"], "money"),
        ("due", ["2026-01-02", "2026-03-04"], "date"),
        ("x", ["3 May 2026", "04-JUN-26", "May 5, 2026"], "date"),
        ("x", [*["01/02/2026"] * 39, "unknown"], "date"),
        ("x", [*["01/02/2026"] * 3, "unknown"], "string"),
        ("at", ["2026-01-02 10:00"], "datetime"),
        ("postcode", ["01234", "99999"], "id"),
        ("order no", ["17", "18"], "id"),
        ("sku", ["AB-12", "CD-34"], "id"),
        ("vat", ["19 %"], "percent"),
        ("active", ["true", "false"], "boolean"),
        ("customer name", ["Ann", "Bo"], "name"),
        ("remark", ["late", "ok"], "string"),
        ("mobile", ["+49 170 1234567"], "phone"),
        ("ccy", ["EUR", "USD"], "currency"),
        ("市", ["上海", "北京"], "string"),
    ],
)
def test_the_type_of_a_column(header: str, cells: list[str], kind: str) -> None:
    rows = [{"text": f"a text that is long enough to be one {cell}", header: cell} for cell in cells]
    (field,) = guess_columns(rows).fields
    assert (field.column, field.type) == (header, kind)


def test_the_longest_column_is_the_text_when_no_header_says_so() -> None:
    rows = [{"a": "x1", "b": "a long story about a cat", "c": "cat"}, {"a": "x2", "b": "another long one", "c": "dog"}]
    guess = guess_columns(rows)
    assert (guess.text, [field.column for field in guess.fields]) == ("b", ["a", "c"])


@pytest.mark.parametrize(
    ("cell", "kind", "value"),
    [
        ("", "string", None),
        ("  ", "number", None),
        ("007", "id", "007"),
        ("007", "integer", "007"),
        ("7", "integer", 7),
        ("-7.50", "number", -7.5),
        ("1.234,5", "number", "1.234,5"),
        ("Yes", "boolean", True),
        ("否", "boolean", False),
        ("2026-01-02", "date", "2026-01-02"),
    ],
)
def test_a_cell_becomes_json(cell: str, kind: str, value: Any) -> None:
    assert value_of(cell, kind) == value and type(value_of(cell, kind)) is type(value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no rows"),
        ("id,text,total\n", "no rows"),
        ("text\nhello\n", "no column that could be the right answer"),
        ("a,,b\n1,2,3\n", "a column has no name"),
        ("a,a\n1,2\n", "the same name"),
        ("a,b\n1,2,3\n", "row 2 has 3 cells, the header 2"),
        ('a,b\n"1,2\n', "cannot be read"),
    ],
)
def test_tables_that_cannot_be_used(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(EvalSetError, match=words):
        scaffold_from_csv("x", table(tmp_path, text), tmp_path)
    assert not (tmp_path / "x").exists()


def test_a_workbook_is_not_taken_for_a_table(tmp_path: Path) -> None:
    (tmp_path / "x.xlsx").write_bytes(b"PK\x03\x04" + bytes(100))
    with pytest.raises(EvalSetError, match="Save its sheet as CSV"):
        scaffold_from_csv("x", tmp_path / "x.xlsx", tmp_path)


def test_a_table_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(EvalSetError, match=r"no\.csv: the table cannot be read"):
        scaffold_from_csv("x", tmp_path / "no.csv", tmp_path)


def test_hostile_headers_stay_text(tmp_path: Path) -> None:
    header = ["text", "a: b", "{text}", "- x", "'q\"", "# h", "!!python/name:os.system", "|"]
    path = scaffold_from_csv("x", table(tmp_path, written(header, ["t", *"1234567"])), tmp_path)
    assert list(load(path).items[0].target) == header[1:]
    assert list(load(path).grader.options["fields"]) == header[1:]


def test_an_id_that_stands_twice_is_refused(tmp_path: Path) -> None:
    path = table(tmp_path, 'id,text,total\na,"hi,\nyou",3\n\nb,hm,1\na,ho,4\n')
    with pytest.raises(EvalSetError) as said:
        scaffold_from_csv("x", path, tmp_path)
    assert str(said.value).startswith("table.csv line 6: the id 'a' already stands on line 2. Give each row an id")
    with pytest.raises(EvalSetError, match=r"table\.csv line 3: the id is empty"):
        scaffold_from_csv("x", table(tmp_path, "id,text,total\na,hi,3\n,ho,4\n"), tmp_path)
    assert not (tmp_path / "x").exists()
    made = load(scaffold_from_csv("x", table(tmp_path, "id,text,total\na,hi,3\nb,ho,4\n"), tmp_path))
    assert [item.id for item in made.items] == ["a", "b"] and list(made.grader.options["fields"]) == ["total"]


@pytest.mark.parametrize(("answer", "limit"), [("yes", 64), ("x" * 400, 4 * round(len('{"answer": ""}') / 4 + 100))])
def test_a_reply_has_room_for_four_times_the_longest_target(tmp_path: Path, answer: str, limit: int) -> None:
    made = scaffold_from_csv("x", table(tmp_path, f"question,answer\na?,b\nc?,{answer}\n"), tmp_path)
    assert check(made) == [] and load(made).max_tokens == limit
    assert "  # A reply is cut off here" in (made / "README.md").read_text(encoding="utf-8")
