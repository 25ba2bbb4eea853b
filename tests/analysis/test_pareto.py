"""The front against brute force, and its rules for ties, infinities and unknown values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from speedqual.analysis import pareto

FEW = st.sampled_from([0.0, 1.0, 2.0, 3.0])


def brute(costs: list[tuple[float, ...]], quality: list[float]) -> list[bool]:
    def beats(i: int, j: int) -> bool:
        no_worse = all(a <= b for a, b in zip(costs[i], costs[j], strict=True)) and quality[i] >= quality[j]
        better = any(a < b for a, b in zip(costs[i], costs[j], strict=True)) or quality[i] > quality[j]
        return no_worse and better

    return [not any(beats(i, j) for i in range(len(costs))) for j in range(len(costs))]


@given(st.lists(st.tuples(FEW, FEW, FEW), min_size=1, max_size=9))
def test_front_of_a_triple_equals_brute_force(points: list[tuple[float, float, float]]) -> None:
    costs, quality = [p[:2] for p in points], [p[2] for p in points]
    assert pareto.on_front(np.array(costs), np.array(quality)).tolist() == brute(costs, quality)


@given(st.lists(st.tuples(FEW, FEW), min_size=1, max_size=9))
def test_regret_is_zero_exactly_where_nobody_as_cheap_is_better(points: list[tuple[float, float]]) -> None:
    cost, quality = np.array([[p[0]] for p in points]), np.array([p[1] for p in points])
    gap = pareto.regret(cost, quality)
    for i, (c, q) in enumerate(points):
        assert gap[i] == max(other for x, other in points if x <= c) - q


def test_exact_ties_are_all_on_the_front() -> None:
    assert pareto.on_front(np.array([[1.0], [1.0]]), np.array([0.5, 0.5])).tolist() == [True, True]


def test_same_speed_or_same_quality_leaves_only_the_better() -> None:
    assert pareto.on_front(np.array([[1.0], [1.0]]), np.array([0.5, 0.6])).tolist() == [False, True]
    assert pareto.on_front(np.array([[1.0], [2.0]]), np.array([0.5, 0.5])).tolist() == [True, False]


def test_an_unknown_value_is_on_no_front_and_beats_nobody() -> None:
    costs = np.array([[math.nan], [5.0]])
    assert pareto.on_front(costs, np.array([1.0, 0.1])).tolist() == [False, True]
    assert not pareto.dominance(costs, np.array([1.0, 0.1])).any()


def test_what_never_ends_is_on_the_front_only_among_its_like() -> None:
    assert pareto.on_front(np.array([[math.inf], [5.0]]), np.array([1.0, 0.1])).tolist() == [False, True]
    assert pareto.on_front(np.array([[math.inf], [math.inf]]), np.array([1.0, 0.1])).tolist() == [True, False]


def test_draws_are_judged_like_single_tables() -> None:
    rng = np.random.default_rng(5)
    costs, quality = rng.integers(0, 4, (50, 7, 1)).astype(float), rng.integers(0, 4, (50, 7)).astype(float)
    together = pareto.on_front(costs, quality)
    for draw in range(50):
        assert together[draw].tolist() == brute([tuple(c) for c in costs[draw]], list(quality[draw]))


def test_hypervolume_by_hand() -> None:
    # 50 % from 1 to 2 (one doubling), 75 % from 2 to 4 (one doubling)
    assert pareto.hypervolume(np.array([1.0, 2.0]), np.array([0.5, 0.75]), 4.0) == pytest.approx(1.25)
    # a dominated point adds nothing; a reference quality of 0.5 takes it off the rest
    assert pareto.hypervolume(np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.75, 0.6]), 4.0) == pytest.approx(1.25)
    assert pareto.hypervolume(np.array([1.0, 2.0]), np.array([0.5, 0.75]), 4.0, 0.5) == pytest.approx(0.25)


def test_staircase_is_empty_below_the_cheapest() -> None:
    got = pareto.staircase(np.array([1.0, 2.0]), np.array([0.5, 0.4]), np.array([0.5, 1.0, 3.0]))
    assert math.isnan(got[0]) and got[1:].tolist() == [0.5, 0.5]
