"""400 receipts as a custom set: gold against gold is right, and perturbed gold gets exactly the counts that were made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from speedqual.grading import extraction
from speedqual.grading.aggregate import extraction_figures
from speedqual.grading.base import grade_all
from speedqual.records import Answer, EvalSet, GraderSpec, Item

FIELDS = {"company": "name", "date": "date", "address": "string", "total": "money"}
RECEIPTS = Path(__file__).parents[3] / "shared/data/sroie/sroie.jsonl"


@pytest.fixture(scope="module")
def items() -> list[Item]:
    if not RECEIPTS.exists():
        pytest.skip("../shared is absent")
    rows = [json.loads(line) for line in RECEIPTS.read_text(encoding="utf-8").splitlines()]
    return [Item(id=row["id"], row={"text": row["text"]}, target=row["fields"]) for row in rows]


def figures(items: list[Item], answers: list[Any]) -> dict[str, Any]:
    options = {"fields": FIELDS, "date_order": "dmy"}
    spec = GraderSpec(name="extraction", options=options)
    grader = extraction.make(EvalSet(name="receipts", task="extraction", items=tuple(items), grader=spec))
    texts = [json.dumps(a, ensure_ascii=False) for a in answers]
    return extraction_figures(grade_all(grader, [(Answer(text=t), i) for t, i in zip(texts, items, strict=True)]))


def test_gold_against_gold(items: list[Item]) -> None:
    got = figures(items, [item.target for item in items])
    assert len(items) == 400
    assert (got["pass_rate"], got["micro_f1"], got["document_exact"]) == (1.0, 1.0, 1.0)
    assert (got["omission_rate"], got["invented_field_rate"], got["failures"]) == (0.0, 0.0, {})


def test_perturbed_gold_gets_the_expected_counts(items: list[Item]) -> None:
    """Of every ten receipts: 0 lacks the date, 1 has a wrong total, 2 has a field too much, 3 has a null company."""
    answers: list[dict[str, Any]] = [dict(item.target) for item in items]
    leaves = sum(len(item.target) for item in items)
    for n, answer in enumerate(answers):
        if n % 10 == 0:
            del answer["date"]
        elif n % 10 == 1:
            answer["total"] = "999999.99"
        elif n % 10 == 2:
            answer["cashier"] = "Nobody At All"
        elif n % 10 == 3:
            answer["company"] = None
    got = figures(items, answers)
    tp = leaves - 120
    assert got["precision"] == tp / (tp + 40 + 40)
    assert got["recall"] == tp / leaves
    assert got["omission_rate"] == 80 / leaves
    assert got["invented_field_rate"] == 40 / (tp + 80)
    assert got["document_exact"] == 0.6
    assert got["failures"] == {"invented_field": 40, "omission": 80, "wrong_field": 40}


def test_one_value_written_in_another_way_is_still_right(items: list[Item]) -> None:
    plain = [item for item in items if item.target["total"].replace(".", "").isdecimal()]
    assert len(plain) > 300
    assert figures(plain, [{**item.target, "total": f"RM {item.target['total']}"} for item in plain])["micro_f1"] == 1.0
    assert figures(plain, [{**item.target, "total": float(item.target["total"])} for item in plain])["micro_f1"] == 1.0
