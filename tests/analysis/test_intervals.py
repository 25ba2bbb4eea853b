"""Every bound against hand arithmetic, scipy, or its own definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from speedqual.analysis import intervals as iv


def test_wilson_of_45_in_50_by_hand() -> None:
    # z² = 3.8416; centre = (0.9 + 3.8415/100) / (1 + 3.8415/50); half = 1.96·sqrt(0.9·0.1/50 + 3.8415/10000)/1.07683
    z2 = 1.959964**2
    centre = (0.9 + z2 / 100) / (1 + z2 / 50)
    half = 1.959964 * math.sqrt(0.09 / 50 + z2 / 10000) / (1 + z2 / 50)
    got = iv.wilson(45, 50)
    assert got.lo == pytest.approx(centre - half, abs=1e-6)
    assert got.hi == pytest.approx(centre + half, abs=1e-6)


@given(st.integers(1, 400), st.data())
def test_wilson_agrees_with_scipy_on_both_sides(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    other = stats.binomtest(k, n).proportion_ci(method="wilson")
    got = iv.wilson(k, n)
    assert (got.lo, got.hi) == pytest.approx((other.low, other.high), abs=1e-9)
    lower = stats.binomtest(k, n, alternative="greater").proportion_ci(method="wilson").low
    assert iv.wilson_lower(k, n) == pytest.approx(lower, abs=1e-9)


def test_wilson_never_leaves_the_unit_interval_nor_claims_certainty() -> None:
    nothing, everything = iv.wilson(0, 20), iv.wilson(20, 20)
    assert nothing.lo == 0.0 and nothing.hi == pytest.approx(1.959964**2 / (20 + 1.959964**2), abs=1e-6)
    assert everything.hi == 1.0 and everything.lo == pytest.approx(20 / (20 + 1.959964**2), abs=1e-6)


def test_no_items_give_no_bounds_and_say_why() -> None:
    assert iv.wilson(0, 0) == iv.Interval(None, None, None, "wilson", 0, 0.95, "no items")
    assert iv.clopper_pearson(0, 0).why == "no items"
    assert iv.mean_interval([]).value is None
    assert iv.quantile_interval([], 0.5).value is None


def test_clopper_pearson_of_nothing_in_ten() -> None:
    # (1 − p)^10 = 0.025
    assert iv.clopper_pearson(0, 10).hi == pytest.approx(1 - 0.025 ** (1 / 10))


def test_t_interval_by_hand() -> None:
    # mean 0.5, s² = (0.09 + 0.01 + 0.01 + 0.09)/3, t(3) = 3.182446
    half = 3.182446 * math.sqrt(0.2 / 3 / 4)
    assert iv.t_mean([0.2, 0.4, 0.6, 0.8]).lo == pytest.approx(0.5 - half, abs=1e-6)
    assert iv.t_mean([0.3]).lo is None


def test_clustered_error_by_hand() -> None:
    # residuals ±0.5; cluster sums +1, −1, 0 → SE² = 2/36
    got = iv.cluster_mean([1, 1, 0, 0, 1, 0], ["a", "a", "b", "b", "c", "c"])
    assert got.hi - got.value == pytest.approx(stats.t.ppf(0.975, 2) * math.sqrt(2) / 6)


def test_clusters_of_one_item_each_are_no_clusters() -> None:
    y = [1.0, 0.0, 1.0, 1.0]
    assert iv.mean_interval(y, ["a", "b", "c", "d"]) == iv.wilson(3, 4)


def test_which_interval_is_used_follows_the_house_rule() -> None:
    rng = np.random.default_rng(0)
    assert iv.mean_interval(rng.integers(0, 2, 50)).method == "wilson"
    assert iv.mean_interval(rng.random(50)).method == "cluster bootstrap"
    assert iv.mean_interval(rng.random(200)).method == "t"
    assert iv.mean_interval(rng.random(50), ["a", "b"] * 25).method == "cluster t"


def test_bootstrap_is_the_same_each_time_and_near_t() -> None:
    y = np.random.default_rng(3).random(150)
    once, again, t = iv.bootstrap_mean(y), iv.bootstrap_mean(y), iv.t_mean(y)
    assert once == again
    assert (once.lo, once.hi) == pytest.approx((t.lo, t.hi), abs=0.006)


@pytest.mark.parametrize(("q", "two_sided", "one_sided"), [(0.90, 36, 29), (0.95, 72, 59), (0.99, 368, 299)])
def test_smallest_n_with_an_upper_bound_of_a_tail(q: float, two_sided: int, one_sided: int) -> None:
    assert iv.quantile_interval(range(two_sided - 1), q).hi is None
    assert iv.quantile_interval(range(two_sided), q).hi == two_sided - 1
    # one-sided 95 % = two-sided 90 %
    assert iv.quantile_interval(range(one_sided - 1), q, level=0.90).hi is None
    assert iv.quantile_interval(range(one_sided), q, level=0.90).hi == one_sided - 1


def test_only_the_bound_that_is_too_far_out_is_missing() -> None:
    got = iv.quantile_interval(range(50), 0.95)
    assert got.hi is None and got.lo is not None and got.why == "n too small"
    assert got.value == pytest.approx(0.95 * 49)


@pytest.mark.parametrize("q", [0.5, 0.9])
def test_order_statistic_interval_covers(q: float) -> None:
    rng = np.random.default_rng(11)
    true = -math.log(1 - q)
    inside = 0
    for _ in range(400):
        got = iv.quantile_interval(rng.exponential(size=60), q)
        inside += got.lo <= true <= got.hi
    assert inside / 400 >= 0.93


def test_holm_by_hand_and_unknown_ones_do_not_count() -> None:
    # sorted 0.01·3, 0.03·2, 0.04·1 → 0.03, 0.06, max(0.06, 0.04)
    assert iv.holm([0.01, 0.04, 0.03]).tolist() == pytest.approx([0.03, 0.06, 0.06])
    with_gap = iv.holm([0.01, math.nan, 0.04])
    assert with_gap[0] == pytest.approx(0.02) and math.isnan(with_gap[1])


def test_floor_test_is_the_one_behind_the_wilson_bound() -> None:
    # the lower bound equals the floor exactly where the p-value is 5 %
    bound = iv.wilson_lower(57, 60)
    above, below = iv.floor_p_values(0.95, bound, 60)
    assert above == pytest.approx(0.05, abs=1e-9) and above + below == pytest.approx(1.0)


@given(st.lists(st.floats(0, 1), min_size=3, max_size=40))
def test_any_scores_give_bounds_inside_the_unit_interval(y: list[float]) -> None:
    got = iv.mean_interval(y)
    assert 0.0 <= got.lo <= got.value + 1e-9 and got.value - 1e-9 <= got.hi <= 1.0
