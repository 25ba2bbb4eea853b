"""Steady levels: which window a number belongs to, Little's law, tokens a second, the client's own limit."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from loadruns import Made, attempt, closed_loop, entry, record

from speedqual.analysis import Levels, Saturation
from speedqual.analysis.load.passing import Passed, each_level
from speedqual.analysis.load.reading import read_load
from speedqual.errors import UsageError
from speedqual.records import Record, Usage


def only(run: Any) -> dict[str, Any]:
    """The single level of a run."""
    (row,) = Levels()(run).table.to_dict("records")
    return {str(name): value for name, value in row.items()}


def test_two_users_without_a_pause() -> None:
    # each stays 100 + 9 · 10 = 190 ms and comes again at once: 10 rounds = 1.9 s, 20 requests of 10 tokens
    row = only(Made(closed_loop(2, 10), [entry("2 users", 2, 0.0, 1900.0)]))
    assert row["n"] == 20 and row["ok"] == 20 and row["cut"] == 0
    assert row["in_flight"] == pytest.approx(2.0) and row["in_system_s"] == pytest.approx(0.19)
    assert row["arrivals_s"] == pytest.approx(20 / 1.9) and row["little"] == pytest.approx(1.0)
    assert row["tok_s"] == pytest.approx(200 / 1.9) and row["done_s"] == pytest.approx(20 / 1.9)
    assert (
        row["ttft_ms_p50"] == 100.0 and row["e2e_ms_p50"] == 190.0 and row["decode_tok_s_p50"] == pytest.approx(100.0)
    )
    assert row["offered_s"] is None or np.isnan(row["offered_s"])


def test_warm_up_and_cool_down_are_cut_off() -> None:
    # window [500, 1500] ms; requests at 0, 190, 380, …, 1710: sent in it are 570 … 1330, that is 5 of 10
    made = Made(closed_loop(1, 10), [entry("1 users", 1, 0.0, 2000.0, warmup_s=0.5, cooldown_s=0.5)])
    row = only(made)
    assert row["window_s"] == 1.0 and row["n"] == 5 and row["cut"] == 5
    # tokens by the time they came: 480 … 1500 is 570 + 4 · 190 … of the request sent at 380: first at 480, so 8 from 500 on
    times = [sent + 100 + 10 * i for sent in range(0, 1900, 190) for i in range(10)]
    assert row["tok_s"] == sum(500 <= t <= 1500 for t in times)


def test_a_latency_belongs_to_the_window_of_its_first_token() -> None:
    # sent at 400 with its first token at 600, and sent at 900 with its first token at 1100; window [500, 1000]
    replies = [record("l", 1, 0, attempt(400, first_ms=200)), record("l", 1, 1, attempt(900, first_ms=210))]
    load = read_load(Made(replies, [entry("l", 1, 0.0, 1500.0, warmup_s=0.5, cooldown_s=0.5)]))
    assert list(load.frame["in_window"]) == [False, True] and list(load.frame["first_in_window"]) == [True, False]
    assert only(Made(replies, [entry("l", 1, 0.0, 1500.0, warmup_s=0.5, cooldown_s=0.5)]))["ttft_ms_p50"] == 200.0


def test_without_a_cool_down_the_last_replies_count_and_the_rates_stop_with_the_arrivals() -> None:
    replies = closed_loop(2, 3)  # sent at 0, 190, 380; over at 570
    row = only(Made(replies, [entry("2 users", 2, 0.0, 380.0, drained_ms=570.0)]))
    assert row["n"] == 6 and row["ttft_ms_p50"] == 100.0 and row["window_s"] == 0.38
    assert row["tok_s"] == pytest.approx(4 * 10 / 0.38)  # of the four that were over by then


def test_little_is_off_while_a_queue_grows() -> None:
    # one a 100 ms, each stays longer than the one before: 100, 200, … ms
    replies = [record("10 req/s", 10, n, attempt(100 * n, first_ms=100 * (n + 1), tokens=1)) for n in range(20)]
    result = Levels()(Made(replies, [entry("10 req/s", 10, 0.0, 2000.0)]))
    assert result.table["little"].iloc[0] < 0.9
    assert "queue grew or shrank in the window at 10 req/s" in result.verdict


def test_every_attempt_is_in_flight_once() -> None:
    # 503 after 50 ms, again 100 ms later: 50 + 190 ms in flight of 340
    tries = (attempt(0, outcome="http_error", status=503, first_ms=50), attempt(150, number=2))
    row = only(Made([record("l", 1, 0, *tries)], [entry("l", 1, 0.0, 340.0)]))
    assert row["in_flight"] == pytest.approx(240 / 340) and row["arrivals_s"] == pytest.approx(2 / 0.34)
    assert row["n"] == 1 and row["failed"] == 0


def test_an_open_loop_says_what_it_offered_and_what_it_sent() -> None:
    # due every 100 ms, sent 0, 1, …, 19 ms late: 19 / 1.9 s offered, 19 / 1.919 s achieved
    replies = [record("10 req/s", 10, n, attempt(100 * n + n, sched_ms=100 * n), layer="arrivals") for n in range(20)]
    row = only(Made(replies, [entry("10 req/s", 10, 0.0, 2000.0, layer="arrivals")]))
    assert row["offered_s"] == pytest.approx(10.0) and row["achieved"] == pytest.approx(1.9 / 1.919)
    assert row["lag_p99_ms"] == pytest.approx(18.81) and not row["client_limited"]


@pytest.mark.parametrize("by", ["the client's own word", "late sends"])
def test_a_level_that_the_client_limits_is_not_the_servers(by: str) -> None:
    late = 0.0 if by == "the client's own word" else 60.0
    client = {"limited": True, "why": "event loop 9 ms late at p99"} if not late else {}
    replies = [record("l", 1, n, attempt(100 * n + late * (n % 2), sched_ms=100 * n)) for n in range(20)]
    result = Levels()(Made(replies, [entry("l", 1, 0.0, 2000.0, client=client)]))
    assert result.table["client_limited"].iloc[0]
    assert "the client was the limit at l" in result.verdict and "not the server's figures" in result.notes[0]


def test_a_level_that_was_interrupted_and_gone_on_with_has_two_windows() -> None:
    replies = closed_loop(1, 5) + [
        record("1 users", 1, 5 + n, attempt(10_000 + 190 * n)) for n in range(5)
    ]  # nothing in between
    entries = [entry("1 users", 1, 0.0, 950.0, ended="interrupted"), entry("1 users", 1, 10_000.0, 10_950.0)]
    row = only(Made(replies, entries))
    assert row["window_s"] == pytest.approx(1.9) and row["n"] == 10 and row["ended"] == "completed"
    assert row["in_flight"] == pytest.approx(1.0) and row["little"] == pytest.approx(1.0)
    assert row["tok_s"] == pytest.approx(100 / 1.9)


def test_the_pause_of_an_interrupted_open_loop_is_no_part_of_its_rate() -> None:
    # 10 a second, 5 of them, an hour of nothing, 5 more: due at 0 … 400 and 3,600,000 … 3,600,400 ms
    due = [100.0 * n for n in range(5)] + [3_600_000 + 100.0 * n for n in range(5)]
    replies = [record("10 req/s", 10, n, attempt(t + 1, sched_ms=t), layer="arrivals") for n, t in enumerate(due)]
    entries = [
        entry("10 req/s", 10, 0.0, 500.0, layer="arrivals", ended="interrupted"),
        entry("10 req/s", 10, 3_600_000.0, 3_600_500.0, layer="arrivals"),
    ]
    row = only(Made(replies, entries))
    assert row["offered_s"] == pytest.approx(9 / 0.9) and row["achieved"] == pytest.approx(1.0)
    assert row["window_s"] == 1.0 and row["tok_s_whole"] is None


def test_a_level_that_was_killed_ends_with_its_last_reply() -> None:
    killed = entry("1 users", 1, 0.0, 0.0, ended="interrupted") | {"end_ms": None, "drained_ms": None}
    row = only(Made(closed_loop(1, 5), [killed]))
    assert row["window_s"] == pytest.approx(0.95) and row["ended"] == "interrupted"


def test_records_are_let_go_level_by_level() -> None:
    made = Made(closed_loop(1, 5) + closed_loop(2, 5, at_ms=2000.0))
    seen: list[tuple[str, int, int]] = []
    each_level(made, read_load(made), lambda key, passed: seen.append((key[2], passed.n, len(passed.token_times))))
    assert seen == [("1 users", 5, 50), ("2 users", 10, 100)]


def test_a_flow_keeps_its_tokens_and_its_times() -> None:
    passed = Passed()
    passed.add(record("l", 1, 0, attempt(0, tokens=3)), 0)
    passed.add(record("l", 1, 1, attempt(5, outcome="timeout")), 0)
    (flow,) = passed.flows()
    assert flow.tokens == (1.0, 1.0, 1.0) and [t - flow.t_send for t in flow.times_ns] == [
        100_000_000,
        110_000_000,
        120_000_000,
    ]
    assert len(passed.sends) == 2


def test_a_table_alone_has_latencies_and_no_flow() -> None:
    row = only(Made(closed_loop(2, 10)).df)
    assert row["ttft_ms_p50"] == 100.0 and row["tok_s"] is None and row["little"] is None
    with pytest.raises(UsageError, match="no load test"):
        Levels()(Made(closed_loop(1, 1)).df.assign(layer=""))


def ladder(*stays: tuple[int, float]) -> Made:
    """Closed loops of so many users whose first token takes so long, one after another."""
    replies, entries, at = [], [], 0.0
    for users, first_ms in stays:
        own = closed_loop(users, 40, first_ms=first_ms, at_ms=at)
        end = at + 40 * (first_ms + 90)
        replies += own
        entries.append(entry(f"{users} users", users, at, end))
        at = end + 1000
    return Made(replies, entries)


def test_saturation_is_named_where_no_level_beyond_brings_more() -> None:
    # 8 slots: users beyond wait their turn; 190 ms a reply up to 8, then 190 · users / 8
    found = Saturation()(ladder((1, 100), (4, 100), (8, 100), (16, 290), (32, 670)))
    (point,) = found.points.to_dict("records")
    assert point["level"] == "8 users" and point["gain"] == pytest.approx(1.0) and point["gain_hi"] < 1.1
    assert point["tok_s"] == pytest.approx(8 * 10 / 0.19)
    assert json.dumps(found.to_dict(), allow_nan=False)


def test_no_saturation_while_throughput_rises() -> None:
    (point,) = Saturation()(ladder((1, 100), (2, 100), (4, 110))).points.to_dict("records")
    assert point["level"] is None and point["why"] == "throughput still rises at the highest level"
    (alone,) = Saturation()(ladder((1, 100))).points.to_dict("records")
    assert alone["why"] == "fewer than two levels tell the server's throughput"


def test_tokens_that_nobody_counted_are_no_rate_of_zero() -> None:
    replies = [replace_usage(one) for one in closed_loop(1, 5)]
    result = Levels()(Made(replies, [entry("1 users", 1, 0.0, 950.0)]))
    (row,) = result.table.to_dict("records")
    assert row["tok_s"] is None and row["uncounted"] == 5 and row["done_s"] == pytest.approx(5 / 0.95)
    assert result.notes == ("fast, 1 users: tokens a second leave out replies whose tokens nobody counted (5)",)
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["levels"][0]["tok_s"] is None


def test_tokens_a_second_say_how_many_replies_they_leave_out() -> None:
    counted = closed_loop(1, 5)
    result = Levels()(Made([*counted[:3], *map(replace_usage, counted[3:])], [entry("1 users", 1, 0.0, 950.0)]))
    (row,) = result.table.to_dict("records")
    assert row["tok_s"] == pytest.approx(30 / 0.95) and row["uncounted"] == 2
    assert result.notes[0].endswith("nobody counted (2)")


def replace_usage(one: Record) -> Record:
    """The same reply without any count of its tokens."""
    events = tuple(replace(e, n_tokens=None) for e in one.last.timeline.events)
    bare = replace(one.last, usage=Usage(source="none"), timeline=replace(one.last.timeline, events=events))
    return replace(one, attempts=(bare,))


def test_sends_that_waited_for_the_server_to_accept_them_do_not_excuse_it() -> None:
    # every second request was 600 ms late, and the client says that it was not its doing: on new connections
    replies = [record("l", 1, n, attempt(100 * n + 600 * (n % 2), sched_ms=100 * n)) for n in range(20)]
    own = {"limited": False, "why": "", "sched_lag_p99_ms": None, "loop_lag_p99_ms": 1.0}
    row = only(Made(replies, [entry("l", 1, 0.0, 2000.0, client=own)]))
    assert not row["client_limited"] and row["lag_p99_ms"] == 1.0


def test_the_planned_rate_is_that_of_the_window() -> None:
    # 19 requests in 6 s, the first at 0.1 s, the last at 5.5 s; one was sent after the window
    due = [100 + 300 * n for n in range(19)]
    replies = [
        record("3 req/s", 3, n, attempt(at + (600 if n == 18 else 1), sched_ms=at), layer="arrivals")
        for n, at in enumerate(due)
    ]
    row = only(Made(replies, [entry("3 req/s", 3, 0.0, 6000.0, layer="arrivals", unit="req/s")]))
    assert row["offered_s"] == pytest.approx(19 / 6) and row["achieved_s"] == pytest.approx(18 / 6)
    assert row["achieved"] == pytest.approx(5400 / (5500 + 599 - 100 - 0), rel=0.01)


def served(rate: int, capacity_s: float, at_ms: float, seconds: int = 20) -> list[Record]:
    """One server that takes requests in order, each for 1 / capacity; ``rate`` evenly spaced requests a second."""
    each_ms, free, found = 1000 / capacity_s, at_ms, []
    for n in range(rate * seconds):
        due = at_ms + 1000 * n / rate
        free = max(free, due) + each_ms
        reply = attempt(due, first_ms=free - due, tokens=2, gap_ms=0.01, sched_ms=due)
        found.append(record(f"{rate} req/s", rate, n, reply, layer="arrivals"))
    return found


def open_ladder(capacity_s: float, *rates: int) -> Made:
    replies, entries, at = [], [], 0.0
    for rate in rates:
        own = served(rate, capacity_s, at)
        replies += own
        entries.append(entry(f"{rate} req/s", rate, at, at + 20_000, layer="arrivals", unit="req/s"))
        at += 60_000
    return Made(replies, entries)


def test_saturation_is_named_at_the_highest_level_when_its_queue_grows() -> None:
    # 12 a second can be served: at 20 a second 160 of 400 wait at the end of 20 s, 80 at its middle
    found = Saturation()(open_ladder(12, 5, 10, 20))
    (point,) = found.points.to_dict("records")
    assert (point["level"], point["x"], point["gain"]) == ("20 req/s", 20, None)
    assert point["offered_s"] == pytest.approx(20, rel=0.01) and point["done_s"] == pytest.approx(12, rel=0.01)
    assert "saturated at 20 req/s, the queue grew: 20 came a second, 11.9 were answered" in found.verdict
    assert found.table["growth_late"].iloc[-1] == pytest.approx(80, abs=1)


def test_a_server_that_keeps_up_is_not_saturated_by_what_fills_it_at_first() -> None:
    # 40 a second that each stay 1 s: 40 in flight after the first second, and no more in the second half of the window
    replies, entries = [], []
    for k, rate in enumerate((20, 40)):
        at = 60_000.0 * k
        due = [at + 1000 * n / rate for n in range(20 * rate)]
        replies += [
            record(f"{rate} req/s", rate, n, attempt(t, first_ms=990, tokens=2, sched_ms=t), layer="arrivals")
            for n, t in enumerate(due)
        ]
        entries.append(entry(f"{rate} req/s", rate, at, at + 20_000, layer="arrivals", unit="req/s"))
    found = Saturation()(Made(replies, entries))
    (point,) = found.points.to_dict("records")
    assert point["level"] is None and point["why"] == "throughput still rises at the highest level"
    assert found.table["growth"].iloc[-1] == pytest.approx(40, abs=1)
    assert found.table["growth_late"].iloc[-1] == pytest.approx(0, abs=1)
