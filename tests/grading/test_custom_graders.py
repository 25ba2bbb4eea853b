"""Graders of one's own, and whether a set's grader can tell right from wrong."""

from __future__ import annotations

from typing import Any

import pytest

from speedqual.errors import EvalSetError
from speedqual.grading import base
from speedqual.grading.adapters import as_grader
from speedqual.grading.base import grade_all, grader_for, register_function
from speedqual.grading.patterns import compiled, found
from speedqual.grading.selftest import self_test
from speedqual.records import Answer, EvalSet, GraderSpec, Item

ITEMS = tuple(Item(id=word, row={"id": word, "answer": word}, target=None) for word in ("blue 1", "red 2", "green 3"))


def evalset(name: str, items: tuple[Item, ...] = ITEMS, **options: Any) -> EvalSet:
    return EvalSet(name="t", task="t", items=items, grader=GraderSpec(name=name, options=options))


@pytest.mark.parametrize(
    ("label", "score", "failure"),
    [
        ("pass", 1.0, "none"),
        ("fail", 0.0, "wrong_result"),
        ("refused", 0.0, "refused"),
        (("partial", "x"), 0.5, "wrong_result"),
    ],
)
def test_a_label_is_a_grade(label: Any, score: float, failure: str) -> None:
    got = as_grader(lambda answer, item: label)(Answer(text="x"), ITEMS[0])
    assert (got.score, got.failure) == (score, failure)


@pytest.mark.parametrize("fault", [ValueError("no"), SystemExit(3)])
def test_a_grader_that_raises_is_counted_apart(fault: BaseException) -> None:
    def broken(answer: Answer, item: Item) -> bool:
        raise fault

    (grade,) = grade_all(as_grader(broken), [(Answer(text="x"), ITEMS[0])])
    assert (grade.score, grade.failure, grade.grader) == (None, "grader_error", "broken")


def test_a_function_of_a_notebook_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "_registered", {})
    with pytest.raises(EvalSetError, match="register_function"):
        grader_for(evalset("function:polite"))

    def polite(text: str, item: Item) -> bool:
        return "please" in text

    register_function(polite)
    assert grader_for(evalset("function:polite"))(Answer(text="yes, please"), ITEMS[0]).verdict == "pass"


def test_a_good_grader_can_tell() -> None:
    result = self_test(
        evalset("mine"), as_grader(lambda text, item: text == item.row["answer"]), lambda i: i.row["answer"]
    )
    assert (result.slips, result.n_right, result.n_undecided) == ((), 3, 0)


def test_a_grader_that_praises_everything_is_found() -> None:
    result = self_test(evalset("mine"), as_grader(lambda text, item: True), lambda i: i.row["answer"])
    assert {(slip.item, slip.reply) for slip in result.slips} >= {(item.id, "empty reply") for item in ITEMS}
    assert {slip.what for slip in result.slips} == {"passed", "passed, as did all like it"}


def test_a_grader_that_fails_its_reference_or_breaks_is_found() -> None:
    result = self_test(evalset("mine"), as_grader(lambda text, item: False), lambda i: i.row["answer"])
    assert [slip.what for slip in result.slips] == ["judged wrong"] * 3
    broken = self_test(evalset("mine"), as_grader(lambda text, item: 1 / 0), lambda i: i.row["answer"])
    assert {slip.what for slip in broken.slips} == {"the grader broke"}


@pytest.mark.parametrize(
    ("assertion", "right", "wrong"),
    [
        ({"type": "equals", "value": "Paris"}, " Paris\n", "Paris."),
        ({"type": "icontains", "value": "PARIS"}, "in Paris", "in Rome"),
        ({"type": "not-contains", "value": "Rome"}, "Paris", "Rome"),
        ({"type": "contains-any", "value": ["a1", "b2"]}, "b2", "c3"),
        ({"type": "regex", "value": "^[0-9]+ km"}, "12 km", "km"),
        ({"type": "is-json"}, '{"a": 1}', "a: 1"),
    ],
)
def test_assertions(assertion: dict[str, Any], right: str, wrong: str) -> None:
    item = Item(id="a", row={"assert": [assertion]})
    grader = grader_for(evalset("assertions", (item,)))
    verdicts = [grader(Answer(text=text), item).verdict for text in (right, wrong, "")]
    assert verdicts == ["pass", "fail", "fail"]


@pytest.mark.parametrize("pattern", ["(a+)+b", "(a|a)*b", r"(a)\1", "a*a*a*a*b", "(", "x" * 2_000])
def test_patterns_that_may_take_for_ever_are_refused(pattern: str) -> None:
    with pytest.raises(EvalSetError):
        compiled(pattern, "here")


def test_a_pattern_is_found_at_the_end_of_a_long_reply() -> None:
    assert found(*compiled("[0-9]+", "here"), "x" * 100_000 + "7")
