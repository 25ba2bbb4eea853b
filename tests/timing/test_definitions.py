"""The edges of the definitions: what is undefined, what is flagged, what never happens."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from speedqual.records import Attempt, Event, Price, Timeline, Usage
from speedqual.timing import DEFINITIONS, measure
from speedqual.timing.page import page

NAMES = {
    *("ttft_ms", "ttfa_ms", "e2e_ms", "tpot_ms", "decode_tok_s", "decode_char_s", "close_lag_ms", "sched_lag_ms"),
    *("e2e_sched_ms", "ttft_user_ms", "e2e_user_ms", "thinking_ms", "n_out", "n_reasoning", "n_prompt", "n_cached"),
    *("token_source", "chunk_gap_ms_p50", "chunk_gap_ms_p95", "chunk_gap_ms_max", "stalls", "stall_share"),
    *("decay_ratio", "cost_usd", "attempts"),
}


def test_the_names_are_those_of_the_contract():
    assert {metric.name for metric in DEFINITIONS} == NAMES


def test_every_definition_says_all_there_is_to_say():
    for metric in DEFINITIONS:
        assert all((metric.unit, metric.formula, metric.undefined, metric.source, metric.doc)), metric.name


def test_the_page_is_fresh():
    path = Path(__file__).parents[2] / "docs" / "metrics.md"
    assert path.read_text(encoding="utf-8") == page(), "run: python -m speedqual.timing.page > docs/metrics.md"
    assert re.findall(r"^## `(\w+)`$", page(), re.M) == [metric.name for metric in DEFINITIONS]


def steady(reply, n: int, gap_ms: float, *, per_read: int = 1, idle_ms: float = 0, **more):
    events = [(100 + gap_ms * i + idle_ms * (i // per_read), "answer", "x") for i in range(n)]
    if per_read > 1:
        events = [(events[i // per_read * per_read][0], "answer", "x") for i in range(n)]
    reads = [i // per_read + 1 for i in range(n)]
    return reply(*events, reads=reads, usage=Usage(n_out=n, source="usage"), **more)


def test_a_buffering_proxy_is_not_a_faster_server(reply):
    clumped = measure([steady(reply, 40, 0, per_read=10, idle_ms=200)])
    assert "buffered" in clumped.flags
    assert clumped.metrics["decode_tok_s"] is None
    assert clumped.missing["tpot_ms"] == "not measurable: the stream was buffered on its way"
    in_one = measure([steady(reply, 40, 0, per_read=40)])
    assert "buffered" in in_one.flags
    assert in_one.missing["tpot_ms"] == "everything came in one read"


def test_a_fast_server_is_not_buffered(reply):
    fast = measure([steady(reply, 400, 0, per_read=10, idle_ms=5)])
    assert "buffered" not in fast.flags
    assert fast.metrics["decode_tok_s"] == pytest.approx(399 / 0.195)


def test_a_stall_is_long_by_itself_and_for_its_stream(reply):
    gaps = [20] * 9 + [501] + [20] * 9 + [499]
    times = [sum(gaps[:i]) for i in range(len(gaps) + 1)]
    m = measure([reply(*((t, "answer", "x") for t in times))]).metrics
    assert m["stalls"] == 1
    assert m["stall_share"] == pytest.approx(501 / sum(gaps))
    slow = measure([reply(*((600 * i, "answer", "x") for i in range(5)))]).metrics
    assert (slow["stalls"], slow["stall_share"]) == (0, 0.0)


def test_decay_is_the_last_third_over_the_first(reply):
    gaps = [10] * 100 + [15] * 100 + [20] * 100
    times = [0]
    for gap in gaps:
        times.append(times[-1] + gap)
    events = [(t, "answer", "x", i + 1) for i, t in enumerate(times[:300])]
    measured = measure([reply(*events)]).metrics
    assert measured["n_out"] == 300
    assert measured["decay_ratio"] == pytest.approx(0.5, rel=0.01)
    short = measure([reply(*events[:149])])
    assert short.missing["decay_ratio"] == "fewer than 150 tokens"


def test_zero_usage_for_a_reply_with_text_is_not_believed(reply):
    measured = measure([reply((1, "answer", "a"), (2, "answer", "b"), usage=Usage(n_out=0, source="usage"))])
    assert measured.metrics["n_out"] is None
    assert "zero_usage" in measured.flags


@pytest.mark.parametrize(
    ("price", "usage", "why"),
    [
        (None, Usage(n_prompt=1, n_out=1), "the price of this candidate is unknown"),
        (Price(output_usd_per_mtok=1), Usage(n_prompt=1, n_out=1), "the price of input tokens is unknown"),
        (Price(input_usd_per_mtok=1), Usage(n_prompt=1, n_out=1), "the price of output tokens is unknown"),
        (
            Price(input_usd_per_mtok=1, output_usd_per_mtok=1),
            Usage(n_prompt=1),
            "the server did not say how many tokens",
        ),
    ],
)
def test_unknown_cost_is_unknown(reply, price, usage, why):
    measured = measure([reply((1, "answer", "a"), usage=usage)], price=price)
    assert measured.metrics["cost_usd"] is None
    assert measured.missing["cost_usd"].startswith(why)


def test_cached_and_written_tokens_have_their_prices(reply):
    price = Price(input_usd_per_mtok=3, output_usd_per_mtok=15, cached_usd_per_mtok=0.3, cache_write_usd_per_mtok=3.75)
    usage = Usage(n_prompt=1000, n_out=10, n_cached=600, n_cache_write=200)
    cost = measure([reply((1, "answer", "a"), usage=usage)], price=price).metrics["cost_usd"]
    assert cost == pytest.approx((200 * 3 + 600 * 0.3 + 200 * 3.75 + 10 * 15) / 1e6)
    plain = measure([reply((1, "answer", "a"), usage=usage)], price=Price(input_usd_per_mtok=3, output_usd_per_mtok=15))
    assert plain.metrics["cost_usd"] == pytest.approx((1000 * 3 + 10 * 15) / 1e6)
    assert "cached_at_input_price" in plain.flags


def test_the_endpoint_knows_its_own_price(reply):
    measured = measure([reply((1, "answer", "a"), cost_usd=0.5)])
    assert measured.metrics["cost_usd"] == 0.5
    assert "cost_from_endpoint" in measured.flags


def test_the_client_says_when_it_was_late(reply):
    events = [(100, "answer", "a"), (200, "answer", "b")]
    assert "client_lag" not in measure([reply(*events, lag=4.9)]).flags
    assert "client_lag" in measure([reply(*events, lag=5.1)]).flags
    close = [(100, "answer", "a"), (110, "answer", "b")]
    assert "client_lag" not in measure([reply(*close, lag=1.4)]).flags
    assert "client_lag" in measure([reply(*close, lag=1.6)]).flags


CHANNELS = st.sampled_from(["answer", "reasoning", "tool", "refusal"])


@st.composite
def any_attempt(draw):
    t, read, total, events = draw(st.integers(0, 10**9)), 0, 0, []
    send = t
    counted = draw(st.booleans())
    for _ in range(draw(st.integers(0, 12))):
        if draw(st.booleans()):
            t, read = t + draw(st.integers(0, 10**9)), read + 1
        total += draw(st.integers(0, 5))
        events.append(Event(t, draw(CHANNELS), draw(st.sampled_from("x✓中")), read, total if counted else None))
    sent = send if events else draw(st.sampled_from([None, send]))
    timeline = Timeline(t_send=sent, events=tuple(events), t_close=draw(st.one_of(st.none(), st.just(t + 1))))
    counts = st.one_of(st.none(), st.integers(0, 500))
    return Attempt(
        number=1,
        outcome=draw(st.sampled_from(["ok", "cut_off", "empty", "http_error"])),
        timeline=timeline,
        usage=Usage(n_prompt=draw(counts), n_out=draw(counts), n_cached=draw(counts), source="usage"),
    )


@given(st.lists(any_attempt(), min_size=1, max_size=3), st.booleans())
def test_a_missing_number_is_none_with_a_reason_and_no_number_is_absurd(attempts, failed_too):
    attempts.sort(key=lambda attempt: attempt.timeline.t_send or 0)
    measured = measure(attempts, price=Price(input_usd_per_mtok=1, output_usd_per_mtok=1), failed_too=failed_too)
    assert set(measured.metrics) == NAMES
    for name, value in measured.metrics.items():
        assert (value is None) == (name in measured.missing)
        if isinstance(value, float):
            assert value == value and 0 <= value < float("inf"), name
