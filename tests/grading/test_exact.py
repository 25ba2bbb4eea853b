"""One exact answer in whatever words surround it: numbers, signs, fractions, lists, choices, strings."""

from __future__ import annotations

from typing import Any

import pytest

from speedqual.errors import EvalSetError
from speedqual.grading import exact
from speedqual.records import Answer, EvalSet, Grade, GraderSpec, Item


def grade(text: str, gold: Any, *, stop: Any = "stop", row: dict[str, Any] | None = None, **options: Any) -> Grade:
    item = Item(id="1", row=row or {}, target={"answer": gold})
    evalset = EvalSet(name="t", task="exact", items=(item,), grader=GraderSpec(name="exact", options=options))
    return exact.make(evalset)(Answer(text=text, stop=stop), item)


NUMBERS = [
    (
        29,
        [
            "$29.00", "29.", "**29**", "\\boxed{29}", "$\\boxed{29}$", "\\(29\\)", "the total is 29 clips, altogether.", "２９", "二十九",
            "twenty-nine", "29元", "#### 29", "The answer is 29.", "Answer: **29**", "答案是29。", "29.0", "So 10 + 19 = 29",
            "Let x = 10. Then 10+19 = 29. Therefore the answer is 29", "1. 29", "<think>28?</think>29", "29 (not 28)",
        ],
        ["290", "2.9", "-29", "28", "", "29 or 30", "not 29", "29%", "2 9", "129", "I can't help with that.", "The answer is not 29."],
    ),
    (-3, ["-3", "\u22123", "**-3**", "The answer is −3.", "x = -3", "负三", "minus three", "－３"], ["3", "between 2-3", "2-3", "-30", "+3"]),
    (0.333333333333, ["0.333333", "0.3333333333", ".333333"], ["0.33", "0.3334", "1/4"]),
    (3, ["3", "3.0", "three"], ["3.1", "3.0000001", "2 + 2"]),
    (3.142, ["3.142", "about 3.142"], ["3,142", "3.141"]),
    (1200000, ["1.2 million", "1,200,000", "120万", "1.2M"], ["1.2", "12万"]),
    (7, ["There are 12 apples. She eats 5. So 12 - 5 = 7.", "7天", "7 days"], ["12", "There are 12 apples."]),
    ([0.1, 0.2], ["[0.1, 0.2]", "[0.1000000001, 0.2]", "0.1 and 0.2"], ["[0.2, 0.1]", "[0.1]", "[0.1, 0.2, 0.3]", ""]),
]  # fmt: skip


@pytest.mark.parametrize(("gold", "right", "wrong"), NUMBERS, ids=[str(n[0]) for n in NUMBERS])
def test_numbers(gold: Any, right: list[str], wrong: list[str]) -> None:
    for text in right:
        assert grade(text, gold, type="number").verdict == "pass", text
    for text in wrong:
        assert grade(text, gold, type="number").verdict == "fail", text


CHOICES = {"choices": ["London", "Paris", "Rome"]}


@pytest.mark.parametrize(
    "text",
    [
        "B", "(B)", "B.", "b", "**B**", "The answer is B.", "Answer: B", "B) Paris", "答案是B", "选B", "故选 B", "Paris",
        "I choose B because A is wrong.", "A is not right. The correct answer is (B).", "It's Paris, of course.", "not A, B",
    ],
)  # fmt: skip
def test_the_right_choice(text: str) -> None:
    assert grade(text, "B", type="choice", row=CHOICES).verdict == "pass"


@pytest.mark.parametrize(
    "text",
    [
        "A",
        "C",
        "A or B",
        "not B",
        "",
        "The answer is A",
        "B and C",
        "London",
        "Paris or Rome",
        "A good question.",
        "I don't know.",
    ],
)
def test_a_wrong_choice_or_none(text: str) -> None:
    assert grade(text, "B", type="choice", row=CHOICES).verdict == "fail"


def test_strings() -> None:
    for text in ("Paris", "paris.", "The capital is Paris.", "It's Paris, not London", "ＰＡＲＩＳ"):
        assert grade(text, "Paris", type="string").verdict == "pass", text
    for text in ("London", "not Paris", "Paris or London", "", "Parisian"):
        assert grade(text, "Paris", type="string").verdict == "fail", text


def test_failures_are_told_apart() -> None:
    assert grade("30", 29).failure == "wrong_result"
    assert grade("29 or 30", 29).failure == "ambiguous"
    assert grade("", 29).failure == "no_answer"
    assert grade("I don't know.", 29).failure == "no_answer"
    assert grade("我无法提供帮助。", 29).failure == "refused"
    assert grade("First, let us see", 29, stop="length").failure == "truncated"
    assert grade("Let us see.", 29).failure == "no_answer"


def test_how_the_answer_was_found_is_told() -> None:
    assert grade("\\boxed{29}", 29).how == "boxed"
    assert grade("The answer is 29", 29).how == "the answer is"
    assert grade("29", 29).extracted == "29"


def test_slips_are_errors() -> None:
    with pytest.raises(EvalSetError, match="type is 'nummer'"):
        grade("29", 29, type="nummer")
    item = Item(id="1", row={}, target={"anwser": 1})
    with pytest.raises(EvalSetError, match="no answer"):
        exact.make(EvalSet(name="t", task="exact", items=(item,), grader=GraderSpec(name="exact")))


@pytest.mark.parametrize(
    ("text", "gold", "score", "lenient"),
    [
        ("Ada came in before Rosa. Who won?", "Ada", 0.0, 1.0),
        ("Ada came in before Rosa. So Ada won.", "Ada", 1.0, 1.0),
        ("Answer: Ada\nRosa was behind.", "Ada", 1.0, 1.0),
        ("The cups at 2 and 3 are swapped. At which place is the ball?", 3, 0.0, 1.0),
        ("二号和三号对调。所以球在三号。", 3, 1.0, 1.0),
        ("Rosa.", "Ada", 0.0, 0.0),
        ("", "Ada", 0.0, 0.0),
    ],
)
def test_final_takes_what_is_marked_or_said_last(text: str, gold: Any, score: float, lenient: float) -> None:
    found = grade(text, gold, final=True)
    assert (found.score, found.score_lenient) == (score, lenient), found.why


def test_final_is_true_or_false() -> None:
    with pytest.raises(EvalSetError, match="final is 'yes'"):
        grade("1", 1, final="yes")
