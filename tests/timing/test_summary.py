"""Summaries: exact ranks, honest bounds, failures in sight."""

import random

import pytest

from speedqual.timing.summary import TOO_SMALL, quantile, quantile_with_failures, summarise
from speedqual.timing.throughput import Flow, offered, throughput

S = 1_000_000_000


@pytest.mark.parametrize(
    ("q", "one_sided", "enough"),
    [(0.90, True, 29), (0.95, True, 59), (0.99, True, 299), (0.90, False, 36), (0.95, False, 72), (0.99, False, 368)],
)
def test_an_upper_bound_needs_this_many(q, one_sided, enough):
    few = quantile(range(enough - 1), q, one_sided=one_sided)
    assert (few.hi, few.hi_note, few.lo is not None) == (None, TOO_SMALL, True)
    assert few.value is not None
    assert quantile(range(enough), q, one_sided=one_sided).hi == enough - 1


@pytest.mark.parametrize(("n", "q"), [(30, 0.5), (100, 0.9), (400, 0.99)])
def test_the_interval_covers_the_true_quantile(n, q):
    rng = random.Random(7)
    hits = 0
    for _ in range(2000):
        found = quantile([rng.random() for _ in range(n)], q)
        hits += (found.lo is None or found.lo <= q) and (found.hi is None or q <= found.hi)
    assert hits / 2000 >= 0.945


def test_nothing_gives_nothing():
    empty = summarise([None, float("nan"), float("inf")])
    assert (empty.n, empty.n_missing, empty.mean, empty.quantiles["p50"].value) == (0, 3, None, None)


def test_columns_are_named_after_the_metric():
    columns = summarise([1.0, 2.0, 3.0]).named("ttft_ms")
    assert columns["ttft_ms_p50"] == columns["ttft_ms_mean"] == 2.0
    assert columns["ttft_ms_p99_hi"] is None
    assert columns["ttft_ms_n"] == 3


def test_failures_count_as_the_worst():
    assert quantile_with_failures([1, 2, 3, 4], 1, 0.5) == 3
    assert quantile_with_failures([1, 2, 3, 4], 1, 0.95) is None
    assert quantile_with_failures([10, 20, 30, 40], 1, 0.5, "higher") == 20
    assert quantile_with_failures([10, 20, 30, 40], 1, 0.05, "higher") is None
    assert quantile_with_failures([], 0, 0.5) is None


def test_ramp_and_tail_are_outside_the_steady_window():
    def flow(start_s: float, end_s: float) -> Flow:
        times = tuple(int(S * (start_s + (end_s - start_s) * (i + 1) / 10)) for i in range(10))
        return Flow(int(S * start_s), times, (10.0,) * 10)

    run = throughput([flow(0, 10), flow(2, 8), flow(2, 8), flow(2, 8)])
    assert run.peak_concurrency == 4
    assert run.steady_window_s == 6
    assert run.tok_s == 40.0
    assert run.steady_tok_s == pytest.approx((3 * 100 + 60) / 6)
    assert run.peak_tok_s >= run.steady_tok_s


def test_a_peak_of_a_moment_is_no_steady_time():
    """Two streams of 100 tokens in 10 s that overlap for 20 ms, in which 12 tokens come."""
    first = tuple(int(S * 0.1) * (k + 1) for k in range(100))
    second = (int(S * 9.99), *(int(S * 10.1) + int(S * 0.1) * k for k in range(99)))
    run = throughput([Flow(0, first, (1.0,) * 100), Flow(int(S * 9.98), second, (10.0, *(1.0,) * 99))])
    assert run.peak_concurrency == 2
    assert run.steady_window_s == pytest.approx(0.02)
    assert run.steady_tok_s is None
    assert run.peak_tok_s < 25


def test_peak_is_never_under_the_average():
    rng = random.Random(3)
    for _ in range(200):
        flows = []
        for _ in range(rng.randint(1, 8)):
            start = rng.randrange(5 * S)
            times = tuple(sorted(start + rng.randrange(1, 7 * S) for _ in range(rng.randint(1, 20))))
            flows.append(Flow(start, times, tuple(rng.random() * 5 for _ in times)))
        run = throughput(flows)
        assert run.peak_tok_s >= run.tok_s * (1 - 1e-9)


def test_no_requests_no_rate():
    assert throughput([]).tok_s is None
    assert offered([], []).offered_s is None
    assert offered([5], [5]).ratio is None
