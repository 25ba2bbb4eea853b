"""Long inputs, prefixes, cold starts, quality and errors under load, the timeline: stated as arithmetic."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from loadruns import Made, attempt, closed_loop, entry, record

from speedqual.analysis import (
    ColdStarts,
    LatencyByLoad,
    Lengths,
    LoadErrors,
    Prefix,
    QualityUnderLoad,
    RunTimeline,
)
from speedqual.analysis.load.cold import shift
from speedqual.errors import UsageError


def whole(result: Any) -> Any:
    """The result after its strict JSON was made."""
    assert json.dumps(result.to_dict(), allow_nan=False)
    return result


# ------------------------------------------------------------------------------------------------- latency by load


def test_percentiles_along_the_levels() -> None:
    replies = [record(f"{x} users", x, n, attempt(100 * n, first_ms=10 * x + n)) for x in (1, 4) for n in range(100)]
    table = whole(LatencyByLoad()(Made(replies))).table.set_index("level")
    assert table.loc["1 users", "p50"] == 59.5 and table.loc["4 users", "p50"] == 89.5
    assert table.loc["1 users", "p95"] == pytest.approx(10 + 94.05)
    assert table.loc["1 users", "p95_hi"] == 109.0 and table["p99_hi"].isna().all()  # 72 and 368 requests


def test_failures_count_as_never_done_in_the_twin() -> None:
    replies = [record("l", 1, n, attempt(100 * n, outcome="ok" if n < 90 else "timeout")) for n in range(100)]
    (row,) = LatencyByLoad(quantiles=(0.5, 0.95))(Made(replies)).table.to_dict("records")
    assert row["n"] == 90 and row["failed"] == 10 and row["p95"] == 100.0 and row["p95_with_failures"] is None


def test_the_slow_end_of_a_rate_is_its_p5() -> None:
    replies = [record("l", 1, n, attempt(100 * n, gap_ms=n + 1)) for n in range(100)]
    result = LatencyByLoad(metric="decode", quantiles=(0.5, 0.95))(Made(replies))
    assert result.names == ("p50", "p5") and result.table["p5"].iloc[0] < result.table["p50"].iloc[0]


def test_a_metric_that_nobody_has_is_said() -> None:
    with pytest.raises(UsageError, match="has a decode_tok_s"):
        LatencyByLoad(metric="decode")(Made([record("l", 1, 0, attempt(0, tokens=1))]))


# ----------------------------------------------------------------------------------------------------- long inputs


def long_inputs(ms_per_token: float = 0.25) -> Made:
    return Made(
        [
            record(
                f"{x} tokens",
                x,
                n,
                attempt(1000 * n, first_ms=50 + ms_per_token * x + n, n_prompt=x),
                layer="long_input",
            )
            for x in (100, 1000, 4000)
            for n in range(8)
        ]
    )


def test_each_thousand_tokens_cost_their_time() -> None:
    result = whole(Lengths()(long_inputs(0.25)))
    (slope,) = result.slopes.to_dict("records")
    assert slope["ms_per_1000"] == pytest.approx(250.0, rel=0.01) and slope["lo"] < 250 < slope["hi"]
    assert result.table["ttft_ms_p50"].tolist() == [50 + 25 + 3.5, 50 + 250 + 3.5, 50 + 1000 + 3.5]
    assert list(result.table["n_prompt"]) == [100.0, 1000.0, 4000.0]


def test_a_single_length_tells_no_slope() -> None:
    made = Made([record("100 tokens", 100, n, attempt(n, n_prompt=100), layer="long_input") for n in range(20)])
    result = whole(Lengths()(made))
    assert result.slopes["ms_per_1000"].iloc[0] is None and "cannot be told" in result.verdict


# -------------------------------------------------------------------------------------------------------- prefixes


def prefix_pairs(cached: Any = 500, *, cold_cached: int = 0, pairs: int = 8) -> Made:
    """Cold 400 + i ms, warm 150 ms, half of 1,000 tokens shared."""
    replies = []
    for i in range(pairs):
        for k, (note, first, n) in enumerate((("cold", 400 + i, cold_cached), ("warm", 150, cached))):
            reply = attempt(1000 * (2 * i + k), first_ms=first, n_prompt=1000, n_cached=n)
            own = {"layer": "prefix", "item": f"en-pair-{i}-{note}", "note": note}
            replies.append(record("50% shared", 0.5, 2 * i + k, reply, **own))
    return Made(replies)


def test_what_a_warm_prefix_saves() -> None:
    result = whole(Prefix()(prefix_pairs()))
    (row,) = result.table.to_dict("records")
    assert row["pairs"] == 8 and row["saved_ms"] == 253.5  # 250 + 3.5, the median of 0 … 7
    assert (row["saved_lo"], row["saved_hi"]) == (250.0, 257.0)  # the extremes of 8: P = 2/256 each
    assert row["shared_tokens"] == 500.0 and row["counts"] == "agree"
    assert row["saved_per_token_ms"] == pytest.approx(8 * 253.5 / 4000)
    assert row["per_token_lo"] < row["saved_per_token_ms"] < row["per_token_hi"] and result.notes == ()


@pytest.mark.parametrize(
    ("cached", "counts", "note"),
    [(100, "fewer", "disagree"), (900, "more", "disagree"), (None, "missing", "does not say")],
)
def test_counts_of_cached_tokens_are_checked(cached: int | None, counts: str, note: str) -> None:
    result = whole(Prefix()(prefix_pairs(cached)))
    assert result.table["counts"].iloc[0] == counts and any(note in said for said in result.notes)
    assert (result.table["saved_per_token_ms"].iloc[0] is None) == (cached is None)


def test_a_cold_request_that_was_not_cold_is_said() -> None:
    assert any("were not cold" in note for note in Prefix()(prefix_pairs(cold_cached=500)).notes)


def test_pairs_that_lack_one_half_are_left_out() -> None:
    made = prefix_pairs()
    (row,) = Prefix()(Made(list(made.records)[:-1])).table.to_dict("records")
    assert row["pairs"] == 7
    nothing = whole(Prefix()(Made(list(made.records)[:1])))
    assert nothing.table.empty and "No pair" in nothing.verdict


# ------------------------------------------------------------------------------------------------------ cold starts


def cold_starts(load_ms: float | None = 300.0) -> Made:
    """Warm 100 ms; after 10 s without a request 600 + n ms on a new connection."""
    warm = [record("100 tokens", 100, n, attempt(200 * n, first_ms=100), layer="long_input") for n in range(6)]
    cold = [
        record(
            "after 10 s, new connection", 10, n,
            attempt(20_000 + 11_000 * n, first_ms=600 + n, connection="new", load_ms=load_ms), layer="cold",
        )
        for n in range(6)
    ]  # fmt: skip
    return Made(warm + cold)


def test_a_cold_start_is_held_against_requests_that_waited_for_nothing() -> None:
    (row,) = whole(ColdStarts()(cold_starts())).table.to_dict("records")
    assert row["connection"] == "new" and row["n"] == 6 and row["warm_ms"] == 100.0 and row["cold_ms"] == 602.5
    assert row["excess_ms"] == 502.5 and row["load_ms"] == 300.0 and row["rest_ms"] == 202.5
    # idle: from the end of the reply before, 690 + n ms after its send (one more token each 10 ms)
    assert row["idle_s"] == pytest.approx(11 - 0.692, abs=0.02)


def test_a_server_that_does_not_say_what_it_loaded() -> None:
    (row,) = whole(ColdStarts()(cold_starts(None))).table.to_dict("records")
    assert row["excess_ms"] == 502.5 and row["load_ms"] is None and row["rest_ms"] is None


def test_a_request_that_did_not_wait_is_no_cold_start() -> None:
    made = cold_starts()
    at_once = record(
        "after 10 s, new connection", 10, 9, attempt(90_000, first_ms=5), attempt(90_100, number=2), layer="cold"
    )
    soon = record("after 10 s, new connection", 10, 10, attempt(90_500, first_ms=5), layer="cold")
    (row,) = (
        ColdStarts()(Made([*made.records, at_once, soon])).table[lambda t: t["connection"] == "new"].to_dict("records")
    )
    assert row["n"] == 6


def test_the_shift_of_few_has_no_bounds() -> None:
    assert (
        shift(np.array([5.0]), np.array([1.0, 2.0])).value == 3.5 and shift(np.array([5.0]), np.array([1.0])).lo is None
    )
    assert shift(np.array([]), np.array([1.0])).why == "no cold or no warm request"


# --------------------------------------------------------------------------------------------------------- quality


def graded(*rights: int, items: int = 40, **reply: Any) -> Made:
    """Levels 1, 2, 4, … users: the same items, so many of them right."""
    return Made(
        [
            record(
                f"{2**k} users", 2**k, n, attempt(1000 * (100 * k + n), **reply), item=f"i{n}", score=float(n < right)
            )
            for k, right in enumerate(rights)
            for n in range(items)
        ]
    )


def test_quality_along_the_levels_is_paired_by_item() -> None:
    result = whole(QualityUnderLoad()(graded(36, 36, 30)))
    assert list(result.table["delivered"]) == [0.9, 0.9, 0.75] and list(result.table["n"]) == [40, 40, 40]
    assert result.table["change"].tolist()[1:] == [0.0, pytest.approx(-0.15)]
    assert result.table["wrong"].tolist() == pytest.approx([0.1, 0.1, 0.25])
    assert result.cliffs is not None and result.cliffs.ladders["x_is"].iloc[0] == "x"


def test_a_drop_that_time_outs_explain_is_a_serving_fault() -> None:
    made = list(graded(36, 36, 36, 36).records)
    broken = [
        record("16 users", 16, n, attempt(10**6 + n, outcome="timeout", deadline="total"), item=f"i{n}")
        for n in range(20)
    ]
    kept = [record("16 users", 16, n, attempt(10**6 + n), item=f"i{n}", score=0.0) for n in range(20, 40)]
    result = whole(QualityUnderLoad()(Made([*made, *broken, *kept])))
    last = result.table.iloc[-1]
    assert last["timed_out"] == 0.5 and last["failed"] == 0.5 and last["delivered"] == 0.0
    assert result.cliffs is not None and result.cliffs.ladders["label"].iloc[0] == "serving fault"


def test_answers_that_get_worse_without_a_fault_are_a_cliff() -> None:
    result = QualityUnderLoad()(graded(95, 95, 95, 40, 40, 40, items=100))
    assert result.cliffs is not None
    (row,) = result.cliffs.ladders.to_dict("records")
    assert (row["label"], row["from"], row["to"]) == ("cliff", "4 users", "8 users")


def test_cut_answers_are_counted() -> None:
    result = QualityUnderLoad()(graded(40, 40, stop="length"))
    assert list(result.table["truncated"]) == [1.0, 1.0]


def test_an_ungraded_load_test_has_no_quality() -> None:
    with pytest.raises(UsageError, match="is graded"):
        QualityUnderLoad()(Made(closed_loop(2, 3)))


# ---------------------------------------------------------------------------------------------------------- errors


def test_every_attempt_is_counted_under_its_kind() -> None:
    limited = attempt(0, outcome="http_error", status=429, retry_after_s=1.0)
    replies = [
        record("l", 1, 0, limited, attempt(1200, number=2)),
        record("l", 1, 1, limited, attempt(1200, number=2, outcome="http_error", status=503)),
        record("l", 1, 2, attempt(0, outcome="timeout", deadline="first_token")),
        record("l", 1, 3, attempt(0, outcome="disconnect")),
        record("l", 1, 4, attempt(0, gap_ms=600)),
    ]
    result = whole(LoadErrors()(Made(replies, [entry("l", 1, 0, 5000, ended="breaker", why="3 in a row failed")])))
    (row,) = result.table.to_dict("records")
    assert (row["n"], row["failed"], row["attempts"], row["retried"], row["recovered"]) == (5, 3, 7, 2, 1)
    assert row["waits_asked"] == 2 and row["share"] == 0.6
    counts = {(one["of"], one["kind"]): one["n"] for one in result.counts.to_dict("records")}
    assert counts["attempts", "http 429"] == 2 and counts["attempts", "http 503"] == 1 and counts["attempts", "ok"] == 2
    assert counts["requests", "timeout first_token"] == 1 and counts["requests", "disconnect"] == 1
    assert "breaker (3 in a row failed)" in result.notes[0]
    assert result.verdict.startswith("3 of 5 requests failed") and result.verdict.endswith("a retry recovered 1.")


def test_a_table_alone_knows_how_requests_ended() -> None:
    result = whole(
        LoadErrors()(Made([record("l", 1, n, attempt(n, outcome="disconnect" if n else "ok")) for n in range(3)]).df)
    )
    assert result.table["attempts"].iloc[0] is None
    assert {one["kind"]: one["n"] for one in result.counts.to_dict("records")} == {"disconnect": 2, "ok": 1}


# -------------------------------------------------------------------------------------------------------- timeline


def test_the_timeline_adds_up() -> None:
    # two users, 190 ms a reply, 10 rounds from 0 to 1.9 s; one stream stands still for 600 ms from 2.1 s on
    stall = record("1 user", 1, 0, attempt(2000, tokens=5, stall_ms=600), layer="short_text")
    failed = record("1 user", 1, 1, attempt(3000, outcome="timeout", took_ms=500), layer="short_text")
    result = whole(RunTimeline(bin_s=0.5)(Made([*closed_loop(2, 10), stall, failed])))
    table = result.table
    assert table["in_flight"].iloc[0] == pytest.approx(2.0) and table["in_flight"].iloc[2] == pytest.approx(2.0)
    assert (table["in_flight"] * 0.5).sum() == pytest.approx(20 * 0.19 + 0.74 + 0.5)
    assert table["arrivals"].sum() == 22 and table["done"].sum() == 21 and table["errors"].sum() == 1
    assert table["stalls"].sum() == 1 and table.loc[table["stalls"] == 1, "t_s"].iloc[0] == 2.0
    assert result.verdict == "At most 2 in flight, 22 requests sent, 1 error (most at 3.5 s), 1 stall (most at 2 s)."


def test_a_long_run_gets_round_bins() -> None:
    replies = [record("l", 1, n, attempt(60_000 * n)) for n in range(60)]
    result = RunTimeline()(Made(replies))
    assert result.bin_s == 20.0 and len(result.table) <= 200
