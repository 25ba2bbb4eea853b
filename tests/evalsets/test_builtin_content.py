"""The sets that come with speedqual: enough items of each kind, right references, graders that can tell."""

from __future__ import annotations

import ast
import copy
import difflib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from speedqual.evalsets import check, load
from speedqual.evalsets.prompts import reference, turns
from speedqual.grading.base import Grader, grader_for
from speedqual.records import Answer, EvalSet, Grade, Item

ROOT = Path(__file__).parents[2] / "evalsets"
NAMES = ("code", "extraction", "facts")
GRADED = (pytest.param("code", marks=pytest.mark.slow), "extraction", "facts")  # a program a sandboxed process
DERIVED = {"arithmetic", "correction", "discount", "negation", "number-words", "unit"}
"""Tags that say why a value does not stand in the text as it is."""


@pytest.fixture(scope="module")
def sets() -> dict[str, EvalSet]:
    return {name: load(ROOT / name) for name in NAMES}


@cache
def grader(name: str) -> Grader:
    return grader_for(load(ROOT / name))


def grade(evalset: EvalSet, item: Item, text: str) -> Grade:
    return grader(evalset.name)(Answer(text=text, stop="stop"), item)


def rows(name: str, split: str = "test") -> list[dict[str, Any]]:
    lines = (ROOT / name / f"{split}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def every(evalset: EvalSet) -> tuple[Item, ...]:
    return evalset.items + evalset.fewshot


# ------------------------------------------------------------------------------------------------------ all sets


@pytest.mark.parametrize("name", NAMES)
def test_enough_items_of_each_kind(sets: dict[str, EvalSet], name: str) -> None:
    items = sets[name].items
    by = Counter((item.language, item.difficulty) for item in items)
    assert len(items) >= 60
    assert set(by) == {(lang, tier) for lang in ("en", "zh") for tier in ("easy", "medium", "hard")}
    assert min(by.values()) >= 10, "each tier in each language"
    assert len({item.cluster for item in items}) >= 60, "independent items"


@pytest.mark.parametrize("name", NAMES)
def test_minimal_items_are_few_short_and_in_both_languages(sets: dict[str, EvalSet], name: str) -> None:
    minimal = load(f"{name}@minimal")
    assert Counter(item.language for item in minimal.items) == {"en": 4, "zh": 4}
    for item in minimal.items:
        asked = " ".join(str(turn.content) for turn in turns(minimal, item))
        assert len(asked.encode()) <= 140, item.id  # about 60 tokens for a small English-centric model
        assert len(reference(minimal, item)) <= 90, item.id
    assert {item.id for item in minimal.items} <= {item.id for item in sets[name].items}


@pytest.mark.parametrize("name", NAMES)
def test_card_gives_licence_floor_and_counts(sets: dict[str, EvalSet], name: str) -> None:
    evalset, card = sets[name], (ROOT / name / "README.md").read_text(encoding="utf-8")
    assert (evalset.licence, evalset.success_at, evalset.version) == ("cc-by-4.0", 1.0, "1.0")
    assert evalset.floor is not None and f"`floor: {evalset.floor}`" in card
    assert evalset.max_tokens is not None and f"`max_tokens: {evalset.max_tokens}`" in card
    assert f"\n{len(evalset.items)} " in card
    by = Counter((item.difficulty, item.language) for item in evalset.items)
    for tier in evalset.difficulty_order:
        assert f"| {tier} | {by[tier, 'en']} | {by[tier, 'zh']} |" in card


@pytest.mark.parametrize("name", NAMES)
def test_rows_have_the_same_columns_and_texts_in_their_language(name: str) -> None:
    both = rows(name) + rows(name, "fewshot")
    assert len({tuple(row) for row in both}) == 1
    for row in both:
        text = " ".join(str(row.get(column) or "") for column in ("prompt", "ask", "question", "messages"))
        assert bool(re.search(r"[\u4e00-\u9fff]", text)) == (row["lang"] == "zh"), row["id"]


@pytest.mark.parametrize("name", NAMES)
def test_examples_are_short_and_not_asked(name: str) -> None:
    shots = rows(name, "fewshot")
    assert 2 <= len(shots) <= 4
    assert not {row["id"] for row in shots} & {row["id"] for row in rows(name)}
    assert {row["lang"] for row in shots[:2]} == {"en", "zh"}


@pytest.mark.parametrize("name", NAMES)
def test_no_two_items_differ_only_in_numbers(sets: dict[str, EvalSet], name: str) -> None:
    """Nearly equal prompts, numbers left out, are one item twice; the two halves of a pair are meant to be so."""
    masked = [
        (item, _without_numbers(" ".join(str(t.content) for t in turns(sets[name], item))))
        for item in every(sets[name])
    ]
    for i, (item, text) in enumerate(masked):
        for other, that in masked[:i]:
            if item.cluster == other.cluster:
                continue
            matcher = difflib.SequenceMatcher(None, text, that, autojunk=False)
            near = matcher.real_quick_ratio() > 0.8 and matcher.quick_ratio() > 0.8 and matcher.ratio() > 0.8
            assert not near, (item.id, other.id)


def _without_numbers(text: str) -> str:
    return re.sub(r"[\d零一二两三四五六七八九十百千万亿]+", "0", unicodedata.normalize("NFKC", text))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_check_finds_nothing_and_dataset_readers_see_the_same(name: str) -> None:
    assert check(ROOT / name) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_datasets_loads_the_folder_unchanged(name: str, tmp_path: Path) -> None:
    import datasets

    loaded = datasets.load_dataset(str(ROOT / name), cache_dir=str(tmp_path))
    for split in ("test", "fewshot"):
        assert list(loaded[split]) == rows(name, split)


@pytest.mark.parametrize("name", GRADED)
def test_references_are_right(sets: dict[str, EvalSet], name: str) -> None:
    for item in every(sets[name]):
        verdict = grade(sets[name], item, reference(sets[name], item))
        assert (verdict.verdict, verdict.score, verdict.failure) == ("pass", 1.0, "none"), (item.id, verdict.why)
        assert not verdict.repairs, (item.id, verdict.flags)


@pytest.mark.parametrize("name", GRADED)
def test_answers_of_other_items_are_wrong(sets: dict[str, EvalSet], name: str) -> None:
    items = [item for item in sets[name].items if not (item.row.get("pair") or item.row.get("unanswerable"))]
    for item, other in zip(items, items[7:] + items[:7], strict=True):
        text = reference(sets[name], other)
        if text != reference(sets[name], item):
            assert grade(sets[name], item, text).verdict != "pass", (item.id, other.id)


# ---------------------------------------------------------------------------------------------------------- code


def same(got: Any, want: Any) -> bool:
    """Equal and of the same type all the way down; floats to 1e-9."""
    if isinstance(want, float) or isinstance(got, float):
        return not isinstance(got, (bool, str)) and got == pytest.approx(want, rel=1e-9, abs=1e-9)
    if type(got) is not type(want):
        return False
    if isinstance(want, list):
        return len(got) == len(want) and all(map(same, got, want))
    if isinstance(want, dict):
        return got.keys() == want.keys() and all(same(got[key], want[key]) for key in want)
    return bool(got == want)


def passes(tree: ast.Module, tests: dict[str, Any]) -> bool:
    """Whether the program passes all cases; ours, so that no sandbox is needed."""
    space: dict[str, Any] = {}
    exec(compile(tree, "reference", "exec", dont_inherit=True), space)
    function = space[tests["entry_point"]]
    return all(same(function(*copy.deepcopy(case["args"])), case["expect"]) for case in tests["cases"])


@pytest.mark.parametrize("row", rows("code") + rows("code", "fewshot"), ids=lambda row: row["id"])
def test_code_reference_passes_its_cases_and_constants_do_not(row: dict[str, Any]) -> None:
    tests = row["tests"]
    assert len(tests["cases"]) >= 4
    assert re.search(rf"\b{tests['entry_point']}\(", row["prompt"]), "the prompt names the function"
    assert passes(ast.parse(row["reference"]), tests)
    assert len({json.dumps(case["args"]) for case in tests["cases"]}) == len(tests["cases"]), "no case twice"
    assert len({json.dumps(case["expect"]) for case in tests["cases"]}) >= 2, "no constant passes"


def test_code_cases_notice_most_small_changes_of_the_reference() -> None:
    """One comparison turned or made strict at a time: nearly all such programs must fail a case."""
    survivors, total = [], 0
    for row in rows("code"):
        for changed in _turned_comparisons(ast.parse(row["reference"])):
            total += 1
            survivors += [row["id"]] * _survives(changed, row["tests"])
    assert total >= 40
    assert len(survivors) <= total // 10, survivors


_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Gt: ast.GtE,
    ast.Lt: ast.LtE,
}


def _turned_comparisons(tree: ast.Module) -> Iterator[ast.Module]:
    """One changed program for each comparison; none of programs with ``while``, which may never end."""
    nodes = list(ast.walk(tree))
    if any(isinstance(node, ast.While) for node in nodes):
        return
    for number, node in enumerate(nodes):
        if isinstance(node, ast.Compare) and type(node.ops[0]) in _TURNED:
            changed = copy.deepcopy(tree)
            twin = list(ast.walk(changed))[number]
            assert isinstance(twin, ast.Compare)
            twin.ops[0] = _TURNED[type(node.ops[0])]()
            yield changed


def _survives(tree: ast.Module, tests: dict[str, Any]) -> bool:
    try:
        return passes(tree, tests)
    except Exception:
        return False


# ---------------------------------------------------------------------------------------------------- extraction


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from leaves(inner, (*path, place))
    else:
        yield path, value


def with_leaf(target: Any, path: tuple[str | int, ...], value: Any) -> Any:
    changed = copy.deepcopy(target)
    spot = changed
    for step in path[:-1]:
        spot = spot[step]
    spot[path[-1]] = value
    return changed


def other_value(value: Any) -> Any:
    """A value of the same kind that is wrong."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    digits = re.search(r"[1-8]", value)
    return value.replace(digits[0], str(int(digits[0]) + 1), 1) if digits else f"{value}x"


def test_extraction_notices_every_wrong_omitted_and_invented_field(sets: dict[str, EvalSet]) -> None:
    evalset = sets["extraction"]
    for item in every(evalset):
        for path, value in leaves(item.target):
            changed = "made up" if value is None else other_value(value)
            wrong = grade(evalset, item, json.dumps(with_leaf(item.target, path, changed)))
            assert (wrong.score or 0) < 1, (item.id, path)
            expected = ("invented_field",) if value is None else ("wrong_field", "wrong_format")
            assert wrong.failure in expected, (item.id, path, wrong.why)
            if value is not None:
                left_out = grade(evalset, item, json.dumps(with_leaf(item.target, path, None)))
                assert left_out.failure in ("omission", "no_answer"), (item.id, path, left_out.why)


def test_extraction_values_stand_in_the_text_or_the_tags_say_why_not(sets: dict[str, EvalSet]) -> None:
    for item in every(sets["extraction"]):
        text = _plain(item.row["text"])
        for path, value in leaves(item.target):
            if isinstance(value, str) and not re.search(r"\d", value) and path[-1] not in ("currency", "product"):
                stands = any(_plain(part) in text for part in (value, *_spellings(value)))
                assert stands or DERIVED & set(item.tags), (item.id, path, value)


def _plain(text: str) -> str:
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text)).casefold()


def _spellings(value: str) -> tuple[str, ...]:
    return (value.removesuffix("s"),)


def test_extraction_asks_for_every_field_of_its_target(sets: dict[str, EvalSet]) -> None:
    for item in every(sets["extraction"]):
        asked = set(re.findall(r"[a-z][a-z0-9_]*", item.row["ask"]))
        names = {step for path, _ in leaves(item.target) for step in path if isinstance(step, str)}
        assert names <= asked, (item.id, names - asked)


# --------------------------------------------------------------------------------------------------------- facts


def pairs(evalset: EvalSet, kind: str) -> list[tuple[Item, Item]]:
    found: dict[str, list[Item]] = {}
    for item in evalset.items:
        if (item.row["pair"] or {}).get("kind") == kind:
            found.setdefault(item.row["pair"]["id"], []).append(item)
    assert all(len(two) == 2 for two in found.values())
    return [(two[0], two[1]) for two in found.values()]


def test_the_answer_of_the_other_half_of_a_counterfactual_pair_is_wrong(sets: dict[str, EvalSet]) -> None:
    both = pairs(sets["facts"], "counterfactual")
    assert len(both) >= 6
    for a, b in both:
        assert a.row["question"] == b.row["question"]
        assert grade(sets["facts"], a, reference(sets["facts"], b)).verdict == "fail", a.id
        assert grade(sets["facts"], b, reference(sets["facts"], a)).verdict == "fail", b.id


def test_the_answer_of_the_other_half_of_a_paraphrase_pair_is_right(sets: dict[str, EvalSet]) -> None:
    both = pairs(sets["facts"], "paraphrase")
    assert len(both) >= 4
    for a, b in both:
        assert a.row["question"] == b.row["question"] and a.row["context"] != b.row["context"]
        assert grade(sets["facts"], a, reference(sets["facts"], b)).verdict == "pass", a.id


@pytest.mark.parametrize("text", ["Not stated.", "The text does not say.", "文中未提及。", "文中没有提到。"])
def test_saying_that_the_text_does_not_say_is_right_only_where_it_does_not(sets: dict[str, EvalSet], text: str) -> None:
    gaps = [item for item in sets["facts"].items if item.row["unanswerable"]]
    assert len(gaps) >= 6
    for item in sets["facts"].items:
        right = grade(sets["facts"], item, text).verdict == "pass"
        assert right == bool(item.row["unanswerable"]), item.id


@pytest.mark.parametrize("text", ["17", "Paul Meyer.", "It is 4,512.", "王大力。", "在1823年。", ""])
def test_an_invented_answer_is_wrong_everywhere(sets: dict[str, EvalSet], text: str) -> None:
    for item in sets["facts"].items:
        assert grade(sets["facts"], item, text).verdict in ("fail", "not_graded"), item.id


def test_an_old_or_rejected_value_is_wrong(sets: dict[str, EvalSet]) -> None:
    talks = [item for item in sets["facts"].items if item.row["messages"]]
    assert len(talks) >= 8
    assert sum(len(item.row["messages"]) == 11 for item in talks) >= 6, "asked in the sixth turn of the user"
    for item in talks:
        assert item.row["forbidden"], item.id
        for fact in item.row["forbidden"]:
            verdict = grade(sets["facts"], item, f"{fact['value']}")
            assert verdict.verdict == "fail", (item.id, verdict.why)


def test_yes_and_no_are_told_apart(sets: dict[str, EvalSet]) -> None:
    asked = [item for item in sets["facts"].items if "yes-no" in item.tags]
    assert len(asked) >= 6
    for item in asked:
        said = {True: ("Yes.", "是的。"), False: ("No.", "不是。")}[item.row["facts"][0]["value"]]
        other = {True: ("No.", "不是。"), False: ("Yes.", "是的。")}[item.row["facts"][0]["value"]]
        at = 0 if item.language == "en" else 1
        assert grade(sets["facts"], item, said[at]).verdict == "pass", item.id
        assert grade(sets["facts"], item, other[at]).verdict == "fail", item.id
