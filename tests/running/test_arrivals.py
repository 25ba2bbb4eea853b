"""Schedules: exact where they are even, and of the right distribution where they are drawn."""

from __future__ import annotations

from itertools import islice, pairwise

import numpy as np
import pytest
from scipy.stats import gamma, kstest

from speedqual.errors import UsageError
from speedqual.running.arrivals import (
    ClosedLoop,
    Constant,
    Conversations,
    GammaBursts,
    Mixed,
    OpenLoop,
    Poisson,
    Ramp,
    Steps,
    Swarm,
    Traffic,
)

S = 1_000_000_000
LOOPS = [
    Constant(20.0),
    Poisson(20.0),
    GammaBursts(20.0, 2.0),
    Ramp(1.0, 50.0),
    Ramp(50.0, 0.0),
    Steps((5.0, 10.0, 20.0)),
    Mixed((Traffic("interactive", Poisson(15.0)), Traffic("batch", Constant(2.0)))),
]


def starts_ns(loop: OpenLoop, duration_s: float, seed: int = 1) -> np.ndarray:
    return np.array([arrival.at_ns for arrival in loop.schedule(seed, duration_s)])


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.text)
def test_starts_ascend_within_the_duration_and_are_the_seeds(loop: OpenLoop) -> None:
    once, again = list(loop.schedule(7, 30.0)), list(loop.schedule(7, 30.0))
    assert once == again
    assert all(before.at_ns <= after.at_ns for before, after in pairwise(once))
    assert once[0].at_ns >= 0 and once[-1].at_ns < 30 * S
    drawn = not isinstance(loop, Constant)
    assert (once != list(loop.schedule(8, 30.0))) is drawn


def test_constant_is_exact() -> None:
    assert starts_ns(Constant(20.0), 10.0).tolist() == [k * 50_000_000 for k in range(200)]
    assert len(starts_ns(Constant(200.0), 60.0)) == 12_000


def test_the_draws_are_the_same_everywhere() -> None:
    assert starts_ns(Poisson(10.0), 10.0, seed=0)[:3].tolist() == [112_995_780, 234_725_895, 263_670_468]
    assert starts_ns(GammaBursts(10.0, 2.0), 10.0, seed=0)[:3].tolist() == [2_472_241, 7_260_700, 471_858_693]


def test_poisson_gaps_are_exponential_and_counts_have_a_dispersion_of_one() -> None:
    at_s = starts_ns(Poisson(200.0), 100.0) / S
    assert abs(len(at_s) - 20_000) < 4 * 20_000**0.5
    assert kstest(np.diff(at_s), "expon", args=(0, 1 / 200)).pvalue > 0.01
    counts = np.histogram(at_s, bins=400, range=(0, 100))[0]
    assert counts.var(ddof=1) / counts.mean() == pytest.approx(1.0, abs=4 * (2 / 399) ** 0.5)


@pytest.mark.parametrize("cv", [0.5, 1.0, 2.0, 4.0])
def test_gamma_gaps_have_their_mean_and_their_cv(cv: float) -> None:
    """Many gaps of a burst are below a nanosecond, so the distribution is compared at its upper quantiles."""
    gaps_s = np.diff(starts_ns(GammaBursts(200.0, cv), 100.0) / S)
    assert gaps_s.mean() == pytest.approx(1 / 200, rel=4 * cv / 20_000**0.5)
    assert gaps_s.std() / gaps_s.mean() == pytest.approx(cv, rel=0.08)
    for share in (0.7, 0.9, 0.99):
        quantile_s = gamma.ppf(share, cv**-2, scale=cv**2 / 200)
        assert np.mean(gaps_s <= quantile_s) == pytest.approx(share, abs=4 * (share * (1 - share) / 20_000) ** 0.5)


def test_bursts_cluster() -> None:
    counts = [np.histogram(starts_ns(GammaBursts(50.0, cv), 100.0), bins=100)[0].var() for cv in (0.5, 1.0, 3.0)]
    assert counts[0] < counts[1] < counts[2]


def test_a_ramp_follows_its_integral() -> None:
    """From 1/s to 50/s in 60 s: t + 49 t²/120 requests after t seconds: 397.5 after 30, 1,530 in all."""
    even = starts_ns(Ramp(1.0, 50.0, "even"), 60.0)
    assert len(even) == 1530
    assert np.count_nonzero(even < 30 * S) == 398
    drawn = starts_ns(Ramp(1.0, 50.0), 60.0)
    assert abs(np.count_nonzero(drawn < 30 * S) - 397.5) < 4 * 397.5**0.5
    assert abs(len(drawn) - 1530) < 4 * 1530**0.5


def test_a_ramp_downwards_is_the_ramp_upwards_turned() -> None:
    down = starts_ns(Ramp(10.0, 0.0, "even"), 20.0)
    assert len(down) == 100
    assert np.count_nonzero(down < 10 * S) == 75  # 10 t − t²/4


def test_steps_give_each_rate_an_equal_part() -> None:
    at = starts_ns(Steps((5.0, 10.0, 20.0), "even"), 30.0)
    assert [np.count_nonzero((at >= k * 10 * S) & (at < (k + 1) * 10 * S)) for k in range(3)] == [50, 100, 200]
    drawn = starts_ns(Steps((5.0, 10.0, 20.0)), 30.0)
    assert abs(np.count_nonzero(drawn >= 20 * S) - 200) < 4 * 200**0.5


def test_a_mix_holds_the_schedule_of_each_class() -> None:
    mix = Mixed((Traffic("a", Constant(4.0)), Traffic("b", Constant(1.0))))
    merged = list(mix.schedule(0, 10.0))
    assert [arrival.at_ns for arrival in merged if arrival.traffic == "b"] == [k * S for k in range(10)]
    assert len(merged) == 50
    assert mix.rate == 5.0
    twins = Mixed((Traffic("a", Poisson(5.0)), Traffic("b", Poisson(5.0))))
    at = [arrival.at_ns for arrival in twins.schedule(0, 20.0)]
    assert len(set(at)) == len(at)  # two classes of one rate do not start together


def test_the_rate_is_the_mean_over_the_course() -> None:
    assert [loop.rate for loop in LOOPS] == [20, 20, 20, 25.5, 25, 35 / 3, 17]


def test_pauses_of_closed_loops() -> None:
    assert list(islice(ClosedLoop(8, 1.5).pauses(0, 3), 2)) == [1_500_000_000] * 2
    assert list(islice(Swarm(20, 5, 0.5).pauses(0, 0), 2)) == [500_000_000] * 2
    assert list(islice(Conversations(4, 6).pauses(0, 0), 2)) == [0, 0]
    thinking = ClosedLoop(8, 1.5, "exponential")
    drawn = np.array(list(islice(thinking.pauses(0, 3), 4000))) / S
    assert kstest(drawn, "expon", args=(0, 1.5)).pvalue > 0.01
    assert list(islice(thinking.pauses(0, 4), 5)) != list(islice(thinking.pauses(0, 3), 5))


@pytest.mark.parametrize("duration_s", [0.0, -1.0, float("inf"), float("nan")])
@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.text)
def test_a_duration_is_a_finite_time(loop: OpenLoop, duration_s: float) -> None:
    with pytest.raises(UsageError, match="the duration is"):
        list(loop.schedule(0, duration_s))
