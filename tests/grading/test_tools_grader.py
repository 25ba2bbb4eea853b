"""Function calls: the right one with the right arguments and types, and nothing that nobody asked for."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from speedqual.errors import EvalSetError
from speedqual.grading.tools import make
from speedqual.records import Answer, EvalSet, Grade, GraderSpec, Item, ToolCall

PROPERTIES = {
    "city": {"type": "string"},
    "days": {"type": "integer", "default": 1},
    "rain": {"type": "boolean"},
    "tags": {"type": "array", "items": {"type": "string"}},
    "unit": {"type": "string", "enum": ["c", "f"], "default": "c"},
}
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"properties": PROPERTIES, "required": ["city"]}}}
    for name in ("weather", "forecast")
]
CALL = {"name": "weather", "arguments": {"city": "Oslo", "days": 3}}


def evalset(target: Any, tools: Any = TOOLS, options: dict[str, Any] | None = None) -> EvalSet:
    item = Item(id="a", row={"tools": tools}, target=target)
    return EvalSet(name="s", task="tools", items=(item,), grader=GraderSpec(name="tools", options=options or {}))


def grade(target: Any, *calls: tuple[str, Any], text: str = "", **answer: Any) -> Grade:
    found = evalset(target)
    made = tuple(ToolCall(name, args if isinstance(args, str) else json.dumps(args)) for name, args in calls)
    return make(found)(Answer(text=text, tool_calls=made, **answer), found.items[0])


def one(arguments: Any, name: str = "weather", wanted: dict[str, Any] = CALL) -> Grade:
    return grade({"calls": [wanted]}, (name, arguments))


@pytest.mark.parametrize(
    "arguments",
    [
        {"city": "Oslo", "days": 3},
        {"days": 3.0, "city": "oslo "},
        {"city": "Oslo", "days": 3, "unit": "c"},
        {"city": "Oslo", "days": 3, "rain": None},
    ],
)
def test_right_calls(arguments: dict[str, Any]) -> None:
    found = one(arguments)
    assert (found.score, found.score_lenient, found.verdict, found.failure) == (1.0, 1.0, "pass", "none"), found.why


@pytest.mark.parametrize(
    ("arguments", "failure"),
    [
        ({"city": "Bergen", "days": 3}, "wrong_field"),
        ({"city": "Oslo", "days": 4}, "wrong_field"),
        ({"city": "Oslo", "days": True}, "wrong_field"),
        ({"city": ["Oslo", "Bergen"], "days": 3}, "wrong_field"),
        ({"city": "Oslo"}, "omission"),
        ({"days": 3}, "omission"),
        ({"city": "Oslo", "days": 3, "unit": "f"}, "invented_field"),
        ({"city": "Oslo", "days": 3, "rain": False}, "invented_field"),
        ({"city": "Oslo", "days": 3, "country": "Norway"}, "invented_field"),
        ("{'city': 'Oslo'", "wrong_format"),
        ("[1]", "wrong_format"),
        ("", "omission"),
    ],
)
def test_wrong_arguments(arguments: Any, failure: str) -> None:
    found = one(arguments)
    assert (found.score, found.score_lenient, found.failure) == (0.0, 0.0, failure), found.why


@pytest.mark.parametrize("days", ["3", " 3.0", "３"])
def test_a_number_as_text_is_right_only_leniently(days: str) -> None:
    found = one({"city": "Oslo", "days": days})
    assert (found.score, found.score_lenient, found.failure) == (0.0, 1.0, "wrong_field")


def test_types_of_other_values() -> None:
    wanted = {"name": "weather", "arguments": {"city": "0042", "rain": True, "tags": ["x"]}}
    assert one({"city": "0042", "rain": True, "tags": ["x"]}, wanted=wanted).score == 1.0
    assert one({"city": 42, "rain": True, "tags": ["x"]}, wanted=wanted).score_lenient == 0.0, "leading zeros stay"
    assert one({"city": "0042", "rain": "true", "tags": "x"}, wanted=wanted).score_lenient == 1.0
    assert one({"city": "0042", "rain": 1, "tags": ["x"]}, wanted=wanted).score_lenient == 0.0
    assert one({"city": "0042", "rain": True, "tags": ["x", "y"]}, wanted=wanted).failure == "wrong_field"


def test_other_right_values() -> None:
    wanted = CALL | {"accept": {"city": ["Christiania"], "unit": ["f"]}}
    assert one({"city": "Christiania", "days": 3, "unit": "f"}, wanted=wanted).verdict == "pass"
    assert one({"city": "Kristiansand", "days": 3}, wanted=wanted).verdict == "fail"


def test_a_default_may_be_left_out() -> None:
    wanted = {"name": "weather", "arguments": {"city": "Oslo", "days": 1}}
    assert one({"city": "Oslo"}, wanted=wanted).verdict == "pass"


def test_which_function() -> None:
    args = CALL["arguments"]
    assert one(args, name="forecast").failure == "wrong_result"
    assert one(args, name="get_weather").failure == "wrong_result"
    assert grade({"calls": [CALL]}, ("weather", args), ("forecast", args)).failure == "invented_field"
    assert grade({"calls": [CALL]}, text="It is cold in Oslo.").failure == "no_answer"
    assert grade({"calls": [CALL]}, text="I can't help with that.").failure == "refused"
    assert grade({"calls": [CALL]}, text="It is", stop="length").failure == "truncated"
    assert grade({"calls": [CALL]}).failure == "no_answer"


def test_several_calls_in_any_order() -> None:
    oslo, rome = {"city": "Oslo"}, {"city": "Rome"}
    target = {"calls": [{"name": "weather", "arguments": oslo}, {"name": "weather", "arguments": rome}]}
    assert grade(target, ("weather", rome), ("weather", oslo)).verdict == "pass"
    assert grade(target, ("weather", rome)).failure == "omission"
    assert grade(target, ("weather", rome), ("forecast", oslo)).failure == "wrong_result"
    assert grade(target, ("weather", rome), ("weather", rome)).failure == "wrong_field"
    assert grade(target, ("weather", rome), ("weather", oslo), ("weather", oslo)).failure == "invented_field"


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(CALL),
        f"```json\n{json.dumps([CALL])}\n```",
        json.dumps({"tool_calls": [{"type": "function", "function": CALL}]}),
        json.dumps({"name": "weather", "parameters": CALL["arguments"]}),
    ],
)
def test_a_call_in_the_text_is_right_only_leniently(text: str) -> None:
    found = grade({"calls": [CALL]}, text=text)
    assert (found.score, found.score_lenient, found.failure) == (0.0, 1.0, "wrong_format"), found.why
    assert "call_in_text" in found.flags


def test_where_no_function_fits_none_is_called() -> None:
    assert grade({"calls": []}, text="Late.").verdict == "pass"
    assert grade({"calls": []}, ("weather", {"city": "Oslo"})).failure == "invented_field"
    assert grade({"calls": []}, text=json.dumps(CALL)).failure == "invented_field"
    assert grade({"calls": []}).failure == "no_answer"
    assert grade({"calls": []}, stop="length").failure == "truncated"


def test_an_answer_from_a_result() -> None:
    assert grade({"answer": 14}, text="It is 14 degrees.").verdict == "pass"
    assert grade({"answer": 14}, text="It is 15 degrees.").verdict == "fail"
    assert grade({"answer": 14}, ("weather", {"city": "Oslo"})).failure == "no_answer"
    assert grade({"answer": 14}).failure == "no_answer"
    assert grade({"answer": 14}, text='{"temperature": 14, "wind": 9}').failure == "wrong_format", "repeats the result"


@pytest.mark.parametrize(
    ("target", "what"),
    [
        (None, "neither calls nor an answer"),
        ({"calls": "weather"}, "neither calls nor an answer"),
        ({"calls": [{"name": "weather"}]}, "no name or arguments"),
        ({"calls": [{"name": "wether", "arguments": {"city": "Oslo"}}]}, "no function 'wether'"),
        ({"calls": [{"name": "weather", "arguments": {"town": "Oslo"}}]}, "no argument 'town'"),
        ({"calls": [{"name": "weather", "arguments": {}}]}, "required argument 'city'"),
        ({"calls": [CALL | {"accept": {"town": ["Oslo"]}}]}, "no argument 'town'"),
    ],
)
def test_a_target_that_makes_no_sense_is_an_error(target: Any, what: str) -> None:
    with pytest.raises(EvalSetError, match=what):
        make(evalset(target))


def test_no_tools_and_unknown_options_are_errors() -> None:
    with pytest.raises(EvalSetError, match="no function 'weather'"):
        make(evalset({"calls": [CALL]}, tools=None))
    with pytest.raises(EvalSetError, match="no option"):
        make(evalset({"calls": [CALL]}, options={"order": True}))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@given(st.text(max_size=100) | JSON.map(json.dumps), st.text(max_size=40), st.sampled_from(["weather", "forecast", ""]))
def test_it_never_raises_and_passes_nothing_empty(arguments: str, text: str, name: str) -> None:
    for target in ({"calls": [CALL]}, {"calls": []}, {"answer": 14}):
        found = grade(target, (name, arguments), text=text)
        assert found == grade(target, (name, arguments), text=text)
        assert found.score in (0.0, 1.0)
    assert grade({"calls": [CALL]}, (name, arguments)).score == 0.0 or "Oslo" in arguments
