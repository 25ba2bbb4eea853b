"""Rules of form: each with a reply that keeps it and one that does not; unknown names are errors."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from speedqual.errors import EvalSetError
from speedqual.grading.format import make
from speedqual.grading.formatrules import RULES
from speedqual.records import Answer, EvalSet, Grade, GraderSpec, Item

SCHEMA = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}, "additionalProperties": False}
TABLE = "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |"

CASES: list[tuple[dict[str, Any], str, str]] = [
    ({"rule": "line_characters", "exactly": 2}, "火车\n飞机", "火车\n自行车"),
    ({"rule": "words", "max": 3}, "one two three", "one two three four"),
    ({"rule": "words", "min": 2}, "well-known man", "well-known"),
    ({"rule": "words", "exactly": 4}, "今天下雨", "今天下大雨"),
    ({"rule": "characters", "max": 5}, "a b c d e", "a b c d e f"),
    ({"rule": "sentences", "exactly": 2}, "It costs 3.50 euros. Take it!", "One. Two. Three."),
    ({"rule": "sentences", "exactly": 2}, "下雨了。带伞吧！", "下雨了。带伞吧！走。"),
    ({"rule": "sentences", "exactly": 1}, "No end mark", "Here you are:\n\nNo end mark"),
    ({"rule": "paragraphs", "exactly": 2}, "a\n\nb", "a\nb"),
    ({"rule": "lines", "exactly": 2}, "a\n\nb", "a"),
    ({"rule": "bullets", "exactly": 2}, "- a\n* b", "- a\n- b\n- c"),
    ({"rule": "bullets", "exactly": 0}, "-5 degrees and *bold*", "- five"),
    ({"rule": "numbered", "exactly": 2}, "1. a\n2) b", "1. a"),
    ({"rule": "numbered", "exactly": 0}, "1.5 kg of flour", "1. flour"),
    ({"rule": "headings", "exactly": 1}, "## A\ntext", "##A\ntext"),
    ({"rule": "emoji", "exactly": 1}, "ok 🎉", "ok"),
    ({"rule": "digits", "exactly": 0}, "five", "5"),
    ({"rule": "commas", "exactly": 0}, "a and b", "苹果，梨"),
    ({"rule": "contains", "texts": ["Sea", "sky"]}, "sea and SKY", "sea"),
    ({"rule": "avoids", "text": "because"}, "since", "Because"),
    ({"rule": "avoids_words", "text": "the"}, "other theme", "The sea"),
    ({"rule": "times", "text": "cup", "exactly": 2}, "a cup, a Cup", "a cup"),
    ({"rule": "starts_with", "text": "Dear"}, " Dear Ann", "dear Ann"),
    ({"rule": "ends_with", "text": "the end."}, "It is the end.\n", "It is the end"),
    ({"rule": "one_of", "texts": ["yes", "no"]}, "yes\n", "yes."),
    ({"rule": "case", "is": "upper"}, "A 1!", "A b"),
    ({"rule": "case", "is": "lower"}, "ab 1", "123"),
    ({"rule": "language", "is": "en"}, "The cat is on the mat", "Die Katze ist auf der Matte"),
    ({"rule": "language", "is": "de"}, "Die Katze ist auf der Matte", "Le chat est sur la table"),
    ({"rule": "language", "is": "fr"}, "Le chat est sur la table", "El gato es de la casa"),
    ({"rule": "language", "is": "es"}, "El gato y los perros son de la casa", "The cat is on the mat"),
    ({"rule": "language", "is": "zh"}, "猫在垫子上。", "猫は畳の上です。"),
    ({"rule": "language", "is": "ja"}, "猫は畳の上です。", "猫在垫子上。"),
    ({"rule": "language", "is": "ko"}, "고양이가 있습니다", "a cat"),
    ({"rule": "language", "is": "ru"}, "Кошка на столе", "Koshka na stole"),
    ({"rule": "table", "columns": 2, "rows": 2}, TABLE, TABLE + "\n| 5 | 6 |"),
    ({"rule": "table", "columns": 2, "rows": 2}, TABLE, "a, b\n1, 2"),
    ({"rule": "sorted"}, "- apple\n- Pear\n- plum", "- pear\n- apple"),
    ({"rule": "acrostic", "text": "AB"}, "All\nbirds", "All\ncats"),
    ({"rule": "no_fence"}, "x = 1", "```\nx = 1\n```"),
    ({"rule": "quoted"}, '"so it is"', 'he said "so"'),
    ({"rule": "json"}, '{"a": 1}', 'Here: {"a": 1}'),
    ({"rule": "json"}, "[1]", "[1,]"),
    ({"rule": "json", "schema": SCHEMA}, '{"n": 1}', '{"n": "1"}'),
    ({"rule": "json", "schema": SCHEMA}, '{"n": 1}', '{"n": 1, "m": 2}'),
    ({"rule": "json", "fence": True}, '```json\n{"a": 1}\n```', "```json\n{a: 1}\n```"),
    ({"rule": "json"}, '{"a": 1}', '```json\n{"a": 1}\n```'),
    ({"rule": "json"}, '{"a": 1}', '{"a": NaN}'),
]


def evalset(*rules: Any, options: dict[str, Any] | None = None) -> EvalSet:
    item = Item(id="a", row={"rules": list(rules)})
    return EvalSet(name="s", task="format", items=(item,), grader=GraderSpec(name="format", options=options or {}))


def grade(text: str, *rules: Any, **answer: Any) -> Grade:
    found = evalset(*rules)
    return make(found)(Answer(text=text, **answer), found.items[0])


@pytest.mark.parametrize(("rule", "kept", "broken"), CASES)
def test_each_rule(rule: dict[str, Any], kept: str, broken: str) -> None:
    right, wrong = grade(kept, rule), grade(broken, rule)
    assert (right.score, right.verdict, right.failure) == (1.0, "pass", "none"), right.why
    assert (wrong.score, wrong.verdict, wrong.failure) == (0.0, "fail", "wrong_format")
    assert wrong.parts["rules"] == {rule["rule"]: False} and wrong.why


def test_every_rule_has_a_case() -> None:
    assert {rule["rule"] for rule, _, _ in CASES} == set(RULES)


@pytest.mark.parametrize(
    "rule",
    [
        {"rule": "wrods", "max": 3},
        {"rule": "keywords:existance"},
        {"rule": ["words"]},
        {"max": 3},
        "words",
        {"rule": "words"},
        {"rule": "words", "most": 3},
        {"rule": "words", "max": "3"},
        {"rule": "words", "max": True},
        {"rule": "words", "min": 5, "max": 3},
        {"rule": "contains"},
        {"rule": "contains", "text": ""},
        {"rule": "times", "text": "a"},
        {"rule": "case", "is": "title"},
        {"rule": "language", "is": "klingon"},
        {"rule": "table", "columns": 0, "rows": 1},
        {"rule": "sorted", "by": "length"},
        {"rule": "json", "schema": {"type": "objekt"}},
        {"rule": "json", "schema": {"oneOf": []}},
        {"rule": "json", "fence": "yes"},
    ],
)
def test_what_is_not_known_is_an_error_when_the_set_is_loaded(rule: Any) -> None:
    with pytest.raises(EvalSetError, match=r"item a, rules\[0\]"):
        make(evalset(rule))


def test_no_rules_and_unknown_options_are_errors() -> None:
    with pytest.raises(EvalSetError, match="no rules"):
        make(evalset())
    with pytest.raises(EvalSetError, match="no option"):
        make(evalset({"rule": "no_fence"}, options={"mode": "loose"}))


def test_a_limit_of_words_is_a_limit() -> None:
    rule = {"rule": "words", "max": 100}
    assert grade("word " * 100, rule).verdict == "pass"
    assert grade("word " * 101, rule).verdict == "fail"


def test_lenient_looks_past_fence_announcement_and_emphasis() -> None:
    json_rule, words = {"rule": "json"}, {"rule": "starts_with", "text": "{"}
    for text in ('```json\n{"a": 1}\n```', 'Here it is:\n\n{"a": 1}', 'Here it is:\n```\n{"a": 1}\n```'):
        found = grade(text, json_rule, words)
        assert (found.score, found.score_lenient) == (0.0, 1.0), text
    half = grade("one two", {"rule": "words", "exactly": 2}, {"rule": "contains", "text": "three"})
    assert (half.score, half.score_lenient) == (0.0, 0.5)
    assert half.parts == {"rules": {"words": True, "contains": False}, "kept": 1}


def test_thinking_is_not_part_of_the_reply() -> None:
    assert grade("<think>one two three</think>one", {"rule": "words", "max": 1}).verdict == "pass"


@pytest.mark.parametrize(
    ("text", "stop", "failure"),
    [
        ("", "stop", "no_answer"),
        ("I can't help with that.", "stop", "refused"),
        ("", "length", "truncated"),
        ("one two", "length", "truncated"),
    ],
)
def test_no_reply_keeps_a_rule(text: str, stop: Any, failure: str) -> None:
    found = grade(text, {"rule": "words", "max": 50}, stop=stop)
    assert (found.score, found.failure) == (0.0, failure)


def test_two_rules_of_one_name_are_told_apart() -> None:
    found = grade("a b", {"rule": "contains", "text": "a"}, {"rule": "contains", "text": "c"})
    assert found.parts["rules"] == {"contains": True, "contains 2": False}


@given(st.text(max_size=300), st.sampled_from([rule for rule, _, _ in CASES]))
def test_it_never_raises_and_passes_nothing_empty(text: str, rule: dict[str, Any]) -> None:
    found = grade(text, rule)
    assert found == grade(text, rule) and found.score in (0.0, 1.0)
    assert text.strip() or found.score == 0.0
    assert found.score_lenient is not None and found.score <= found.score_lenient <= 1.0


@pytest.mark.parametrize(
    "text", ["- " * 50_000, "a." * 100_000, "|" * 100_000, "`" * 100_000, ":\n" * 50_000, "[" * 90_000]
)
def test_long_replies_take_no_time(text: str) -> None:
    every = [rule for rule, _, _ in CASES]
    assert grade(text, *every).score == 0.0
