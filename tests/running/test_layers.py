"""The layered plan: what it sends, in which order, and that its ladder asks the same items at every level."""

from __future__ import annotations

from dataclasses import replace

import pytest

from speedqual.errors import UsageError
from speedqual.evalsets import build_prompt, load
from speedqual.grading.base import grader_for
from speedqual.records import Candidate
from speedqual.running.arrivals import ClosedLoop
from speedqual.running.load.layers import LAYERS, QUICK, REMOTE, layered
from speedqual.running.plan import approx_tokens
from speedqual.timing.goodput import parse_slo


@pytest.mark.parametrize("quick", [False, True])
def test_every_layer_is_there_in_order_and_its_sets_can_be_asked_and_graded(quick: bool) -> None:
    plan, evalsets = layered(quick=quick)
    assert list(dict.fromkeys(level.layer for level in plan.levels)) == list(LAYERS)
    assert set(plan.sets) == {evalset.name for evalset in evalsets}
    for evalset in evalsets:
        grader_for(evalset)
        assert build_prompt(evalset, evalset.items[0], Candidate(name="m")).max_tokens == evalset.max_tokens
    assert all(level.unique for level in plan.levels)


@pytest.mark.parametrize(("quick", "requests", "tokens"), [(False, 510, 360_000), (True, 115, 31_000)])
def test_the_cost_is_as_it_is_told(quick: bool, requests: int, tokens: int) -> None:
    plan, evalsets = layered(quick=quick)
    sets = {evalset.name: evalset for evalset in evalsets}
    n = read = 0
    for level in plan.levels:
        evalset = sets[level.evalset]
        items = [item for item in evalset.items if not level.items or item.id in level.items]
        assert level.n is not None
        asked = [build_prompt(evalset, items[number % len(items)], Candidate(name="m")) for number in range(level.n)]
        n, read = n + level.n, read + sum(map(approx_tokens, asked))
    assert 0.9 * requests < n < requests
    assert 0.9 * tokens < read < tokens


def test_lengths_go_as_far_as_the_context() -> None:
    def lengths(context: int) -> list[float]:
        return [level.x for level in layered(["long_input"], scale=replace(REMOTE, context=context)).plan.levels]

    assert lengths(16_384) == [100, 500, 2000, 8000]
    assert lengths(200_000) == [100, 500, 2000, 8000, 32_000, 128_000]
    assert lengths(10_255) == [100, 500, 2000]  # 8,000 may take 10,000, and 256 for the reply


def test_the_ladder_asks_the_same_items_at_every_level_and_keeps_all_users_busy() -> None:
    evalset = load("facts")
    plan, (only,) = layered(["concurrency"], evalset=evalset)
    assert only is evalset
    assert len({level.items for level in plan.levels}) == 1
    assert len(plan.levels[0].items) == 24
    for level in plan.levels:
        assert isinstance(level.how, ClosedLoop)
        assert level.how.users == level.x
        assert level.n is not None and level.n % 24 == 0 and level.n >= 4 * level.x
    assert plan.levels[0].name == "1 user" and plan.levels[1].name == "2 users"


def test_pairs_stay_in_their_order_and_their_prefixes_are_theirs() -> None:
    plan, evalsets = layered(["prefix"])
    assert not any(level.shuffled for level in plan.levels)
    assert [level.x for level in plan.levels] == [0.0, 0.25, 0.5, 0.75, 1.0, 0.5]
    assert len({level.name for level in plan.levels}) == 6
    for evalset in evalsets:
        assert [item.row["note"] for item in evalset.items[:4]] == ["cold", "warm"] * 2


def test_pauses_are_tried_on_kept_and_on_new_connections() -> None:
    levels = layered(["cold"], scale=replace(QUICK, idle_s=(2.0,))).plan.levels
    assert [(level.x, level.note, level.arrivals) for level in levels] == [
        (2.0, "kept connection", "users:1,think=2"),
        (2.0, "new connection", "users:1,think=2"),
    ]


def test_seed_slos_and_layers_reach_the_plan() -> None:
    slos = (parse_slo("ttft_ms < 800 @ 95%"),)
    plan, evalsets = layered(["cold", "short_text"], seed=5, slos=slos)
    assert plan.levels[0].layer == "short_text"  # in the order of LAYERS
    assert plan.slos == slos
    assert {level.seed for level in plan.levels} == {5}
    assert evalsets[0].hash != layered(["short_text"], seed=6).evalsets[0].hash


def test_slips_are_told() -> None:
    with pytest.raises(UsageError, match=r"there is no layer 'short'. Use some of: short_text, long_input"):
        layered(["short"])
    with pytest.raises(UsageError, match=r"a layer makes a set that is named 'short-text' too. Give your eval set"):
        layered(evalset=replace(load("facts"), name="short-text"))
