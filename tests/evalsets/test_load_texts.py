"""What a load test asks: lengths, known answers, shared beginnings, and lines that make a prompt unique."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import takewhile

import pytest

from speedqual.evalsets import build_prompt
from speedqual.evalsets.generators.load_prefixes import Differs, prefix_pairs
from speedqual.evalsets.generators.load_texts import long_input, long_output, short_text
from speedqual.evalsets.generators.unique import made_unique, unique_line
from speedqual.grading.base import grader_for
from speedqual.records import Answer, Candidate, EvalSet, Item, Message, Prompt

ASKED = Candidate(name="m")


def grade_of(evalset: EvalSet, item: Item, text: str, **how: str) -> tuple[float | None, str]:
    grade = grader_for(evalset)(Answer(text=text, **how), item)
    return grade.score, grade.failure


def test_a_seed_makes_the_same_sets_in_every_process() -> None:
    code = (
        "from speedqual.evalsets.generators import load_texts as t, load_prefixes as p;"
        "print(t.short_text(3).hash, t.long_input(300, 3).hash, t.long_output(80, 3).hash, p.prefix_pairs(300, 0.5, 3).hash)"
    )
    environ = {**os.environ, "PYTHONHASHSEED": "77"}
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environ).stdout
    here = [short_text(3), long_input(300, 3), long_output(80, 3), prefix_pairs(300, 0.5, 3)]
    assert said.split() == [evalset.hash for evalset in here]
    assert short_text(4).hash != here[0].hash and long_input(300, 4).hash != here[1].hash


def test_short_questions_alternate_between_the_languages_and_are_graded() -> None:
    evalset = short_text()
    assert [item.language for item in evalset.items] == ["en", "zh"] * 24
    assert len({item.id for item in evalset.items}) == 48
    item = evalset.items[0]
    assert grade_of(evalset, item, f"So it is that.\nAnswer: {item.target['answer']}") == (1.0, "none")
    assert grade_of(evalset, item, "Answer: 3")[0] == 0.0
    assert [item.language for item in short_text(langs=("zh",)).items] == ["zh"] * 24


@pytest.mark.parametrize("tokens", [100, 1000, 20_000])
def test_long_inputs_have_their_length_and_hold_their_answer(tokens: int) -> None:
    evalset = long_input(tokens)
    for item in evalset.items:
        text = str(build_prompt(evalset, item, ASKED).messages[0].content)
        chars = tokens * {"en": 4.6, "zh": 1.5}[item.language]
        assert chars <= len(text) + 2 and len(text) <= chars + 420  # the last sentence, and the question
        assert str(item.target["answer"]) in text
        assert grade_of(evalset, item, str(item.target["answer"])) == (1.0, "none")
        assert grade_of(evalset, item, "123")[0] == 0.0


def test_lengths_ask_the_same_questions_under_the_same_ids() -> None:
    short, long = long_input(200), long_input(2000)
    assert [(item.id, item.target, item.row["question"]) for item in short.items] == [
        (item.id, item.target, item.row["question"]) for item in long.items
    ]
    starts = {item.row["text"][:30] for evalset in (short, long) for item in evalset.items}
    assert len(starts) > len(short.items)  # no length begins like another


def test_long_outputs_run_into_their_limit_and_pass_when_they_keep_to_the_task() -> None:
    evalset = long_output(600, n=3)
    assert (evalset.max_tokens, len(evalset.items)) == (600, 6)
    assert "1200" in evalset.items[0].row["task"]
    hero = evalset.items[1].row["assert"][0]["value"]
    assert grade_of(evalset, evalset.items[1], f"{hero}每天都撑船过河", stop="length") == (1.0, "none")
    assert grade_of(evalset, evalset.items[1], "从前有一个人", stop="length")[1] == "truncated"


# ------------------------------------------------------------------------------------------------- shared prefixes


def pairs_of(evalset: EvalSet) -> list[tuple[Item, Item]]:
    assert [item.row["note"] for item in evalset.items] == ["cold", "warm"] * (len(evalset.items) // 2)
    return list(zip(evalset.items[::2], evalset.items[1::2], strict=True))


def alike(a: str, b: str) -> int:
    return sum(1 for _ in takewhile(lambda two: two[0] == two[1], zip(a, b, strict=False)))


@pytest.mark.parametrize("differs", ["rest", "line"])
@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 0.75])
def test_pairs_begin_alike_for_their_share(share: float, differs: Differs) -> None:
    for cold, warm in pairs_of(prefix_pairs(1000, share, differs=differs, n=3)):
        a, b = cold.row["text"], warm.row["text"]
        assert abs(alike(a, b) - share * len(a)) < 0.06 * len(a)
        after = alike(a[::-1], b[::-1])
        assert (after > 0.9 * (1 - share) * len(a)) is (differs == "line")
        assert cold.target != warm.target
        assert str(cold.target["answer"]) in a and str(cold.target["answer"]) not in b
        assert cold.row["question"] == warm.row["question"]
        assert (cold.row["prefix"] == warm.row["prefix"]) is (share > 0)


def test_a_whole_prefix_is_the_same_prompt_twice() -> None:
    for cold, warm in pairs_of(prefix_pairs(500, 1.0, n=2)):
        assert (cold.row["text"], cold.target) == (warm.row["text"], warm.target)
        assert cold.id != warm.id


# ---------------------------------------------------------------------------------------------------------- unique


def test_a_unique_line_comes_before_everything() -> None:
    item = Item(id="a", row={})
    prompt = Prompt(messages=(Message("system", "Be brief."), Message("user", "How many?")), max_tokens=7)
    made = [made_unique(prompt, item, number, "run", "m") for number in range(500)]
    assert all(
        str(one.messages[0].content).endswith("Be brief.") and one.messages[1:] == prompt.messages[1:] for one in made
    )
    assert all(one.max_tokens == 7 and one.messages[0].role == "system" for one in made)
    drawn = [str(one.messages[0].content).split()[1] for one in made]
    assert len(set(drawn)) == 500
    assert len({text[:4] for text in drawn}) > 490  # they part within the first token or two
    assert made_unique(prompt, item, 3, "run", "m") == made[3]
    assert made_unique(prompt, item, 3, "another run", "m") != made[3]


def test_a_unique_line_speaks_the_language_of_the_item() -> None:
    chinese = Prompt(messages=(Message("user", "一共多少？"),))
    assert str(made_unique(chinese, Item(id="a", row={}), 0).messages[0].content).startswith("编号 ")
    named = made_unique(chinese, Item(id="a", row={}, language="en"), 0)
    assert str(named.messages[0].content).startswith("Reference ")
    assert not any(character.isdigit() for character in unique_line("en", 1, 2, 3))


def test_items_of_one_prefix_share_their_line() -> None:
    evalset = prefix_pairs(100, 0.5, n=2, langs=("en",))
    lines = [
        str(made_unique(build_prompt(evalset, item, ASKED), item, number, "run").messages[0].content).split("\n")[0]
        for number, item in enumerate(evalset.items)
    ]
    assert lines[0] == lines[1] != lines[2] == lines[3]


def test_a_prompt_of_parts_gets_its_line_as_a_part() -> None:
    picture = {"type": "image", "media_type": "image/png", "data": "AA=="}
    prompt = Prompt(messages=(Message("user", [picture]),))
    content = made_unique(prompt, Item(id="a", row={}), 0).messages[0].content
    assert isinstance(content, list)
    assert content[0]["type"] == "text" and content[1] == picture
