"""What is written is what is read."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from speedqual.records import Attempt, Event, Record, ServerTimings, Timeline, ToolCall, Trial, Usage
from speedqual.running.codec import decode_events, decode_record, encode_events, encode_record, to_line

TEXTS = st.text(st.sampled_from('ab\n"\\中✓\u2028\ud800'), min_size=1, max_size=4)


@st.composite
def attempts(draw):
    events, t, read = [], draw(st.integers(0, 2**60)), 1
    for _ in range(draw(st.integers(0, 6))):
        t, read = t + draw(st.integers(0, 10**9)), read + draw(st.integers(0, 2))
        channel = draw(st.sampled_from(["answer", "reasoning", "tool", "refusal"]))
        events.append(Event(t, channel, draw(TEXTS), read, draw(st.one_of(st.none(), st.integers(0, 9)))))
    timeline = Timeline(t_send=draw(st.one_of(st.none(), st.just(0))), events=tuple(events), n_reads=read)
    return Attempt(
        number=draw(st.integers(1, 3)),
        outcome=draw(st.sampled_from(["ok", "empty", "timeout"])),
        timeline=timeline,
        text=draw(TEXTS),
        tool_calls=draw(st.sampled_from([(), (ToolCall("f", ""),)])),
        usage=draw(st.sampled_from([Usage(), Usage(n_out=0, source="usage")])),
        server=draw(st.sampled_from([None, ServerTimings(queue_ms=1.5)])),
        flags=draw(st.sampled_from([(), ("buffered",)])),
    )


@given(st.lists(attempts(), min_size=1, max_size=3))
def test_a_record_comes_back_as_it_was(tried):
    record = Record(
        trial=Trial(candidate="a/b", evalset="s", item='i"1'),
        attempts=tuple(tried),
        metrics={"ttft_ms": 1.5, "n_out": None},
        missing={"n_out": "why"},
        flags=("client_lag",),
    )
    line = json.loads(to_line(encode_record(record, 0, None)))
    events = decode_events(encode_events(record.attempts, lambda data: data))
    assert decode_record(line, events) == record


def test_a_line_is_a_line_and_strict_json():
    line = to_line({"text": "a\nb\u2028c\ud800"})
    assert line.count(b"\n") == 1
    assert json.loads(line) == {"text": "a\nb\u2028c\ud800"}
    with pytest.raises(ValueError, match="JSON"):
        to_line({"x": float("nan")})


def test_whatever_a_server_calls_usage_can_be_written():
    deep: dict = {"tokens": float("nan")}
    for _ in range(300):
        deep = {"more": deep}
    attempt = Attempt(number=1, outcome="ok", timeline=Timeline(), usage_raw={"n": float("inf"), "ok": 1, "deep": deep})
    record = Record(trial=Trial(candidate="a", evalset="s", item="i"), attempts=(attempt,))
    kept = decode_record(json.loads(to_line(encode_record(record, 0, None)))).last.usage_raw
    assert (kept["n"], kept["ok"]) == (None, 1)


def test_secrets_are_taken_out_before_events_are_packed():
    event = Event(1, "answer", "sk-very-secret", 1)
    attempt = Attempt(number=1, outcome="ok", timeline=Timeline(events=(event,)))
    packed = encode_events([attempt], lambda data: data.replace(b"sk-very-secret", b"[key]"))
    assert decode_events(packed)[0][0].text == "[key]"


def test_cut_events_are_noticed():
    attempt = Attempt(number=1, outcome="ok", timeline=Timeline(events=(Event(1, "answer", "x", 1),)))
    packed = encode_events([attempt], bytes)
    for damaged in (packed[:-1], packed[:20], b"", b"no gzip at all"):
        with pytest.raises(ValueError, match=r"cut|header|incorrect"):
            decode_events(damaged)
