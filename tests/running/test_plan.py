"""Order, slots and estimates."""

from collections import Counter

import pytest

from speedqual.errors import UsageError
from speedqual.records import Message, Price, Prompt
from speedqual.running import Settings
from speedqual.running.plan import approx_tokens, lanes, make_plan

from .conftest import candidate, toy_evalset

TWO = [candidate("a"), candidate("b", params={"t": 1})]


def test_every_item_to_every_candidate_in_blocks():
    plan = make_plan(TWO, [toy_evalset(5)], Settings(repeats=2))
    assert len(plan.trials) == len({trial.key for trial in plan.trials}) == 20
    for first, second in zip(plan.trials[::2], plan.trials[1::2], strict=True):
        assert (first.item, first.repeat) == (second.item, second.repeat)
        assert {first.candidate, second.candidate} == {"a", "b"}
    assert [trial.repeat for trial in plan.trials] == [0] * 10 + [1] * 10


def test_the_seed_makes_the_order():
    def order(seed: int) -> list[str]:
        return [
            trial.key for trial in make_plan(TWO, [toy_evalset(8), toy_evalset(8, "other")], Settings(seed=seed)).trials
        ]

    assert order(1) == order(1) != order(2)
    assert Counter(order(1)) == Counter(order(2))


def test_neither_candidate_always_goes_first():
    firsts = Counter(trial.candidate for trial in make_plan(TWO, [toy_evalset(60)], Settings()).trials[::2])
    assert min(firsts.values()) > 15


def test_repeats_come_from_the_set_unless_given():
    assert len(make_plan(TWO, [toy_evalset(3, repeats=2)], Settings()).trials) == 12
    assert len(make_plan(TWO, [toy_evalset(3, repeats=2)], Settings(repeats=1)).trials) == 6


def test_one_machine_has_one_slot_unless_load_is_asked_for():
    shared = [candidate("a", group="box"), candidate("b", group="box"), candidate("c")]
    plan = make_plan(shared, [toy_evalset()], Settings())
    assert lanes(plan, Settings(), {}) == {"group box": (["a", "b"], 1), "candidate c": (["c"], 1)}
    loaded = lanes(plan, Settings(concurrency={"a": 4}), {})
    assert loaded == {"candidate a": (["a"], 4), "group box": (["b"], 1), "candidate c": (["c"], 1)}


def test_loopback_candidates_share_this_machine():
    local = [candidate("a", base_url="http://127.0.0.1:1/v1"), candidate("b", base_url="http://localhost:2/v1")]
    plan = make_plan(local, [toy_evalset()], Settings())
    assert lanes(plan, Settings(), {}) == {"group this machine": (["a", "b"], 1)}


@pytest.mark.parametrize("what", [([], [toy_evalset()]), (TWO, []), ([TWO[0], TWO[0]], [toy_evalset()])])
def test_nothing_to_ask_or_twice_the_same_is_an_error(what):
    with pytest.raises(UsageError):
        make_plan(*what, Settings())


def test_an_estimate_bounds_what_it_costs():
    plan = make_plan(TWO, [toy_evalset(10)], Settings())
    price = Price(input_usd_per_mtok=1.0, output_usd_per_mtok=10.0)
    known = plan.estimate({"a": price, "b": price})
    assert (known.requests, known.rows[0].output_tokens) == (20, 640)
    per_candidate = (known.rows[0].prompt_tokens * 1 + 640 * 10) / 1e6
    assert known.usd == pytest.approx(2 * per_candidate)
    assert plan.estimate({"a": price, "b": None}).usd is None
    unbounded = make_plan(TWO, [toy_evalset(10, max_tokens=None)], Settings()).estimate({"a": price, "b": price})
    assert (unbounded.bounded, unbounded.usd) == (False, None)


def test_tokens_are_guessed_by_script():
    english = Prompt(messages=(Message("user", "a" * 400),))
    chinese = Prompt(messages=(Message("user", "快" * 100),))
    picture = Prompt(messages=(Message("user", [{"type": "text", "text": "a" * 40}, {"type": "image", "data": ""}]),))
    assert (approx_tokens(english), approx_tokens(chinese), approx_tokens(picture)) == (104, 84, 814)


def test_settings_that_make_no_sense():
    for bad in ({"concurrency": 0}, {"concurrency": {"a": 0}}, {"repeats": 0}):
        with pytest.raises(UsageError):
            Settings(**bad)
