"""Framing and decoding under hostile bytes. ``SPEEDQUAL_FUZZ=1`` (``make fuzz``) tries ten times as many."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from speedqual.endpoints.base import RawReply, Read
from speedqual.endpoints.reading.framing import Frame, Framer, LineFramer, SseFramer
from speedqual.endpoints.reading.framing_aws import AwsEventFramer
from speedqual.endpoints.reading.framing_json import JsonArrayFramer
from speedqual.endpoints.registry import endpoint, names

FRAMERS: list[Callable[[], Framer]] = [SseFramer, LineFramer, JsonArrayFramer, AwsEventFramer]
PROTOCOLS = [name for name in names() if endpoint(name).__class__.__name__ != "OpenAIChat"] + ["openai"]
EXAMPLES = 20_000 if os.environ.get("SPEEDQUAL_FUZZ") else 2_000
FUZZ = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])

TOKENS = st.sampled_from(
    [
        *(b"data: ", b"data:", b"data", b"event: error", b"event:x", b": c", b"id: 1", b"error: ", b"[DONE]"),
        *(b"\n", b"\r", b"\r\n", b"\n\n", b" ", b"\xef\xbb\xbf", b"\xe4\xb8", b"\xad", b"\xff", b"\xe2\x80\xa8"),
        *(b"\x00", b"{", b"}", b"[", b"]", b'"', b"\\", b",", b"null", b"1e999", b"NaN", b'"\\ud83d"'),
        *(b'{"choices":[{"index":0,"delta":{"content":"x"}}]}', b'{"error":{"message":"m"}}', b'{"done":true}'),
        b'{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}',
        b'{"choices":{"a":1},"usage":[],"candidates":{},"output":3,"message":7,"token":"t","response":null}',
        b'{"usage":{"prompt_tokens":-1,"completion_tokens":1e400,"total_tokens":"x"},"type":5}',
    ]
)
BODIES = st.lists(st.one_of(TOKENS, st.binary(max_size=12)), max_size=40).map(b"".join)
CUTS = st.lists(st.integers(0, 400), max_size=12)


def _split(body: bytes, cuts: list[int]) -> list[bytes]:
    at = sorted({0, len(body), *(cut for cut in cuts if cut <= len(body))})
    return [body[a:b] for a, b in pairwise(at)]


def _frames(framer: Framer, pieces: list[bytes]) -> list[Frame]:
    return [frame for piece in pieces for frame in framer.feed(piece)] + framer.close()


@pytest.mark.parametrize("make", FRAMERS, ids=lambda make: make.__name__)
@FUZZ
@given(body=BODIES, cuts=CUTS)
def test_any_split_gives_the_same_frames(make: Callable[[], Framer], body: bytes, cuts: list[int]) -> None:
    assert _frames(make(), _split(body, cuts)) == _frames(make(), [body])


@FUZZ
@given(limit=st.sampled_from([1, 8, 40]), body=BODIES, cuts=CUTS)
def test_the_limit_does_not_depend_on_the_split(limit: int, body: bytes, cuts: list[int]) -> None:
    for make in (SseFramer, LineFramer, JsonArrayFramer):
        assert _frames(make(limit), _split(body, cuts)) == _frames(make(limit), [body])


@pytest.mark.slow
@FUZZ
@given(body=BODIES, cuts=CUTS, status=st.sampled_from([200, 200, 200, 201, 307, 400, 429, 500, 529, 999, None]))
def test_no_bytes_make_a_protocol_raise(body: bytes, cuts: list[int], status: int | None) -> None:
    reads = tuple(Read(i * 1000, piece) for i, piece in enumerate(_split(body, cuts)))
    for name in PROTOCOLS:
        for ending in ("eof", "cut", "deadline"):
            raw = RawReply(t_send=0, status=status, headers={}, reads=reads, ending=ending)  # type: ignore[arg-type]
            attempt = endpoint(name).decode(raw)
            assert attempt.number == 1
            attempt.text.encode("utf-8")
            assert all(event.text for event in attempt.timeline.events)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_line_of_64_mb_is_cut_off_with_a_clear_error_and_little_memory(name: str) -> None:
    piece = b"x" * (1 << 20)
    head = b'data: {"choices":[{"index":0,"delta":{"content":"' if name == "openai" else b'{"a":"'
    raw = RawReply(t_send=0, status=200, headers={}, reads=tuple(Read(i, piece) for i in range(64)))
    raw = RawReply(
        t_send=0, status=200, headers={"content-type": "text/event-stream"}, reads=(Read(0, head), *raw.reads)
    )
    tracemalloc.start()
    attempt = endpoint(name).decode(raw)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert attempt.outcome in ("cut_off", "not_stream")
    assert attempt.error_message
    assert peak < 48 << 20


def test_deep_nesting_and_huge_numbers_are_unreadable_events_and_no_crash() -> None:
    for data in (b"[" * 100_000, b'{"a":' * 50_000, b'{"usage":{"prompt_tokens":' + b"9" * 10_000 + b"}}"):
        raw = RawReply(t_send=0, status=200, reads=(Read(0, b"data: " + data + b"\n\ndata: [DONE]\n\n"),))
        assert endpoint("openai").decode(raw).outcome == "bad_payload"
