"""The examples of built-in sets: right by their own grader, and in no test."""

from __future__ import annotations

import json

import pytest

from speedqual.evalsets import build_prompt, builtin_names, load
from speedqual.evalsets.prompts import reference, turns
from speedqual.grading.base import grade_all, grader_for
from speedqual.records import Answer, Candidate

WITHOUT = {"memory", "tools"}
"""Conversations and calls: an example would be a second conversation in front of the first."""
SETS = [name for name in builtin_names() if name not in WITHOUT]


@pytest.mark.parametrize("name", SETS)
def test_examples_are_right_and_are_shown_only_when_asked_for(name: str) -> None:
    evalset = load(name)
    assert len(evalset.fewshot) >= 2 and evalset.shots == 0
    replies = [(Answer(text=reference(evalset, one), stop="stop"), one) for one in evalset.fewshot]
    assert [grade.verdict for grade in grade_all(grader_for(evalset), replies)] == ["pass"] * len(replies)
    bare, shown = (build_prompt(evalset, evalset.items[0], Candidate(name="a", shots=n)) for n in (0, 2))
    assert len(shown.messages) == len(bare.messages) + 4
    assert {turn.role for turn in shown.messages[-5:]} == {"user", "assistant"}


@pytest.mark.parametrize("name", SETS)
def test_no_example_is_in_a_test(name: str) -> None:
    seeds = ["", "#1", "#2"] if name in ("reasoning", "long_context") else [""]
    for seed in seeds:
        evalset = load(f"{name}{seed}@512" if name == "long_context" and seed else f"{name}{seed}")
        asked = {_text(evalset, item) for item in evalset.items}
        assert {item.id for item in evalset.items}.isdisjoint(item.id for item in evalset.fewshot)
        assert asked.isdisjoint(_text(evalset, one) for one in evalset.fewshot)


def _text(evalset: object, item: object) -> str:
    return json.dumps([str(turn.content) for turn in turns(evalset, item)], ensure_ascii=False)  # type: ignore[arg-type]
