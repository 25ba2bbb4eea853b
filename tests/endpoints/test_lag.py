"""The client's watch on itself."""

import asyncio
import time

import pytest

from speedqual.endpoints.transport.lag import Histogram, LagTicker, judge

MS = 1_000_000


async def test_a_blocked_loop_is_seen_by_those_who_were_there():
    ticker = LagTicker()
    ticker.start()
    before = time.perf_counter_ns()
    await asyncio.sleep(0.02)
    time.sleep(0.05)  # noqa: ASYNC251  a loop that is blocked is what is tested
    await asyncio.sleep(0.02)
    after = time.perf_counter_ns()
    assert ticker.worst_since(before) >= 40 * MS
    assert ticker.worst_since(after) < 40 * MS
    assert ticker.histogram.max_ns >= 40 * MS
    ticker.stop()
    seen = ticker.histogram.n
    await asyncio.sleep(0.02)
    assert ticker.histogram.n == seen


async def test_a_tick_that_is_overdue_right_now_counts():
    ticker = LagTicker()
    ticker.start()
    before = time.perf_counter_ns()
    time.sleep(0.03)  # noqa: ASYNC251
    assert ticker.worst_since(before) >= 20 * MS
    ticker.stop()


def test_percentiles_are_nearest_rank_in_buckets_of_ten_microseconds():
    histogram = Histogram()
    for ns in [-5, *range(0, 1_000_000, 10_000)]:
        histogram.add(ns)
    assert histogram.n == 101
    assert histogram.percentile_ms(50) == pytest.approx(0.495)
    assert histogram.percentile_ms(100) == pytest.approx(0.99)
    assert Histogram().percentile_ms(99) is None


@pytest.mark.parametrize(
    ("lag_ms", "cpu", "stamps", "words"),
    [
        (1.0, 0.3, {"kernel": 3}, ""),
        (80.0, 0.3, {"kernel": 3}, ""),
        (6.0, 0.3, {"data_received": 3}, "late"),
        (6.0, 0.3, {"kernel": 3, "data_received": 1}, "late"),
        (1.0, 0.95, {"kernel": 3}, "95%"),
        (None, None, {}, ""),
    ],
)
def test_a_run_is_client_limited_by_a_busy_core_or_a_late_loop_that_dates_bytes(lag_ms, cpu, stamps, words):
    why = judge(lag_ms, cpu, stamps)
    assert words in why
    assert bool(why) == bool(words)
