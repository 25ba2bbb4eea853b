"""The figures of a set, by hand arithmetic."""

from __future__ import annotations

from typing import Any

import pytest

from speedqual.grading import extraction, facts
from speedqual.grading.aggregate import extraction_figures, facts_figures, general_figures, pair_figures
from speedqual.grading.base import grade_all
from speedqual.records import Answer, EvalSet, Grade, GraderSpec, Item


def extracted(rows: list[tuple[str, Any, str]]) -> list[Grade]:
    items = [Item(id=str(i), row={"text": source}, target=target) for i, (_, target, source) in enumerate(rows)]
    grader = extraction.make(
        EvalSet(name="t", task="extraction", items=tuple(items), grader=GraderSpec(name="extraction"))
    )
    return grade_all(grader, [(Answer(text=text), item) for (text, _, _), item in zip(rows, items, strict=True)])


def test_extraction_figures() -> None:
    grades = extracted(
        [
            ('{"a": "x", "b": 2, "c": null}', {"a": "x", "b": 2, "c": None}, "x 2"),  # all right, one abstention
            ('{"a": "z", "d": 9}', {"a": "y", "b": 3}, "y 3"),  # a wrong, b omitted, d invented
            ('{"a": "x",}', {"a": "x"}, "x"),  # mended
            ("no idea", {"a": "x", "b": 5}, "x 5"),  # both omitted
        ]
    )
    got = extraction_figures(grades)
    # leaves: tp = a, b | 0 | a | 0 = 3; fp = a, d = 2; fn = a, b | a, b = 4
    assert (got["precision"], got["recall"], got["micro_f1"]) == (3 / 5, 3 / 7, 6 / 12)
    assert got["by_field"] == {"a": pytest.approx(4 / 7), "b": pytest.approx(2 / 4), "d": 0.0}
    assert got["macro_f1"] == pytest.approx((4 / 7 + 2 / 4 + 0) / 3)
    assert got["document_exact"] == 1 / 4
    assert got["omission_rate"] == 3 / 7
    assert got["invented_field_rate"] == 1 / 5
    assert got["unsupported_value_rate"] == 1 / 3
    assert (got["schema_validity_raw"], got["schema_validity_repaired"]) == (1 / 4, 2 / 4)
    assert (got["parse_rate"], got["valid_json_rate"], got["repaired_rate"]) == (3 / 4, 2 / 4, 1 / 4)
    assert got["score"] == pytest.approx(1 / 4)
    assert got["score_lenient"] == pytest.approx(2 / 4)
    assert got["failures"] == {"no_answer": 1, "wrong_field": 1, "wrong_format": 1}


def test_a_share_of_nothing_is_none() -> None:
    got = extraction_figures([])
    assert got["n"] == 0
    assert [got[k] for k in ("pass_rate", "precision", "micro_f1", "omission_rate", "parse_rate")] == [None] * 5
    assert facts_figures([])["fact_recall"] is None


def test_what_was_not_graded_stays_out_of_the_rates() -> None:
    grades = [Grade(score=1.0, verdict="pass"), Grade(score=None, verdict="not_graded", failure="grader_error")]
    got = general_figures(grades)
    assert (got["n"], got["not_graded"], got["pass_rate"], got["failures"]) == (2, 1, 1.0, {"grader_error": 1})


def fact_item(name: str, value: Any, pair: tuple[str, str] | None = None, **row: Any) -> Item:
    wanted = [{"id": "a", "value": value}]
    return Item(id=name, row={"facts": wanted, "pair": pair and {"id": pair[0], "kind": pair[1]}, **row})


def test_facts_figures_and_pairs() -> None:
    rows = [
        ("red", fact_item("1", "red", ("door", "counterfactual"))),
        ("green", fact_item("2", "green", ("door", "counterfactual"))),
        ("red", fact_item("3", "red", ("gate", "counterfactual"))),
        ("red", fact_item("4", "blue", ("gate", "counterfactual"))),  # from habit: wrong, and did not change
        ("Bath", fact_item("5", "Bath", ("town", "paraphrase"))),
        ("It is Bath.", fact_item("6", "Bath", ("town", "paraphrase"))),
        ("Bath", fact_item("7", "Bath", ("city", "paraphrase"))),
        ("York", fact_item("8", "Bath", ("city", "paraphrase"))),
        ("I don't know.", fact_item("9", "Bath")),
        ("I can't help with that.", fact_item("10", "Bath")),
    ]
    items = [item for _, item in rows]
    grader = facts.make(EvalSet(name="t", task="facts", items=tuple(items), grader=GraderSpec(name="facts")))
    grades = grade_all(grader, [(Answer(text=text), item) for text, item in rows])
    got = facts_figures(grades, items)
    assert got["pass_rate"] == 6 / 10
    assert (got["fact_recall"], got["supported_rate"], got["contradicted_rate"]) == (6 / 10, 6 / 10, 2 / 10)
    assert got["missing_rate"] == 2 / 10
    assert got["refusal_rate"] == 1 / 10
    assert (got["counterfactual_pairs"], got["counterfactual_right"], got["counterfactual_changed"]) == (2, 0.5, 0.5)
    assert (got["paraphrase_pairs"], got["paraphrase_right"], got["paraphrase_stable"]) == (2, 0.5, 0.5)


def test_a_pair_with_a_member_that_was_not_graded_is_left_out() -> None:
    items = [fact_item("1", "x", ("p", "paraphrase")), fact_item("2", "x", ("p", "paraphrase"))]
    grades = [Grade(score=1.0, verdict="pass"), Grade(score=None, verdict="not_graded")]
    assert pair_figures(grades, items)["paraphrase_pairs"] == 0
    assert pair_figures(grades, items)["paraphrase_right"] is None
