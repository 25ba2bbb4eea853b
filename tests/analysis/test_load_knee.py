"""Goodput and the knee: exact counts, exact bounds, and how often a level is wrongly said to hold."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from loadruns import Made, attempt, closed_loop, entry, record

from speedqual.analysis import Knee, judge_level
from speedqual.analysis.load.judging import (
    Counts,
    counts_of,
    design_effect,
    evidence,
    judged,
    p_fails,
    p_holds,
)
from speedqual.analysis.load.knee import in_order
from speedqual.analysis.load.reading import Level
from speedqual.errors import UsageError
from speedqual.running.load.search import next_x
from speedqual.timing.goodput import Slo, judge, parse_slo

FAST = Slo("ttft_ms", "<", 800.0, share=0.95)


def level(times: Any, name: str = "l", x: float = 1.0, **columns: Any) -> pd.DataFrame:
    """Requests with these times to first token; NaN is a time-out."""
    ttft = np.asarray(times, float)
    frame = pd.DataFrame({"candidate": "c", "layer": "concurrency", "level": name, "load_x": x, "ttft_ms": ttft})
    frame = frame.assign(outcome=np.where(np.isnan(ttft), "timeout", "ok"), phase="main", traffic="", **columns)
    n = np.arange(len(frame))
    return frame.assign(load_number=n, started_ms=100.0 * n, ttft_user_ms=ttft, e2e_user_ms=ttft)


def test_requests_are_judged_as_the_metrics_say() -> None:
    rows = level([100.0, 900.0, np.nan, 100.0])
    rows.loc[3, "ttft_ms"] = np.nan  # fine, but the number cannot exist
    assert list(judged(rows, [FAST])) == [1, 0, 0, -1]
    said = {1: "good", 0: "bad", -1: "undetermined"}
    metrics: list[dict[str, Any]] = [{"ttft_ms": 100.0}, {"ttft_ms": 900.0}, {}, {"ttft_ms": None}]
    alike = [judge(outcome, own, [FAST]) for outcome, own in zip(rows["outcome"], metrics, strict=True)]
    assert alike == [said[int(mark)] for mark in judged(rows, [FAST])]


def test_a_promise_to_one_class_binds_no_other() -> None:
    rows = level([900.0, 900.0, 100.0]).assign(traffic=["batch", "interactive", "interactive"])
    promise = parse_slo("interactive: ttft_ms < 800 @ 95%")
    assert list(judged(rows, [promise])) == [1, 0, 1]
    result = Knee((promise,))(rows)
    (row,) = result.table.to_dict("records")
    assert row["n"] == 2 and row["good"] == 1  # of the two to whom it was made
    classes = result.classes.set_index("traffic")["goodput"]
    assert classes["batch"] == 1.0 and classes["interactive"] == 0.5


def test_rows_that_share_a_label_are_judged_one_by_one() -> None:
    twice = pd.concat([level([900.0]).assign(traffic="batch"), level([900.0]).assign(traffic="interactive")])
    assert list(judged(twice, [parse_slo("interactive: ttft_ms < 800 @ 95%")])) == [1, 0]


def test_a_promised_metric_that_the_table_lacks_is_said() -> None:
    with pytest.raises(UsageError, match="no column decode_tok_s"):
        Knee(("decode_tok_s > 20 @ 95%",))(level([1.0]))


def test_fifty_nine_of_fifty_nine_show_95_percent_and_one_less_does_not() -> None:
    # 0.95^59 = 0.0485, 0.95^58 = 0.0510
    assert p_holds(Counts(59, 0, 0), 0.95) == pytest.approx(0.95**59)
    assert p_holds(Counts(58, 0, 0), 0.95) == pytest.approx(0.95**58)
    # one bad: P(X ≥ 92 of 93) = 0.95^93 + 93 · 0.05 · 0.95^92
    assert p_holds(Counts(92, 1, 0), 0.95) == pytest.approx(0.95**93 + 93 * 0.05 * 0.95**92)


def test_the_undetermined_help_neither_side() -> None:
    assert p_holds(Counts(59, 0, 1), 0.95) == p_holds(Counts(59, 1, 0), 0.95)
    assert p_fails(Counts(50, 0, 10), 0.95) == 1.0
    assert p_fails(Counts(50, 10, 10), 0.95) == p_fails(Counts(60, 10, 0), 0.95)


def test_all_of_them_can_be_refuted_and_never_shown() -> None:
    assert p_fails(Counts(999, 1, 0), 1.0) == 0.0 and p_holds(Counts(999, 1, 0), 1.0) == 1.0
    assert p_holds(Counts(59, 0, 0), 1.0) == pytest.approx(0.95**59)  # 95 % is what so many can show
    result = Knee(("ttft_ms < 800",))(level([1.0] * 60))
    assert result.levels["state"].iloc[0] == "holds" and any("never shown" in note for note in result.notes)


def test_neighbours_that_fare_alike_count_for_fewer() -> None:
    alternating, in_two = np.arange(80) % 2 == 0, np.arange(80) < 40
    # 20 blocks of 4: means all 1/2, then all 0 or 1: variance 1/4 · 4 / (1/4) = 4
    assert design_effect(alternating) == 1.0 and design_effect(in_two) == 4.0
    assert counts_of(np.where(in_two, 1, 0).astype(np.int8), np.arange(80.0)).effect == 4.0
    assert p_fails(Counts(40, 40, 0, 4.0), 0.75) > p_fails(Counts(40, 40, 0), 0.75)


def climb(*shares: float, n: int = 300) -> pd.DataFrame:
    """Levels 1, 2, 4, … with exactly these shares of good requests, spread evenly."""
    parts = []
    for k, share in enumerate(shares):
        bad = round(n * (1 - share))
        times = np.full(n, 100.0)
        times[np.linspace(0, n - 1, bad).astype(int)] = 900.0
        parts.append(level(times, f"{2**k} users", 2.0**k))
    return pd.concat(parts, ignore_index=True)


def test_the_knee_of_a_known_curve() -> None:
    result = Knee((FAST,))(climb(1.0, 1.0, 0.99, 0.94, 0.5))
    assert list(result.levels["state"]) == ["holds", "holds", "holds", "open", "fails"]
    (row,) = result.knees.to_dict("records")
    assert (row["knee"], row["fails"], row["untold"]) == ("4 users", "16 users", "8 users")
    assert result.verdict == (
        "c, concurrency: every promise is held up to 4 users (goodput 99 % of 300), broken at 16 users; "
        "cannot be told: 8 users."
    )
    assert json.dumps(result.to_dict(), allow_nan=False)


def test_goodput_has_wilsons_interval() -> None:
    row = Knee((FAST,))(climb(0.9, n=50)).levels.iloc[0]
    assert (row["good"], row["bad"], row["goodput"]) == (45, 5, 0.9)
    assert (round(row["lo"], 4), round(row["hi"], 4)) == (0.7864, 0.9565)


def test_all_promises_must_hold_and_one_broken_suffices() -> None:
    rows = climb(1.0, 0.5).assign(decode_tok_s=[30.0] * 300 + [10.0] * 300)
    both = Knee((FAST, "decode_tok_s > 20 @ 95%"))(rows)
    assert list(both.levels["state"]) == ["holds", "fails"]
    assert list(both.table["state"]) == ["holds", "holds", "fails", "fails"]
    first = Knee((FAST, "decode_tok_s > 20 @ 95%"))(rows.assign(decode_tok_s=[10.0] * 300 + [30.0] * 300))
    assert list(first.levels["state"]) == ["fails", "fails"] and first.knees["knee"].iloc[0] is None
    assert first.levels["why"].iloc[0] == "decode_tok_s > 20 @ 95%"


def test_above_the_first_failing_level_nothing_is_the_knee() -> None:
    result = Knee((FAST,))(climb(1.0, 0.5, 1.0))
    (row,) = result.knees.to_dict("records")
    assert (row["knee"], row["fails"], row["odd"]) == ("1 users", "2 users", "4 users")


def test_where_the_client_was_the_limit_the_server_is_not_judged() -> None:
    replies = closed_loop(1, 100) + closed_loop(2, 50, first_ms=900, at_ms=50_000.0)
    limited = {"limited": True, "why": "event loop 9 ms late at p99"}
    entries = [entry("1 users", 1, 0, 19_000), entry("2 users", 2, 50_000, 99_500, client=limited)]
    result = Knee((FAST,))(Made(replies, entries))
    assert list(result.levels["state"]) == ["holds", "open"]
    assert result.knees["fails"].iloc[0] is None and "client was the limit" in result.levels["why"].iloc[1]


def test_only_what_was_sent_in_the_window_is_judged() -> None:
    slow_start = [record("l", 1, n, attempt(100 * n, first_ms=900 if n < 10 else 100)) for n in range(100)]
    whole = Knee((FAST,))(Made(slow_start, [entry("l", 1, 0, 10_000)]))
    cut = Knee((FAST,))(Made(slow_start, [entry("l", 1, 0, 10_000, warmup_s=1.0)]))
    assert whole.levels["bad"].iloc[0] == 10 and cut.levels["bad"].iloc[0] == 0 and cut.levels["n"].iloc[0] == 90


def test_the_promises_of_the_run_are_taken() -> None:
    made = Made(closed_loop(1, 80), [entry("1 users", 1, 0, 15_200)], [FAST.to_dict()])
    assert Knee()(made).slos == (FAST,)
    with pytest.raises(UsageError, match="no promise"):
        Knee()(Made(closed_loop(1, 1)))


def test_a_level_is_judged_while_it_runs() -> None:
    assert judge_level(level([100.0] * 100), [FAST]) == "holds"
    assert judge_level(level([100.0] * 30), [FAST]) == "open"
    assert judge_level(level([900.0] * 10), [FAST]) == "fails"
    assert judge_level(level([]), [FAST]) == "open" and judge_level(level([1.0]), []) == "open"


def test_what_is_still_in_flight_is_not_good() -> None:
    rows = level([100.0] * 100)
    assert judge_level(rows.drop(index=range(1, 99, 4)), [FAST]) == "open"  # 25 have not come back
    assert judge_level(rows.iloc[40:], [FAST]) == "open"  # 60 alone do not suffice, those of the warm-up are gone


@pytest.mark.parametrize("share", [0.9, 0.95])
def test_a_share_just_at_the_promise_is_seldom_said_to_hold_whenever_one_looks(share: float) -> None:
    # Ville: the evidence ever reaching 20 has a chance of at most 5 %; 600 sequences of 400, looked at every 10
    rng = np.random.default_rng(7)
    good = (rng.random((600, 400)) < share).cumsum(axis=1)[:, 9::10]
    sent = np.arange(10, 401, 10)
    ever = [any(evidence(Counts(g, n - g, 0), share)[0] >= 20 for g, n in zip(row, sent, strict=True)) for row in good]
    assert np.mean(ever) <= 0.05


RUN = [Level("c", "concurrency", str(k), k, "users", turn=k) for k in range(8)]


def test_false_knees_over_a_whole_ladder_are_rare() -> None:
    # eight levels, each exactly at its promise of 95 %: none holds, so any "holds" is false. 2,000 ladders
    rng = np.random.default_rng(11)
    drawn = rng.binomial(150, 0.95, (2000, 8))
    exact = {g: p_holds(Counts(g, 150 - g, 0), 0.95) for g in range(151)}
    wrong = [in_order([exact[int(g)] for g in row], RUN, 0.05).min() <= 0.05 for row in drawn]
    assert np.mean(wrong) <= 0.05


def test_false_knees_of_a_search_are_rare() -> None:
    # 99.5 % are good below 20 requests a second, from there on no more than the promised 95 %; a search doubles and
    # halves by what it sees. 1,000 searches: "holds" at 20 or above is false
    rng = np.random.default_rng(5)

    def found(x: float) -> float:
        good = int(rng.binomial(150, 0.995 if x < 20 else 0.95))
        return p_holds(Counts(good, 150 - good, 0), 0.95)

    wrong = right = 0
    for _ in range(1000):
        tried: list[float] = []
        held: dict[float, bool] = {}
        while len(held) < 8 and (x := next_x(held, 5, 160, 0.1, whole=False)) is not None:
            tried.append(found(x))
            held[x] = bool(in_order(tried, RUN[: len(tried)], 0.05)[-1] <= 0.05)
        wrong += any(ok and x >= 20 for x, ok in held.items())
        right += max((x for x, ok in held.items() if ok), default=0.0) >= 10
    assert 0 < wrong / 1000 <= 0.05 and right / 1000 >= 0.9


def test_a_level_well_within_its_promise_is_found() -> None:
    # 99 % good where 95 % are promised: shown at n = 300 in at least 95 of 100 ladders of five levels
    rng = np.random.default_rng(12)
    good = rng.binomial(300, 0.99, 400)
    assert np.mean([5 * p_holds(Counts(int(g), 300 - int(g), 0), 0.95) <= 0.05 for g in good]) >= 0.95


def test_the_design_effect_holds_the_error_where_trouble_comes_in_bursts() -> None:
    # good and bad come in runs of about 10: taken as independent, "holds" would be said far too often
    rng = np.random.default_rng(3)
    alone = together = 0
    for _ in range(600):
        good = np.repeat(rng.random(80) < 0.9, 10)
        n = int(good.sum())
        alone += p_holds(Counts(n, 800 - n, 0), 0.9) <= 0.05
        together += p_holds(Counts(n, 800 - n, 0, design_effect(good)), 0.9) <= 0.05
    assert alone / 600 > 0.15 and together / 600 <= 0.07
