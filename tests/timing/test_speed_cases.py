"""A stream in, the right numbers out: the cases in which public tools were seen to be wrong."""

import asyncio
import json
from statistics import median

import pytest

from speedqual.clock import FakeClock
from speedqual.records import Price, Timeline, ToolCall, Usage
from speedqual.timing import Words, measure, tokenizer_from
from speedqual.timing.goodput import Slo, goodput
from speedqual.timing.stream import MS, Stream
from speedqual.timing.summary import mean, quantile, summarise
from speedqual.timing.throughput import flow_of, offered, throughput


def usage(n_prompt: int, n_out: int, n_reasoning: int | None = None, **more: int) -> Usage:
    return Usage(n_prompt=n_prompt, n_out=n_out, n_reasoning=n_reasoning, source="usage", **more)


def gaps_ms(attempt) -> list[float]:
    return [gap / MS for gap in Stream((attempt,)).gaps_ns]


@pytest.fixture
def hi(reply):
    return reply(
        (214, "answer", "Hi"), (234, "answer", " there"), (254, "answer", "!"), usage=usage(9, 3, 0), close=256
    )


def test_s01_role_chunk_is_not_a_token(hi):
    m = measure([hi]).metrics
    assert (m["ttft_ms"], m["ttfa_ms"], m["e2e_ms"], m["n_out"]) == (214, 214, 254, 3)
    assert gaps_ms(hi) == [20, 20]
    assert (m["tpot_ms"], m["decode_tok_s"]) == (20.0, 50.0)


def test_s02_reasoning_first_answer_later(reply):
    thinking = reply(
        (400, "reasoning", "Okay"),
        (900, "reasoning", " a b c d e"),
        (1000, "answer", "one two three four"),
        (1200, "answer", " five six seven eight"),
        usage=usage(20, 14, 6),
        close=1510,
    )
    m = measure([thinking]).metrics
    assert (m["ttft_ms"], m["ttfa_ms"], m["thinking_ms"], m["e2e_ms"]) == (400, 1000, 600, 1200)
    assert m["close_lag_ms"] == 310
    assert (m["n_out"], m["n_reasoning"]) == (14, 6)
    assert gaps_ms(thinking) == [500, 100, 200]
    assert m["tpot_ms"] == pytest.approx(800 / 13)
    assert m["decode_tok_s"] == pytest.approx(16.25)


def test_s03_cut_off_while_still_thinking(reply):
    thoughts = [(300 + 40 * i, "reasoning", text) for i, text in enumerate(["a", " b", " c", " d", " e"])]
    measured = measure([reply(*thoughts, usage=usage(12, 5, 5), close=462, finish_reason="length", stop="length")])
    m = measured.metrics
    assert (m["ttft_ms"], m["ttfa_ms"], m["e2e_ms"], m["n_out"], m["tpot_ms"]) == (300, None, 460, 5, 40.0)
    assert measured.missing["ttfa_ms"] == "only reasoning came, no answer"
    assert measured.missing["thinking_ms"] == "only reasoning came, no answer"
    over_all = summarise([m["ttfa_ms"], 214.0])
    assert (over_all.n, over_all.n_missing, over_all.quantiles["p50"].value) == (1, 1, 214.0)


def test_s04_tool_call_only(reply):
    call = reply(
        (250, "tool", "lookup"),
        (290, "tool", '{"q":'),
        (330, "tool", '"x"}'),
        usage=usage(30, 18, 0),
        tool_calls=(ToolCall("lookup", '{"q":"x"}'),),
        stop="tool",
    )
    measured = measure([call])
    m = measured.metrics
    assert (m["ttft_ms"], m["ttfa_ms"], m["e2e_ms"], m["n_out"]) == (250, 250, 330, 18)
    assert gaps_ms(call) == [40, 40]
    assert m["tpot_ms"] == pytest.approx(80 / 17)
    assert "first_chunk_unknown" in measured.flags


def test_s05_usage_chunk_arrives_late(reply):
    late = reply((100, "answer", "a"), (120, "answer", " b"), (140, "answer", " c"), usage=usage(5, 3, 0), close=905)
    m = measure([late]).metrics
    assert (m["e2e_ms"], m["tpot_ms"], m["decode_tok_s"], m["close_lag_ms"]) == (140, 20.0, 50.0, 765)


def test_s06_keep_alive_comments_are_nothing(reply):
    m = measure([reply((120, "answer", "a"), (150, "answer", " b"), usage=usage(5, 2, 0), close=152)]).metrics
    assert (m["ttft_ms"], m["e2e_ms"], m["n_out"], m["tpot_ms"]) == (120, 150, 2, 30.0)


def test_s07_no_usage(reply):
    silent = reply((100, "answer", "one two three four"), (300, "answer", " five six seven eight"), close=301)
    counted = measure([silent], tokenizer=Words()).metrics
    assert (counted["n_out"], counted["token_source"], counted["tpot_ms"]) == (8, "tokenizer:whitespace", 50.0)
    uncounted = measure([silent])
    assert (uncounted.metrics["n_out"], uncounted.metrics["tpot_ms"], uncounted.metrics["decode_tok_s"]) == (None,) * 3
    assert uncounted.metrics["token_source"] == "none"
    assert gaps_ms(silent) == [200]
    assert flow_of(silent) is None


def test_s08_reasoning_tokens_are_inside_completion_tokens(reply):
    price = Price(input_usd_per_mtok=2, output_usd_per_mtok=10)
    m = measure([reply((5, "answer", "x"), usage=usage(100, 300, 250))], price=price).metrics
    assert (m["n_out"], m["n_reasoning"]) == (300, 250)
    assert m["cost_usd"] == pytest.approx(0.0032, abs=1e-12)


class Prepending:
    """An encoder that puts a start token before every text it is given."""

    def encode(self, text: str) -> list[str]:
        return ["<s>", *text.split()]


def test_s10_special_tokens_are_not_output(reply):
    abc = reply((100, "answer", "a"), (130, "answer", " b"), (160, "answer", " c"), close=161)
    m = measure([abc], tokenizer=tokenizer_from(Prepending(), "prepending")).metrics
    assert (m["n_out"], m["tpot_ms"]) == (3, 30.0)
    assert gaps_ms(abc) == [30, 30]


def test_s11_several_tokens_a_chunk(reply):
    texts = [
        (100, "answer", "t", 1),
        (140, "answer", "tttt", 5),
        (180, "answer", "tttt", 9),
        (220, "answer", "tttt", 13),
    ]
    speculative = reply(*texts, usage=usage(8, 13, 0))
    measured = measure([speculative])
    m = measured.metrics
    assert (m["n_out"], m["tpot_ms"], m["decode_tok_s"]) == (13, 10.0, 100.0)
    assert (m["chunk_gap_ms_p50"], m["chunk_gap_ms_p95"], m["chunk_gap_ms_max"]) == (40, 40, 40)
    assert "first_chunk_unknown" not in measured.flags


def test_s13_one_token_reply(reply):
    yes = measure([reply((500, "answer", "Yes"), usage=usage(4, 1, 0), close=502)])
    m = yes.metrics
    assert (m["ttft_ms"], m["e2e_ms"], m["tpot_ms"], m["decode_tok_s"]) == (500, 500, None, None)
    good = goodput([("ok", m)], [Slo("ttft_ms", "<=", 1000), Slo("tpot_ms", "<=", 50)])
    assert (good.sent, good.good, good.bad, good.undetermined, good.share) == (1, 0, 0, 1, 0.0)
    assert json.loads(json.dumps(m, allow_nan=False)) == m


def test_s14_empty_success(reply, hi):
    empties = [reply(usage=usage(7, 0, 0), outcome="empty", close=13) for _ in range(6)]
    measured = [measure([attempt]).metrics for attempt in [*empties, hi, hi, hi, hi]]
    ttft = summarise([m["ttft_ms"] for m in measured], n_failed=6)
    assert (ttft.n, ttft.n_missing, ttft.quantiles["p50"].value) == (4, 6, 214.0)
    assert ttft.with_failures["p50"] is None
    outcomes = ["empty"] * 6 + ["ok"] * 4
    good = goodput(zip(outcomes, measured, strict=True), [Slo("ttft_ms", "<", 800)])
    assert (good.good, good.bad, good.undetermined, good.share) == (4, 6, 0, 0.4)


@pytest.mark.parametrize("outcome", ["stream_error", "cut_off", "disconnect"])
def test_s15_error_after_200_is_no_fast_success(reply, outcome):
    broken = reply((100, "answer", "par"), (120, "answer", "tial"), outcome=outcome, close=150)
    measured = measure([broken])
    assert broken.text == "partial"
    assert (measured.metrics["ttft_ms"], measured.metrics["e2e_ms"]) == (None, None)
    assert outcome in measured.missing["ttft_ms"]
    assert goodput([(outcome, measured.metrics)], [Slo("ttft_ms", "<", 800)]).bad == 1
    seen = measure([broken], failed_too=True).metrics
    assert (seen["ttft_ms"], seen["e2e_ms"]) == (100, 120)


def test_s16a_the_mean_of_rates_is_not_the_inverse_of_a_mean(reply):
    two = [measure([reply((100, "answer", "a", 1), (100 + gap, "answer", "b", 2))]).metrics for gap in (10, 40)]
    assert [m["tpot_ms"] for m in two] == [10, 40]
    rates = summarise([m["decode_tok_s"] for m in two], better="higher")
    assert rates.mean == 62.5
    assert 1000 / mean([m["tpot_ms"] for m in two]) == 40.0


def test_s16b_the_tail_of_a_rate_is_its_slow_end():
    rates = summarise(range(1, 101), better="higher")
    assert rates.quantiles["p1"].value == pytest.approx(1.99)
    assert quantile(range(1, 101), 0.99).value == pytest.approx(99.01)
    assert set(rates.quantiles) == {"p50", "p5", "p1"}


def test_s18_aggregate_throughput_under_concurrency(reply):
    texts = [(200 * (i + 1), "answer", "x") for i in range(10)]
    replies = [reply(*texts, usage=usage(5, 100)) for _ in range(10)]
    whole = throughput(flow_of(attempt) for attempt in replies)
    assert (whole.tok_s, whole.req_s, whole.steady_tok_s) == (500.0, 5.0, 500.0)
    assert whole.peak_tok_s >= whole.tok_s
    assert {100 / measure([attempt]).metrics["e2e_ms"] * 1000 for attempt in replies} == {50.0}


def test_s19_waiting_before_the_send_is_part_of_the_latency(reply):
    one_at_a_time = [reply((500 * (i + 1), "answer", "x"), start=500 * i, sched=100 * i) for i in range(8)]
    measured = [measure([attempt]).metrics for attempt in one_at_a_time]
    assert mean([m["e2e_ms"] for m in measured]) == 500
    assert mean([m["sched_lag_ms"] for m in measured]) == 1400
    assert max(m["sched_lag_ms"] for m in measured) == 2800
    felt = [m["e2e_sched_ms"] for m in measured]
    assert (mean(felt), max(felt), quantile(felt, 0.99).value) == (1900, 3300, 3272)
    times: list[Timeline] = [attempt.timeline for attempt in one_at_a_time]
    assert offered([t.t_sched for t in times], [t.t_send for t in times]).client_limited


def test_s20_absolute_schedule():
    """Sleeping until k times the interval keeps 200 requests/s although each dispatch takes 0.45 ms."""
    clock = FakeClock()
    wanted = [5 * MS * k for k in range(10_000)]
    sent: list[int] = []

    async def dispatch() -> None:
        for t in wanted:
            await clock.sleep_until(t)
            sent.append(clock.now_ns())
            clock.advance(450_000)

    asyncio.run(dispatch())
    rate = offered(wanted, sent)
    assert rate.achieved_s == pytest.approx(200.0, rel=0.005)
    assert (rate.ratio, rate.lag_p99_ms, rate.client_limited) == (1.0, 0.0, False)
    late = [k * 5_450_000 for k in range(10_000)]  # sleeping the interval after the work
    assert offered(wanted, late).achieved_s == pytest.approx(183.5, abs=0.1)
    assert offered(wanted, late).client_limited


def test_s23_retry(reply):
    refused = reply(outcome="http_error", status=429, retry_after_s=1.0, retryable=True, close=50)
    texts = [(1350 + 20 * i, "answer", "x") for i in range(6)]
    answered = reply(*texts, usage=usage(9, 6, 0), start=1050, close=1452, number=2, status=200)
    measured = measure([refused, answered], price=Price(input_usd_per_mtok=1, output_usd_per_mtok=1))
    m = measured.metrics
    assert (m["ttft_ms"], m["ttft_user_ms"], m["e2e_user_ms"], m["tpot_ms"]) == (300, 1350, 1450, 20.0)
    assert m["attempts"] == 2
    assert "rate_limited" in measured.flags
    assert m["cost_usd"] == pytest.approx(15e-6)


def test_s24d_events_of_one_read_are_marked(reply):
    merged = reply((100, "answer", "中"), (100, "answer", "国"), (150, "answer", "✓"), reads=[1, 1, 2])
    assert gaps_ms(merged) == [0, 50]
    assert "coalesced" in measure([merged]).flags
    assert "buffered" not in measure([merged]).flags
    assert median(gaps_ms(merged)) == 25
