"""A prompt: system, examples, item; all that is the same for every item comes first."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from speedqual.errors import EvalSetError
from speedqual.evalsets import build_prompt, load
from speedqual.records import Candidate, EvalSet, GraderSpec, Item, Message

from .conftest import ROWS, Make

PLAIN = Candidate(name="plain")
SHOTS = [
    {"id": "s1", "text": "three yen", "target": {"total": 3, "currency": "日元"}},
    {"id": "s2", "text": "four", "target": {"total": 4, "currency": None}},
    {"id": "s3", "text": "five", "target": {"total": 5}, "answer": "just five"},
]
FEWSHOT = {"fewshot.jsonl": "\n".join(json.dumps(row) for row in SHOTS)}


def turns(evalset: EvalSet, candidate: Candidate = PLAIN, number: int = 0) -> list[tuple[str, Any]]:
    prompt = build_prompt(evalset, evalset.items[number], candidate)
    return [(message.role, message.content) for message in prompt.messages]


def settings(more: str = "") -> str:
    return f"speedqual: {{task: extraction, prompt: 'Read: {{text}}', system: Be exact.{more}}}\n"


def test_zero_shots(make: Make) -> None:
    evalset = load(make(settings(", max_tokens: 9, stop: '#'")))
    assert turns(evalset) == [("system", "Be exact."), ("user", "Read: one euro")]
    prompt = build_prompt(evalset, evalset.items[0], PLAIN)
    assert (prompt.max_tokens, prompt.stop) == (9, ("#",))


def test_examples_are_turns_before_the_item(make: Make) -> None:
    evalset = load(make(settings(", fewshot: {n: 2}"), files=FEWSHOT))
    assert turns(evalset) == [
        ("system", "Be exact."),
        ("user", "Read: three yen"),
        ("assistant", '{"total": 3, "currency": "日元"}'),
        ("user", "Read: four"),
        ("assistant", '{"total": 4, "currency": null}'),
        ("user", "Read: one euro"),
    ]


def test_the_candidate_wins(make: Make) -> None:
    evalset = load(make(settings(", fewshot: {n: 2}"), files=FEWSHOT))
    assert turns(evalset, Candidate(name="c", shots=0, system="")) == [("user", "Read: one euro")]
    assert turns(evalset, Candidate(name="c", shots=0, system="Hi"))[0] == ("system", "Hi")
    three = turns(evalset, Candidate(name="c", shots=3))
    assert three[-2] == ("assistant", "just five"), "the column answer wins over the target"
    assert three[:5] == turns(evalset)[:5], "more examples go on where fewer ended"


@pytest.mark.parametrize("shots", [-1, 4])
def test_more_examples_than_there_are(make: Make, shots: int) -> None:
    evalset = load(make(settings(), files=FEWSHOT))
    with pytest.raises(EvalSetError, match=f"greedy asks for {shots} examples and the set has 3"):
        turns(evalset, Candidate(name="greedy", shots=shots))


def test_a_seed_shuffles_the_examples_once_and_for_all(make: Make) -> None:
    orders = {
        tuple(item.id for item in load(make(settings(f", fewshot: {{n: 1, seed: {seed}}}"), files=FEWSHOT)).fewshot)
        for seed in range(12)
    }
    assert len(orders) > 1 and all(sorted(order) == ["s1", "s2", "s3"] for order in orders)
    again = [load(make(settings(", fewshot: {n: 1, seed: 7}"), files=FEWSHOT)) for _ in range(2)]
    assert again[0] == again[1]


def test_too_few_examples_in_the_file(make: Make) -> None:
    with pytest.raises(EvalSetError, match=r"fewshot\.n is 4, and fewshot\.jsonl has 3 rows"):
        load(make(settings(", fewshot: {n: 4}"), files=FEWSHOT))


@given(st.integers(0, 3), st.text(min_size=1), st.text())
def test_what_comes_before_the_item_is_the_same_for_all(shots: int, one: str, two: str) -> None:
    shot_items = tuple(Item(id=row["id"], row=row, target=row["target"]) for row in SHOTS)
    items = tuple(Item(id=str(n), row={"text": text}) for n, text in enumerate((one, two)))
    evalset = EvalSet(
        name="s",
        task="extraction",
        items=items,
        grader=GraderSpec(name="extraction"),
        prompt="{text}",
        system="S",
        fewshot=shot_items,
    )
    candidate = Candidate(name="c", shots=shots)
    first, second = (build_prompt(evalset, item, candidate).messages for item in items)
    assert first[:-1] == second[:-1] and len(first) == 2 + 2 * shots
    assert (first[-1].content, second[-1].content) == (one, two)


def test_messages_of_the_card_are_filled(make: Make) -> None:
    card = """speedqual:
  task: extraction
  messages: [{role: system, content: Be kind.}, {role: user, content: "{id}"}, {role: assistant, content: ok},
    {role: user, content: "{text}"}]
"""
    assert turns(load(make(card))) == [("system", "Be kind."), ("user", "a"), ("assistant", "ok"), ("user", "one euro")]


def test_messages_of_a_row_win_and_are_not_filled(make: Make) -> None:
    own = [
        {"role": "system", "content": "I am {text}."},
        {"role": "user", "content": "My cat is Tom."},
        {"role": "assistant", "content": "Noted."},
        {"role": "user", "content": "Who is {text}?"},
    ]
    rows = [{"id": "a", "target": {"x": 1}, "messages": own}, {**ROWS[1], "messages": None}]
    evalset = load(make(settings(), rows))
    assert turns(evalset) == [
        ("system", "Be exact.\n\nI am {text}."),
        ("user", "My cat is Tom."),
        ("assistant", "Noted."),
        ("user", "Who is {text}?"),
    ]
    assert turns(evalset, number=1)[-1] == ("user", "Read: two pounds")


def test_a_set_of_messages_needs_no_prompt(make: Make) -> None:
    parts = [{"type": "text", "text": "What is this?"}, {"type": "image", "media_type": "image/png", "data": "AA=="}]
    rows = [{"id": "a", "target": {"x": 1}, "messages": [{"role": "user", "content": parts}]}]
    evalset = load(make("speedqual: {task: extraction}\n", rows))
    assert evalset.prompt == "" and turns(evalset) == [("user", parts)]


@pytest.mark.parametrize(
    ("grader", "row", "shown"),
    [
        ("extraction", {"target": {"answer": 4}}, '{"answer": 4}'),
        ("exact", {"target": {"answer": 4}}, "4"),
        ("facts", {"target": {"answer": "Not stated."}}, "Not stated."),
        ("exact", {"target": {"answer": 4, "unit": "m"}}, '{"answer": 4, "unit": "m"}'),
        ("facts", {"answer": "Tom.", "target": {"x": 1}}, "Tom."),
        ("code", {"reference": "x = 1\n", "language": "javascript"}, "```javascript\nx = 1\n```"),
        ("code", {"reference": "x = 1"}, "```python\nx = 1\n```"),
        ("facts", {"reference": "Tom."}, "Tom."),
    ],
)
def test_how_an_example_shows_its_answer(grader: str, row: dict[str, Any], shown: str) -> None:
    example = Item(id="e", row={"text": "q", **row}, target=row.get("target"))
    evalset = EvalSet(
        name="s",
        task=grader,
        items=(example,),
        grader=GraderSpec(name=grader),
        prompt="{text}",
        fewshot=(example,),
        shots=1,
    )
    assert build_prompt(evalset, example, PLAIN).messages[1] == Message("assistant", shown)
