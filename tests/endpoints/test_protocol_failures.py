"""How a reply can fail, and how each failure is called."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import Any

import pytest
from protocol_streams import DONE, STOP, chat, chat_chunk, decode, sse

from speedqual.endpoints.recordings.seen import seen
from speedqual.records import Attempt


@pytest.mark.parametrize(
    ("frame", "code", "message"),
    [
        ({"error": {"message": "dead", "code": 503}}, "503", "dead"),
        ({"error": {"message": "dead", "type": "overloaded_error", "code": None}}, "overloaded_error", "dead"),
        ({"error": "dead"}, None, "dead"),
        ({"object": "error", "message": "dead", "type": "Bad", "code": 400}, "400", "dead"),
        ({"base_resp": {"status_code": 1002, "status_msg": "dead"}}, "1002", "dead"),
        ({"error_code": 17, "error_msg": "dead"}, "17", "dead"),
        ({"x_groq": {"error": "dead"}}, None, "dead"),
        ('event: error\ndata: {"message":"dead","code":"x"}\n\n', "x", "dead"),
        ("event: error\ndata: dead\n\n", None, "dead"),
        ('error: {"code": 500, "message": "dead"}\n\n', "500", "dead"),
        ('{"error": {"message": "dead", "code": 1}}\n\n', "1", "dead"),
    ],
)
def test_an_error_inside_the_stream(frame: Any, code: str | None, message: str) -> None:
    attempt = chat(chat_chunk(content="par"), frame, DONE)
    assert (attempt.outcome, attempt.error_code, attempt.error_message) == ("stream_error", code, message)
    assert (attempt.text, attempt.timeline.t_end) == ("par", None)


def test_an_error_after_the_finish_reason_is_still_one() -> None:
    attempt = chat(chat_chunk(content="a"), STOP, {"error": {"message": "late"}}, DONE)
    assert (attempt.outcome, attempt.timeline.t_end) == ("stream_error", None)


@pytest.mark.parametrize(
    ("body", "outcome", "message"),
    [
        ('{"error":{"message":"no","code":"x"}}', "body_error", "no"),
        ('{"error":"no"}', "body_error", "no"),
        ('{"detail":"no"}', "body_error", "no"),
        ('{"message":"no","code":"x"}', "body_error", "no"),
        ('[{"error":{"message":"no"}}]', "body_error", "no"),
        ('{"base_resp":{"status_code":1004,"status_msg":"no"}}', "body_error", "no"),
        ('\n {"error":{"message":"no"}}', "body_error", "no"),
        ('{"object":"chat.completion","choices":[{"message":{"content":"hi"}}]}', "not_stream", None),
        ("<html><head><title>Sign in</title>", "not_stream", "a web page instead of a stream: Sign in"),
        ("OK", "not_stream", "the body is no stream of this protocol: OK"),
        ("upstream connect error", "not_stream", None),
        ("", "cut_off", None),
        (": keep-alive\n\n", "cut_off", None),
    ],
)
@pytest.mark.parametrize("kind", ["application/json", "text/event-stream", "text/html"])
def test_what_stands_under_status_200_instead_of_a_stream(
    kind: str, body: str, outcome: str, message: str | None
) -> None:
    attempt = decode("openai", [body.encode()] if body else [], headers={"content-type": kind})
    assert attempt.outcome == outcome
    assert message is None or attempt.error_message == message
    assert not attempt.timeline.events


def test_a_stream_under_a_wrong_content_type_is_a_stream() -> None:
    for kind in ("application/json", "text/html", "text/plain"):
        assert chat(chat_chunk(content="a"), STOP, DONE, headers={"content-type": kind}).outcome == "ok"


@pytest.mark.parametrize(
    ("status", "body", "code", "message", "retryable"),
    [
        (429, '{"error":{"message":"slow","code":"rate_limit_exceeded"}}', "rate_limit_exceeded", "slow", True),
        (429, '{"error":{"message":"pay","code":"insufficient_quota"}}', "insufficient_quota", "pay", False),
        (503, "<html><title>503 Service Unavailable</title>", None, "503 Service Unavailable", True),
        (502, "", None, "HTTP 502", True),
        (400, '{"detail":[{"loc":["body"],"msg":"bad"}]}', None, '[{"loc": ["body"], "msg": "bad"}]', False),
        (404, '{"error":"model \'x\' not found"}', None, "model 'x' not found", False),
        (429, '[{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED"}}]', "429", "quota", True),
        (400, 'event:error\n:HTTP_STATUS/400\ndata:{"code":"Bad","message":"bad"}\n\n', "Bad", "bad", False),
        (500, "internal error\nmore", None, "internal error", True),
        (408, "", None, "HTTP 408", True),
    ],
)  # fmt: skip
def test_http_errors(status: int, body: str, code: str | None, message: str, retryable: bool) -> None:
    attempt = decode("openai", [body.encode()] if body else [], status=status)
    assert (attempt.outcome, attempt.status) == ("http_error", status)
    assert (attempt.error_code, attempt.error_message, attempt.retryable) == (code, message, retryable)


def test_a_redirect_is_an_http_error_that_says_where_to() -> None:
    attempt = decode("openai", [], status=307, headers={"location": "https://new.example/v1?key=secret"})
    assert (attempt.outcome, attempt.error_message) == (
        "http_error",
        "the endpoint redirects to https://new.example/v1",
    )


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:10 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 10.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:10 GMT"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({}, None),
    ],
)
def test_when_to_retry(headers: dict[str, str], seconds: float | None) -> None:
    assert decode("openai", [], status=429, headers=headers).retry_after_s == seconds


def test_rate_limits_of_both_spellings() -> None:
    headers = {
        "x-ratelimit-remaining-tokens": "29980",
        "x-ratelimit-reset-tokens": "6m0.5s",
        "x-ratelimit-reset-requests": "1h2m3s",
        "anthropic-ratelimit-input-tokens-limit": "8000",
        "anthropic-ratelimit-input-tokens-reset": "2026-10-21T07:28:30Z",
        "date": "Wed, 21 Oct 2026 07:28:00 GMT",
    }
    assert decode("openai", [], status=429, headers=headers).rate == {
        "remaining_tokens": 29980,
        "reset_tokens_s": 360.5,
        "reset_requests_s": 3723.0,
        "limit_input_tokens": 8000,
        "reset_input_tokens_s": 30.0,
    }


@pytest.mark.parametrize(
    ("ending", "outcome"),
    [
        ("eof", "cut_off"),
        ("reset", "disconnect"),
        ("cut", "disconnect"),
        ("deadline", "timeout"),
        ("cancelled", "cancelled"),
    ],
)
def test_how_a_stream_that_did_not_end_is_called(ending: str, outcome: str) -> None:
    attempt = chat(chat_chunk(content="a"), ending=ending, deadline="silence")
    assert (attempt.outcome, attempt.text) == (outcome, "a")
    assert attempt.deadline == ("silence" if outcome == "timeout" else None)
    no_reply = decode("openai", [], status=None, ending=ending)
    assert no_reply.outcome == ("disconnect" if outcome == "cut_off" else outcome)


def test_a_connection_that_dies_after_the_end_harms_nothing() -> None:
    attempt = chat(chat_chunk(content="a"), STOP, DONE, ending="reset")
    assert (attempt.outcome, attempt.flags) == ("ok", ("not_closed",))


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "deflate", "raw deflate", "identity"])
def test_compressed_bodies_are_read_and_flagged(encoding: str) -> None:
    clear = b"".join(sse(chat_chunk(content="a"), STOP, DONE))
    raw = zlib.compressobj(wbits=-15)
    body = {
        "gzip": gzip.compress(clear),
        "x-gzip": gzip.compress(clear),
        "deflate": zlib.compress(clear),
        "raw deflate": raw.compress(clear) + raw.flush(),
        "identity": clear,
    }[encoding]
    attempt = decode("openai", [body[:9], body[9:]], headers={"content-encoding": encoding.removeprefix("raw ")})
    assert (attempt.outcome, attempt.text) == ("ok", "a")
    assert ("compressed" in attempt.flags) is (encoding != "identity")


def test_a_body_that_was_already_inflated_is_read_as_it_is() -> None:
    for encoding in ("gzip", "deflate"):
        assert chat(chat_chunk(content="a"), STOP, DONE, headers={"content-encoding": encoding}).text == "a"


def test_an_unknown_compression_and_a_bomb_are_clear_errors() -> None:
    attempt = chat(chat_chunk(content="a"), headers={"content-encoding": "zstd"})
    assert attempt.outcome == "not_stream"
    assert attempt.error_message == "the body is compressed with zstd, which was not asked for"
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join([*(packer.compress(b"\0" * (1 << 20)) for _ in range(300)), packer.flush()])
    attempt = decode("openai", [bomb], headers={"content-encoding": "gzip"})
    assert attempt.error_message == "the body inflates to more than 256 MiB"


def test_what_was_seen_is_strict_json() -> None:
    frames = ['data: {"choices":[{"index":0,"delta":{"content":"a"}}],"usage":{"prompt_tokens":NaN,"x":1e999}}\n\n']
    attempt = chat(*frames, STOP, DONE)
    json.dumps(seen(attempt), allow_nan=False)
    json.dumps(attempt.to_dict(), allow_nan=False)
    assert Attempt.from_dict(json.loads(json.dumps(attempt.to_dict()))) == attempt
