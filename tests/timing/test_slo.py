"""SLOs as text: what can be read, what is refused and how it is said."""

import pytest

from speedqual.errors import UsageError
from speedqual.timing.goodput import Slo, goodput, parse_slo


@pytest.mark.parametrize(
    ("text", "slo"),
    [
        ("ttft_ms < 800 @ 95%", Slo("ttft_ms", "<", 800.0, 0.95)),
        ("ttft_ms<800", Slo("ttft_ms", "<", 800.0, 1.0)),
        ("decode_tok_s >= 2e1 @ 99.9 %", Slo("decode_tok_s", ">=", 20.0, 0.999)),
        ("interactive: e2e_ms <= 5 @100%", Slo("e2e_ms", "<=", 5.0, 1.0, "interactive")),
        ("背景: n_out > 3", Slo("n_out", ">", 3.0, 1.0, "背景")),
    ],
)
def test_what_is_read_is_what_is_written(text, slo):
    assert parse_slo(text) == slo
    assert parse_slo(str(slo)) == slo
    assert Slo.from_dict(slo.to_dict()) == slo


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no SLO can be read"),
        ("ttft_ms", "no SLO can be read"),
        ("ttft_ms = 8", "no SLO can be read"),
        ("ttft_ms < 8 @ 95", "no SLO can be read"),
        ("ttft_ms < 8 and more", "no SLO can be read"),
        ("ttft < 8", "Did you mean 'ttft_ms'"),
        ("zzz < 8", "Known: "),
        ("token_source < 8", "no metric of a request"),
        ("ttft_ms < fast", "the limit is 'fast'"),
        ("ttft_ms < nan", "the limit is 'nan'"),
        ("ttft_ms > 8", "Did you mean ttft_ms <\\?"),
        ("ttft_ms < 8 @ x%", "the share is 'x'"),
        ("ttft_ms < 8 @ 0%", "the share is 0 %"),
        ("ttft_ms < 8 @ 101%", "the share is 101 %"),
    ],
)
def test_what_cannot_be_read_is_named(text, words):
    with pytest.raises(UsageError, match=words):
        parse_slo(text)


def test_a_promise_to_one_class_does_not_concern_another():
    slo = parse_slo("batch: ttft_ms < 8")
    assert (slo.concerns("batch"), slo.concerns("quick"), slo.concerns("")) == (True, False, False)
    assert parse_slo("ttft_ms < 8").concerns("quick")


def test_the_share_is_asked_of_all_and_not_of_one():
    requests = [("ok", {"ttft_ms": 5.0}), ("ok", {"ttft_ms": 9.0}), ("timeout", {}), ("ok", {"ttft_ms": None})]
    found = goodput(requests, [parse_slo("ttft_ms < 8 @ 25%")])
    assert (found.good, found.bad, found.undetermined, found.share) == (1, 2, 1, 0.25)
