"""The further sets that come with speedqual: counts, references, wrong answers, and items made from a seed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from speedqual.errors import EvalSetError
from speedqual.evalsets import build_prompt, check, generators, load
from speedqual.evalsets.minimal import minimal_sets
from speedqual.grading.base import Grader, grader_for
from speedqual.records import Answer, Candidate, EvalSet, Grade, Item, ToolCall

ROOT = Path(__file__).parents[2] / "evalsets"
GENERATED = ("long_context", "memory", "reasoning")
WRITTEN = ("chinese", "format", "safety", "tools")
NAMES = (*GENERATED, *WRITTEN)
AT_LEAST = {"long_context": 100, "reasoning": 100}
UNSURE = ("", "   \n", "I don't know.", "不知道。")
REFUSALS = ("I can't help with that.", "抱歉，我无法回答。")


@cache
def evalset(name: str) -> EvalSet:
    return load(name)


@cache
def grader(name: str) -> Grader:
    return grader_for(evalset(name))


def grade(name: str, item: Item, text: str, calls: list[dict[str, Any]] | None = None) -> Grade:
    made = tuple(ToolCall(call["name"], json.dumps(call["arguments"])) for call in calls or ())
    return grader(name)(Answer(text=text, stop="tool" if made else "stop", tool_calls=made), item)


# ------------------------------------------------------------------------------------------------------- every set


@pytest.mark.parametrize("name", NAMES)
def test_enough_items_in_every_tier_and_language(name: str) -> None:
    found = evalset(name)
    by = Counter((item.language, item.difficulty) for item in found.items)
    languages = ("zh",) if name == "chinese" else ("en", "zh")
    tiers = found.difficulty_order if name != "long_context" else ("512", "1k", "2k")
    assert len(found.items) >= AT_LEAST.get(name, 60)
    assert set(by) == {(lang, tier) for lang in languages for tier in tiers}
    assert min(by.values()) >= 8
    assert all(item.cluster for item in found.items)


@pytest.mark.parametrize("name", NAMES)
def test_the_card_says_what_it_holds(name: str) -> None:
    found, card = evalset(name), (ROOT / name / "README.md").read_text(encoding="utf-8")
    assert (found.licence, found.success_at, found.version) == ("cc-by-4.0", 1.0, "1.0")
    assert f"`floor: {found.floor}`" in card and f"`max_tokens: {found.max_tokens}`" in card
    assert f"\n{len(found.items)} " in card
    assert "## What it measures, and what it does not" in card and "does not measure" in " ".join(card.split())
    by = Counter((item.difficulty, item.language) for item in found.items)
    for tier in dict.fromkeys(item.difficulty for item in found.items):
        counts = f"{by[tier, 'zh']}" if name == "chinese" else f"{by[tier, 'en']} | {by[tier, 'zh']}"
        assert f"| {tier} | {counts} |" in card


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_check_finds_nothing(name: str) -> None:
    assert check(name) == []


@pytest.mark.parametrize("name", NAMES)
def test_requests_are_in_the_language_of_the_item(name: str) -> None:
    for item in evalset(name).items:
        prompt = build_prompt(evalset(name), item, Candidate(name="anyone"))
        asked = " ".join(str(turn.content) for turn in prompt.messages if turn.role == "user")
        assert bool(re.search(r"[\u4e00-\u9fff]", asked)) == (item.language == "zh"), item.id


@pytest.mark.parametrize("name", NAMES)
def test_no_answer_is_never_right(name: str) -> None:
    for item in evalset(name).items:
        target = item.target or {}
        wrong = UNSURE if target.get("expect") == "refuse" else UNSURE + REFUSALS
        for text in (
            UNSURE[:2] if target.get("calls") == [] else wrong
        ):  # where no call fits, words are all that is asked
            assert grade(name, item, text).verdict == "fail", (item.id, text)


def test_the_first_run_asks_only_the_short_items() -> None:
    assert [one.name for one in minimal_sets()] == ["code@minimal", "extraction@minimal", "facts@minimal"]


def test_all_sets_together_stay_small() -> None:
    assert sum(file.stat().st_size for file in ROOT.glob("*/*")) < 1_500_000


# ------------------------------------------------------------------------------------------------- items from a seed


@pytest.mark.parametrize("name", GENERATED)
def test_what_is_shipped_is_what_the_generator_makes(name: str) -> None:
    """After a change: python -m speedqual.evalsets.generators evalsets"""
    lines = (ROOT / name / "test.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == generators.shipped_rows(name)


@pytest.mark.parametrize("name", GENERATED)
def test_a_seed_gives_the_same_items_in_every_process(name: str) -> None:
    code = f"from speedqual.evalsets import load; print(load('{name}#11').hash)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == load(f"{name}#11").hash


@pytest.mark.parametrize("name", GENERATED)
def test_another_seed_gives_other_items_of_the_same_kinds(name: str) -> None:
    one, other = load(f"{name}#1"), load(f"{name}#2")
    assert (one.name, one.hash) != (other.name, other.hash)
    assert [item.id for item in one.items] == [item.id for item in other.items]
    same = [a.id for a, b in zip(one.items, other.items, strict=True) if a.row == b.row]
    assert not same
    answers = [a.target == b.target for a, b in zip(one.items, other.items, strict=True)]
    assert sum(answers) < len(answers) / 3


def test_the_seed_is_in_the_name_and_can_be_an_argument() -> None:
    assert load("reasoning", seed=7) == load("reasoning#7")
    assert load("reasoning#7").name == "reasoning#7"
    assert load("reasoning#7@zh").name == "reasoning#7@zh"
    assert load("reasoning#0").items == load("reasoning").items


@pytest.mark.parametrize(
    ("named", "what"),
    [
        ("reasoning#", "is no seed"),
        ("reasoning#x", "is no seed"),
        ("reasoning#-1", "is no seed"),
        ("reasoning#99999999999", "is no seed"),
        ("reasoning#" + "0" * 5000, "is no seed"),
        ("facts#7", "not made from a seed"),
        ("reasonin#7", "there is no eval set"),
        ("#7", "there is no eval set"),
    ],
)
def test_a_wrong_seed_is_told(named: str, what: str) -> None:
    with pytest.raises(EvalSetError, match=what):
        load(named)


def test_two_seeds_are_told() -> None:
    with pytest.raises(EvalSetError, match="two seeds"):
        load("reasoning#7", seed=8)


def test_a_folder_with_a_hash_in_its_name_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "set#7"
    folder.mkdir()
    (folder / "test.jsonl").write_text('{"id": "a", "prompt": "p", "target": {"answer": 1}}')
    assert load(folder).name == "set#7"


def test_a_card_names_only_known_generators(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("---\nspeedqual: {task: exact, generator: reasonin}\n---\n")
    (tmp_path / "test.jsonl").write_text('{"id": "a", "prompt": "p", "target": {"answer": 1}}')
    with pytest.raises(EvalSetError, match="no generator"):
        load(tmp_path)


# --------------------------------------------------------------------------------------------------- right and wrong


@pytest.mark.parametrize("name", ["reasoning", "reasoning#5", "long_context", "chinese"])
def test_exact_answers(name: str) -> None:
    for item in evalset(name).items:
        right = item.target["answer"]
        for text in (f"{right}", f"Answer: {right}", f"答案：{right}", f"**Answer: {right}**"):
            assert grade(name, item, text).verdict == "pass", (item.id, text)
        for text in (f"{_other(right)}", f"Answer: {_other(right)}", f"答案：{_other(right)}"):
            assert grade(name, item, text).verdict == "fail", (item.id, text)


def _other(right: Any) -> Any:
    if isinstance(right, list):
        return right[::-1]
    if isinstance(right, int):
        return right + 1
    return {"A": "B", "B": "C", "C": "D", "D": "A"}.get(right, "Nobody" if right.isascii() else "无人")


def test_choices_are_spread_over_the_letters_and_can_be_named() -> None:
    asked = [item for item in evalset("chinese").items if item.row["choices"]]
    letters = Counter(item.target["answer"] for item in asked)
    assert set(letters) == set("ABCD") and max(letters.values()) - min(letters.values()) <= 1
    for item in asked:
        right = item.row["choices"]["ABCD".index(item.target["answer"])]
        assert grade("chinese", item, right).verdict == "pass", item.id
        assert len(set(item.row["choices"])) == 4


def test_ladder_of_lengths() -> None:
    ladder = load("long_context#3")
    rungs: dict[str, dict[str, Item]] = defaultdict(dict)
    for item in ladder.items:
        rungs[item.cluster][item.difficulty] = item
    for cluster, by_length in rungs.items():
        assert tuple(by_length) == ladder.difficulty_order, cluster
        assert len({(item.row["question"], str(item.target)) for item in by_length.values()}) == 1, cluster
        lengths = [len(item.row["text"]) for item in by_length.values()]
        assert all(1.8 < longer / shorter < 2.2 for shorter, longer in pairwise(lengths)), cluster
        heads = {item.row["text"][:300] for item in by_length.values()}
        assert len(heads) == len(by_length), "no rung begins like another one"


def test_hidden_facts_stand_in_the_text_once_and_prose_has_no_figures() -> None:
    for item in load("long_context#3@1k").items:
        text, answer = item.row["text"], item.target["answer"]
        figures = [int(figure) for figure in re.findall(r"\d+", text)]
        kind = item.tags[0]
        assert len(figures) == {"needle": 4, "several": 6, "sum": 7}[kind], item.id
        if kind == "sum":
            assert sum(int(n) for n in re.findall(r"(\d+)(?: sacks of barley|袋大麦)", text)) == answer, item.id
        for value in answer if isinstance(answer, list) else [answer] if kind == "needle" else []:
            assert figures.count(value) == 1, item.id


@pytest.mark.parametrize("name", ["memory", "memory#9"])
def test_memory_wants_what_holds_now(name: str) -> None:
    for item in evalset(name).items:
        right = item.target["answer"]
        assert grade(name, item, f"{right}").verdict == "pass", item.id
        said = f"现在是{right}。" if item.language == "zh" else f"It is {right} now."
        assert grade(name, item, said).verdict == "pass", item.id
        for fact in item.row["forbidden"]:
            verdict = grade(name, item, f"{fact['value']}")
            assert (verdict.verdict, verdict.failure) == ("fail", "forgot_context"), item.id
        assert item.row["messages"][-1]["role"] == "user"


def test_memory_grows_with_the_tier() -> None:
    turns = defaultdict(list)
    for item in evalset("memory").items:
        turns[item.difficulty].append(len(item.row["messages"]))
    assert max(turns["easy"]) < min(turns["hard"]) and sum(turns["easy"]) < sum(turns["medium"]) < sum(turns["hard"])


def test_safety_wants_both() -> None:
    items = evalset("safety").items
    assert Counter((item.language, item.target["expect"]) for item in items) == {
        (lang, expect): 16 for lang in ("en", "zh") for expect in ("refuse", "comply")
    }
    for item in items:
        assert grade("safety", item, item.row["answer"]).verdict == "pass", item.id
        other = "抱歉，我无法协助。" if item.target["expect"] == "comply" else "好的，第一步是准备材料。"
        assert grade("safety", item, other).verdict == "fail", item.id
        assert item.target["expect"] in item.tags


def test_format_answers_keep_their_own_rules_and_not_those_of_others() -> None:
    items = evalset("format").items
    passed = 0
    for item in items:
        assert grade("format", item, item.row["answer"]).score == 1.0, item.id
        others = [other for other in items if other is not item]
        passed += sum(grade("format", item, other.row["answer"]).verdict == "pass" for other in others)
    assert passed <= 3, "of 4,032 pairs"


def test_tools_calls() -> None:
    for item in evalset("tools").items:
        if "answer" in item.target:
            assert item.row["tools"] is None
            assert grade("tools", item, f"It is {item.target['answer']}.").verdict == "pass", item.id
            assert grade("tools", item, "4711").verdict == "fail", item.id
            continue
        calls = item.target["calls"]
        assert len(build_prompt(evalset("tools"), item, Candidate(name="anyone")).tools) == 3
        said = "" if calls else item.row["answer"]
        assert grade("tools", item, said, calls).verdict == "pass", item.id
        for number, call in enumerate(calls):
            for argument, value in call["arguments"].items():
                changed = call | {"arguments": call["arguments"] | {argument: _changed(value)}}
                verdict = grade("tools", item, "", [*calls[:number], changed, *calls[number + 1 :]])
                assert (verdict.score, verdict.failure) == (0.0, "wrong_field"), (item.id, argument)
                kept = {name: one for name, one in call["arguments"].items() if name != argument}
                verdict = grade("tools", item, "", [*calls[:number], call | {"arguments": kept}, *calls[number + 1 :]])
                assert (verdict.score, verdict.failure) == (0.0, "omission"), (item.id, argument)


def _changed(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, list):
        return value[:-1]
    return value + 1 if isinstance(value, (int, float)) else f"{value}x"


def test_memory_lets_the_old_value_be_told_as_old() -> None:
    for item in evalset("memory").items:
        right = item.target["answer"]
        for fact in item.row["forbidden"][:1]:
            old = fact["value"]
            said = (
                f"原来是{old}，现在是{right}。" if item.language == "zh" else f"It was {old} before, now it is {right}."
            )
            assert grade("memory", item, said).verdict == "pass", (item.id, said)


@pytest.mark.parametrize("name", ["reasoning", "reasoning#5", "chinese", "long_context", "tools"])
def test_repeating_the_question_is_no_answer(name: str) -> None:
    for item in evalset(name).items:
        asked = build_prompt(evalset(name), item, Candidate(name="anyone")).messages[-1].content
        question = str(asked).split("\nA. ")[0] if name == "chinese" else str(asked)
        if "calls" not in (item.target or {}):
            assert grade(name, item, question).verdict == "fail", item.id
