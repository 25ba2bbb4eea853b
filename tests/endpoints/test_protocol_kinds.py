"""Kinds of replies that recordings show one instance of, in other instances: each is a few lines of a stream."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import Any

import pytest

from speedqual.endpoints.base import RawReply, Read
from speedqual.endpoints.registry import endpoint
from speedqual.endpoints.seen import seen
from speedqual.records import Attempt, ToolCall

MS = 1_000_000


def _sse(*frames: Any) -> list[bytes]:
    """Each frame as one event; text stands as it is."""
    return [
        f.encode() if isinstance(f, str) else b"data: " + json.dumps(f, ensure_ascii=False).encode() + b"\n\n"
        for f in frames
    ]


def _decode(name: str, pieces: list[bytes], **raw: Any) -> Attempt:
    """The pieces 10 ms apart, the first at 10 ms."""
    reads = tuple(Read((i + 1) * 10 * MS, piece) for i, piece in enumerate(pieces))
    settings = {"t_send": 0, "status": 200, "headers": {"content-type": "text/event-stream"}, "reads": reads} | raw
    return endpoint(name).decode(RawReply(**settings))


def _chat(*frames: Any, name: str = "openai", **raw: Any) -> Attempt:
    return _decode(name, _sse(*frames), **raw)


def _delta(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


DONE = "data: [DONE]\n\n"
STOP = _delta("stop")


# ------------------------------------------------------------------------------------- OpenAI chat


@pytest.mark.parametrize(
    "delta",
    [
        {"reasoning_content": "hm"},
        {"reasoning": "hm"},
        {"reasoning_text": "hm"},
        {"thinking": "hm"},
        {"reasoning": {"content": "hm"}},
        {"reasoning_details": [{"type": "reasoning.text", "text": "hm"}]},
        {"reasoning_details": [{"type": "reasoning.summary", "summary": "hm"}]},
        {"reasoning": "", "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]},
        {"reasoning": "hm", "reasoning_content": "hm", "reasoning_details": [{"text": "hm"}]},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]},
        {"content": [{"type": "thinking", "thinking": "hm"}]},
    ],
)
def test_reasoning_under_any_name_counts_once(delta: dict[str, Any]) -> None:
    attempt = _chat(_delta(**delta), _delta(content="yes"), STOP, DONE)
    assert (attempt.reasoning, attempt.text) == ("hm", "yes")
    assert [event.channel for event in attempt.timeline.events] == ["reasoning", "answer"]


def test_reasoning_and_answer_in_one_chunk_are_one_frame_and_two_pieces() -> None:
    attempt = _chat(_delta(reasoning="a", content="b"), STOP, DONE)
    assert attempt.timeline.n_frames == 1
    assert [(e.channel, e.text, e.t_ns) for e in attempt.timeline.events] == [
        ("reasoning", "a", 10 * MS),
        ("answer", "b", 10 * MS),
    ]


USAGE = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}


@pytest.mark.parametrize(
    "last",
    [
        {"choices": [], "usage": USAGE},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": USAGE},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": USAGE}]},
        {"choices": [], "x_groq": {"usage": USAGE}},
        {"usage": USAGE},
        {"choices": None, "usage": USAGE},
    ],
)
def test_usage_is_found_wherever_it_comes(last: dict[str, Any]) -> None:
    attempt = _chat(_delta(content="a"), STOP, last, DONE)
    assert (attempt.usage.n_prompt, attempt.usage.n_out, attempt.usage.source) == (7, 5, "usage")
    assert attempt.timeline.t_usage == 30 * MS
    assert attempt.timeline.events[-1].t_ns == 10 * MS


def test_usage_after_the_done_marker_does_not_count() -> None:
    attempt = _chat(_delta(content="a"), STOP, DONE, {"choices": [], "usage": USAGE}, _delta(content="b"))
    assert (attempt.text, attempt.usage.n_out, attempt.timeline.t_end) == ("a", None, 30 * MS)


@pytest.mark.parametrize(
    ("usage", "n_out"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 9, "total_tokens": 49, "reasoning_tokens": 30}, 39),  # xAI: apart
        ({"prompt_tokens": 10, "completion_tokens": 39, "total_tokens": 49, "reasoning_tokens": 30}, 39),
        ({"prompt_tokens": 10, "completion_tokens": 9, "reasoning_tokens": 30}, 39),
        ({"prompt_tokens": 10, "completion_tokens": 39, "reasoning_tokens": 30}, 39),
    ],
)
def test_reasoning_is_in_the_output_once(usage: dict[str, int], n_out: int) -> None:
    usage["completion_tokens_details"] = {"reasoning_tokens": usage.pop("reasoning_tokens")}  # type: ignore[assignment]
    attempt = _chat(_delta(content="a"), STOP, {"choices": [], "usage": usage}, DONE)
    assert (attempt.usage.n_out, attempt.usage.n_reasoning) == (n_out, 30)


@pytest.mark.parametrize(
    ("usage", "cached"),
    [
        ({"prompt_tokens_details": {"cached_tokens": 4}}, 4),
        ({"prompt_cache_hit_tokens": 4}, 4),
        ({"cached_tokens": 4}, 4),
        ({"cache_read_input_tokens": 4}, 4),
        ({"input_tokens_details": {"cached_tokens": 0}}, 0),
        ({"prompt_tokens_details": None}, None),
        ({"prompt_tokens_details": {"cached_tokens": None}, "prompt_cache_hit_tokens": 4}, 4),
    ],
)
def test_cached_tokens_under_any_name(usage: dict[str, Any], cached: int | None) -> None:
    attempt = _chat(_delta(content="a"), STOP, {"choices": [], "usage": {"prompt_tokens": 9, **usage}}, DONE)
    assert attempt.usage.n_cached == cached


def test_running_totals_date_the_tokens() -> None:
    pieces = [_delta(content="t"), _delta(content="tttt"), _delta(content="tttt")]
    frames = [{**piece, "usage": {"completion_tokens": n}} for piece, n in zip(pieces, (1, 5, 9), strict=True)]
    attempt = _chat(*frames, STOP, {"choices": [], "usage": {"completion_tokens": 13}}, DONE)
    assert [event.n_tokens for event in attempt.timeline.events] == [1, 5, 9]
    assert attempt.usage.n_out == 13


@pytest.mark.parametrize(
    ("usage", "usd"),
    [
        ({"cost": 0.25}, 0.25),
        ({"cost": {"total_cost": 0.25}}, 0.25),
        ({"estimated_cost": 0.25}, 0.25),
        ({"cost_in_usd_ticks": 2_500_000_000}, 0.25),
        ({"cost": None}, None),
    ],
)
def test_cost_as_the_endpoint_sends_it(usage: dict[str, Any], usd: float | None) -> None:
    assert _chat(_delta(content="a"), STOP, {"choices": [], "usage": usage}, DONE).cost_usd == usd


def test_cost_and_tier_in_headers() -> None:
    headers = {"content-type": "text/event-stream", "x-litellm-response-cost": "0.5", "x-gemini-service-tier": "flex"}
    attempt = _chat(_delta(content="a"), STOP, DONE, headers=headers)
    assert (attempt.cost_usd, attempt.served_tier) == (0.5, "flex")


@pytest.mark.parametrize(
    ("chunk", "times"),
    [
        ({"usage": {"queue_time": 0.5, "prompt_time": 0.25, "total_time": 1.0}}, (500, 250, None, None, 1000)),
        ({"time_info": {"queue_time": 0.5, "completion_time": 0.25}}, (500, None, 250, None, None)),
        ({"usage": {"time_to_first_token": 0.5, "total_latency": 2}}, (None, None, None, 500, 2000)),
        ({"perf_metrics": {"server-time-to-first-token": "0.5"}}, (None, None, None, 500, None)),
        ({"timings": {"prompt_ms": 5, "predicted_ms": 7}}, (None, 5, 7, None, None)),
    ],
)
def test_server_timings_in_milliseconds(chunk: dict[str, Any], times: tuple[float | None, ...]) -> None:
    server = _chat(_delta(content="a"), STOP, {"choices": [], **chunk}, DONE).server
    assert server is not None
    assert (server.queue_ms, server.prefill_ms, server.decode_ms, server.ttft_ms, server.total_ms) == times


def _call(
    index: int | None, call_id: str | None = None, name: str | None = None, arguments: Any = None
) -> dict[str, Any]:
    function = {k: v for k, v in (("name", name), ("arguments", arguments)) if v is not None}
    return _delta(tool_calls=[{"index": index, "id": call_id, "function": function}])


def test_calls_told_apart_by_id_where_the_index_lies() -> None:
    frames = [_call(0, "a", "f", "{}"), _call(0, "b", "g", "{"), _call(0, "b", None, "}")]
    assert _chat(*frames, _delta("tool_calls"), DONE).tool_calls == (ToolCall("f", "{}"), ToolCall("g", "{}"))


def test_two_calls_in_one_chunk_are_one_frame() -> None:
    both = [{"index": i, "id": str(i), "function": {"name": "f", "arguments": "{}"}} for i in (0, 1)]
    attempt = _chat(_delta(tool_calls=both), _delta("tool_calls"), DONE)
    assert attempt.tool_calls == (ToolCall("f", "{}"), ToolCall("f", "{}"))
    assert attempt.timeline.n_frames == 1


def test_a_name_that_repeats_and_arguments_as_an_object() -> None:
    attempt = _chat(_call(0, "a", "f", ""), _call(0, "a", "f", {"x": "中"}), _delta("tool_calls"), DONE)
    assert attempt.tool_calls == (ToolCall("f", '{"x": "中"}'),)
    assert len(attempt.timeline.events) == 2


def test_the_older_function_call() -> None:
    frames = [_delta(function_call={"name": "f", "arguments": ""}), _delta(function_call={"arguments": "{}"})]
    attempt = _chat(*frames, _delta("function_call"), DONE)
    assert (attempt.tool_calls, attempt.stop) == ((ToolCall("f", "{}"),), "tool")


@pytest.mark.parametrize(
    ("reason", "stop", "outcome"),
    [
        ("stop", "stop", "ok"),
        ("length", "length", "ok"),
        ("model_length", "length", "ok"),
        ("content_filter", "filter", "ok"),
        ("sensitive", "filter", "ok"),
        ("never_heard_of", None, "ok"),
        ("error", "error", "stream_error"),
        ("network_error", "error", "stream_error"),
        ("insufficient_system_resource", "error", "stream_error"),
    ],
)
def test_finish_reasons(reason: str, stop: str | None, outcome: str) -> None:
    attempt = _chat(_delta(content="a"), _delta(reason), DONE)
    assert (attempt.finish_reason, attempt.stop, attempt.outcome) == (reason, stop, outcome)


def test_a_filter_without_an_answer_is_filtered_and_with_one_is_flagged() -> None:
    assert _chat(_delta(reasoning="hm"), _delta("content_filter"), DONE).outcome == "filtered"
    assert _chat(_delta("content_filter"), DONE).outcome == "filtered"
    attempt = _chat(_delta(content="a"), _delta("content_filter"), DONE)
    assert (attempt.outcome, "filtered" in attempt.flags) == ("ok", True)


def test_nothing_at_all_is_empty_and_the_done_marker_alone_completes() -> None:
    assert _chat(_delta(role="assistant", content=""), STOP, DONE).outcome == "empty"
    assert _chat(DONE).outcome == "empty"
    assert _chat(_delta(content="a"), DONE).outcome == "ok"


def test_one_of_two_choices_without_an_end_is_cut_off() -> None:
    two = {"choices": [{"index": 1, "delta": {"content": "b"}, "finish_reason": None}]}
    assert _chat(_delta(content="a"), two, STOP).outcome == "cut_off"
    end = {"choices": [{"index": 1, "delta": {}, "finish_reason": "stop"}]}
    attempt = _chat(_delta(content="a"), two, STOP, end)
    assert (attempt.outcome, attempt.text, attempt.choices) == ("ok", "a", ("a", "b"))


def test_a_whole_message_counts_only_when_nothing_came_before() -> None:
    message = {"choices": [{"index": 0, "message": {"content": "all"}, "finish_reason": "stop"}]}
    assert _chat(message, DONE).text == "all"
    assert _chat(_delta(content="al"), _delta(content="l"), message, DONE).text == "all"


def test_surrogates_in_two_chunks_are_one_character_and_every_event_is_utf8() -> None:
    half = [
        '{"choices":[{"index":0,"delta":{"content":"\\ud83d"}}]}',
        '{"choices":[{"index":0,"delta":{"content":"\\ude42"}}]}',
    ]
    attempt = _chat(*(f"data: {piece}\n\n" for piece in half), STOP, DONE)
    assert attempt.text == "🙂"
    for event in attempt.timeline.events:
        event.text.encode("utf-8")


def test_broken_utf8_inside_an_event_is_replaced_and_flagged() -> None:
    piece = b'data: {"choices":[{"index":0,"delta":{"content":"a\xff"}}]}\n\n'
    attempt = _decode("openai", [piece, *_sse(STOP, DONE)])
    assert (attempt.outcome, attempt.text, attempt.flags) == ("ok", "a\ufffd", ("bad_utf8",))


def test_events_set_apart_by_one_line_end_are_read() -> None:
    body = b"".join(piece[:-1] for piece in _sse(_delta(content="a"), _delta(content="b"), STOP)) + b"\n"
    assert _decode("openai", [body]).text == "ab"


@pytest.mark.parametrize(
    "noise",
    [": ping\n\n", "event: ping\ndata: ping\n\n", "data:\n\n", "data: {}\n\n", "data: null\n\n", "retry: 1\n\n"],
)
def test_keep_alives_are_nothing(noise: str) -> None:
    noise += "\n\n"
    attempt = _chat(noise, _delta(content="a"), noise, STOP, noise, DONE)
    assert (attempt.outcome, attempt.text, len(attempt.timeline.events)) == ("ok", "a", 1)


# ----------------------------------------------------------------------------------------- failures


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
    attempt = _chat(_delta(content="par"), frame, DONE)
    assert (attempt.outcome, attempt.error_code, attempt.error_message) == ("stream_error", code, message)
    assert (attempt.text, attempt.timeline.t_end) == ("par", None)


def test_an_error_after_the_finish_reason_is_still_one() -> None:
    attempt = _chat(_delta(content="a"), STOP, {"error": {"message": "late"}}, DONE)
    assert (attempt.outcome, attempt.timeline.t_end) == ("stream_error", None)


JSON = {"content-type": "application/json"}


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
    attempt = _decode("openai", [body.encode()] if body else [], headers={"content-type": kind})
    assert attempt.outcome == outcome
    assert message is None or attempt.error_message == message
    assert not attempt.timeline.events


def test_a_stream_under_a_wrong_content_type_is_a_stream() -> None:
    for kind in ("application/json", "text/html", "text/plain"):
        assert _chat(_delta(content="a"), STOP, DONE, headers={"content-type": kind}).outcome == "ok"


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
    attempt = _decode("openai", [body.encode()] if body else [], status=status)
    assert (attempt.outcome, attempt.status) == ("http_error", status)
    assert (attempt.error_code, attempt.error_message, attempt.retryable) == (code, message, retryable)


def test_a_redirect_is_an_http_error_that_says_where_to() -> None:
    attempt = _decode("openai", [], status=307, headers={"location": "https://new.example/v1?key=secret"})
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
    assert _decode("openai", [], status=429, headers=headers).retry_after_s == seconds


def test_rate_limits_of_both_spellings() -> None:
    headers = {
        "x-ratelimit-remaining-tokens": "29980",
        "x-ratelimit-reset-tokens": "6m0.5s",
        "x-ratelimit-reset-requests": "1h2m3s",
        "anthropic-ratelimit-input-tokens-limit": "8000",
        "anthropic-ratelimit-input-tokens-reset": "2026-10-21T07:28:30Z",
        "date": "Wed, 21 Oct 2026 07:28:00 GMT",
    }
    assert _decode("openai", [], status=429, headers=headers).rate == {
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
    attempt = _chat(_delta(content="a"), ending=ending, deadline="silence")
    assert (attempt.outcome, attempt.text) == (outcome, "a")
    assert attempt.deadline == ("silence" if outcome == "timeout" else None)
    no_reply = _decode("openai", [], status=None, ending=ending)
    assert no_reply.outcome == ("disconnect" if outcome == "cut_off" else outcome)


def test_a_connection_that_dies_after_the_end_harms_nothing() -> None:
    attempt = _chat(_delta(content="a"), STOP, DONE, ending="reset")
    assert (attempt.outcome, attempt.flags) == ("ok", ("not_closed",))


# --------------------------------------------------------------------------------------- compression


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "deflate", "raw deflate", "identity"])
def test_compressed_bodies_are_read_and_flagged(encoding: str) -> None:
    clear = b"".join(_sse(_delta(content="a"), STOP, DONE))
    raw = zlib.compressobj(wbits=-15)
    body = {
        "gzip": gzip.compress(clear),
        "x-gzip": gzip.compress(clear),
        "deflate": zlib.compress(clear),
        "raw deflate": raw.compress(clear) + raw.flush(),
        "identity": clear,
    }[encoding]
    attempt = _decode("openai", [body[:9], body[9:]], headers={"content-encoding": encoding.removeprefix("raw ")})
    assert (attempt.outcome, attempt.text) == ("ok", "a")
    assert ("compressed" in attempt.flags) is (encoding != "identity")


def test_a_body_that_was_already_inflated_is_read_as_it_is() -> None:
    for encoding in ("gzip", "deflate"):
        assert _chat(_delta(content="a"), STOP, DONE, headers={"content-encoding": encoding}).text == "a"


def test_an_unknown_compression_and_a_bomb_are_clear_errors() -> None:
    attempt = _chat(_delta(content="a"), headers={"content-encoding": "zstd"})
    assert attempt.outcome == "not_stream"
    assert attempt.error_message == "the body is compressed with zstd, which was not asked for"
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join([*(packer.compress(b"\0" * (1 << 20)) for _ in range(300)), packer.flush()])
    attempt = _decode("openai", [bomb], headers={"content-encoding": "gzip"})
    assert attempt.error_message == "the body inflates to more than 256 MiB"


# ----------------------------------------------------------------------------------------- Anthropic


def _events(*objects: dict[str, Any]) -> list[bytes]:
    return [f"event: {o['type']}\ndata: {json.dumps(o)}\n\n".encode() for o in objects]


def test_anthropic_counts_and_blocks() -> None:
    first = {"input_tokens": 5, "cache_read_input_tokens": 7, "output_tokens": 1}
    last = {"input_tokens": 6, "output_tokens": 20}
    attempt = _decode("anthropic", _events(
        {"type": "message_start", "message": {"model": "m", "usage": first}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "redacted_thinking", "data": "xyz"}},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": "Hi"}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "citations_delta", "citation": {}}},
        {"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "name": "a", "input": {}}},
        {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "{}"}},
        {"type": "content_block_start", "index": 3, "content_block": {"type": "tool_use", "name": "b", "input": {}}},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": last},
        {"type": "message_stop"},
    ))  # fmt: skip
    assert (attempt.text, attempt.tool_calls) == ("Hi", (ToolCall("a", "{}"), ToolCall("b", "")))
    assert (attempt.usage.n_prompt, attempt.usage.n_cached, attempt.usage.n_out) == (6, 7, 20)
    assert len(attempt.timeline.events) == 4


@pytest.mark.parametrize(
    ("reason", "stop"), [("refusal", "filter"), ("max_tokens", "length"), ("stop_sequence", "stop")]
)
def test_anthropic_stop_reasons(reason: str, stop: str) -> None:
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}}
    end = {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 1}}
    attempt = _decode("anthropic", _events(delta, end, {"type": "message_stop"}))
    assert (attempt.finish_reason, attempt.stop, attempt.outcome) == (reason, stop, "ok")
    assert _decode("anthropic", _events(delta)).outcome == "cut_off"


# ------------------------------------------------------------------------------------------ Responses


def test_responses_calls_refusals_and_failures() -> None:
    call = {"type": "function_call", "name": "f", "arguments": ""}
    attempt = _decode("openai-responses", _events(
        {"type": "response.output_item.added", "output_index": 0, "item": call},
        {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": '{"a"'},
        {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": ":1}"},
        {"type": "response.function_call_arguments.done", "output_index": 0, "arguments": '{"a":1}'},
        {"type": "response.output_item.done", "output_index": 0, "item": {**call, "arguments": '{"a":1}'}},
        {"type": "response.refusal.delta", "output_index": 1, "delta": "No."},
        {"type": "response.completed", "response": {"status": "completed", "service_tier": "flex"}},
    ))  # fmt: skip
    assert (attempt.tool_calls, attempt.text, attempt.served_tier) == ((ToolCall("f", '{"a":1}'),), "No.", "flex")
    assert len(attempt.timeline.events) == 4
    failed = {
        "type": "response.failed",
        "response": {"status": "failed", "error": {"code": "server_error", "message": "no"}},
    }
    attempt = _decode("openai-responses", _events(failed))
    assert (attempt.outcome, attempt.error_code, attempt.error_message) == ("stream_error", "server_error", "no")
    cut = {"type": "response.incomplete", "response": {"incomplete_details": {"reason": "content_filter"}}}
    attempt = _decode("openai-responses", _events(cut))
    assert (attempt.outcome, attempt.stop) == ("filtered", "filter")


def test_responses_text_that_comes_only_when_done() -> None:
    attempt = _decode("openai-responses", _events(
        {"type": "response.output_text.done", "output_index": 0, "content_index": 0, "text": "all"},
        {"type": "response.completed", "response": {"status": "completed"}},
    ))  # fmt: skip
    assert (attempt.text, len(attempt.timeline.events)) == ("all", 1)


# --------------------------------------------------------------------------------------------- Gemini


def _gemini(*parts: Any, finish: str | None = None, **other: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": list(parts)}, "finishReason": finish}], **other}


def test_gemini_calls_thoughts_and_counts() -> None:
    usage = {"promptTokenCount": 9, "cachedContentTokenCount": 4, "candidatesTokenCount": 2, "thoughtsTokenCount": 3}
    frames = [
        _gemini({"text": "hm", "thought": True}, {"text": "Hi"}),
        _gemini({"functionCall": {"name": "f", "args": {"x": 1}}}, finish="STOP", usageMetadata=usage),
    ]
    for body in (_sse(*frames), [json.dumps(frames).encode()]):
        attempt = _decode("gemini", body, headers=JSON)
        assert (attempt.reasoning, attempt.text, attempt.tool_calls) == ("hm", "Hi", (ToolCall("f", '{"x": 1}'),))
        assert (attempt.usage.n_prompt, attempt.usage.n_out, attempt.usage.n_cached) == (9, 5, 4)
        assert attempt.timeline.n_frames == 2


def test_gemini_that_does_not_end() -> None:
    whole = json.dumps([_gemini({"text": "a"}), _gemini({"text": "b"}, finish="STOP")]).encode()
    attempt = _decode("gemini", [whole[:90]], headers=JSON)
    assert (attempt.outcome, attempt.text) == ("cut_off", "a")
    attempt = _decode("gemini", [b'[{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}]'], headers=JSON)
    assert (attempt.outcome, attempt.error_code, attempt.retryable) == ("body_error", "503", True)
    attempt = _decode("gemini", _sse(_gemini({"text": "a"}, finish="SAFETY")))
    assert (attempt.outcome, attempt.stop, attempt.flags) == ("ok", "filter", ("filtered",))


# ------------------------------------------------------------------------------------ Ollama and TGI


def _lines(*objects: dict[str, Any]) -> list[bytes]:
    return [json.dumps(o).encode() + b"\n" for o in objects]


NDJSON = {"content-type": "application/x-ndjson"}


def test_ollama_thinking_calls_and_a_cut() -> None:
    call = {"function": {"name": "f", "arguments": {"x": 1}}}
    last = {"done": True, "done_reason": "length", "eval_count": 4}
    frames = _lines({"message": {"thinking": "hm"}}, {"message": {"content": "", "tool_calls": [call]}}, last)
    attempt = _decode("ollama", frames, headers=NDJSON)
    assert (attempt.reasoning, attempt.tool_calls, attempt.stop) == ("hm", (ToolCall("f", '{"x": 1}'),), "length")
    assert (attempt.usage.n_out, attempt.usage.n_prompt) == (4, None)
    assert _decode("ollama", frames[:2], headers=NDJSON).outcome == "cut_off"
    assert _decode("ollama", [*frames[:2], frames[2].rstrip()], headers=NDJSON).outcome == "ok"


def test_ollama_errors_before_and_inside_the_stream() -> None:
    error = _lines({"error": "no memory"})
    assert _decode("ollama", error, headers=JSON).outcome == "body_error"
    assert _decode("ollama", error, headers=NDJSON).outcome == "stream_error"
    assert _decode("ollama", [b"Ollama is running"], headers={"content-type": "text/plain"}).outcome == "not_stream"


def test_tgi_specials_ends_and_errors() -> None:
    def token(text: str, *, special: bool = False, **other: Any) -> dict[str, Any]:
        return {"index": 1, "token": {"text": text, "special": special}, **other}

    last = token(
        "</s>", special=True, generated_text="a", details={"finish_reason": "stop_sequence", "generated_tokens": 2}
    )
    attempt = _decode("tgi", _sse(token("a"), last))
    assert (attempt.text, attempt.stop, attempt.usage.n_out, attempt.timeline.n_frames) == ("a", "stop", 2, 1)
    assert _decode("tgi", _sse(token("a"))).outcome == "cut_off"
    attempt = _decode("tgi", _sse(token("a"), {"error": "full", "error_type": "overloaded"}))
    assert (attempt.outcome, attempt.error_code, attempt.retryable) == ("stream_error", "overloaded", True)
    without = {**last, "details": None}
    assert _decode("tgi", _sse(token("a"), without)).outcome == "ok"


# --------------------------------------------------------------------------------- DashScope and Baidu


def _dash(content: str, finish: str = "null", **message: Any) -> dict[str, Any]:
    return {"output": {"choices": [{"message": {"content": content, **message}, "finish_reason": finish}]}}


@pytest.mark.parametrize(
    ("contents", "text", "events"),
    [
        (["a", "ab", "abc", "abc"], "abc", 3),  # all text so far
        (["a", "b", "c", ""], "abc", 3),  # increments
        (["1", "1", "2", ""], "112", 3),  # increments that look like repetitions at first
        (["", "a", "ab"], "ab", 2),
        (["whole"], "whole", 1),
    ],
)
def test_dashscope_repeats_or_not(contents: list[str], text: str, events: int) -> None:
    frames = [_dash(piece) for piece in contents[:-1]] + [_dash(contents[-1], "stop")]
    attempt = _decode("dashscope", _sse(*frames))
    assert (attempt.outcome, attempt.text, len(attempt.timeline.events)) == ("ok", text, events)
    first = next(i for i, piece in enumerate(contents) if piece)
    assert attempt.timeline.events[0].t_ns == (first + 1) * 10 * MS
    assert attempt.timeline.events[0].read == first


def test_dashscope_reasoning_text_form_and_errors() -> None:
    frames = [_dash("", reasoning_content="h"), _dash("", reasoning_content="m"), _dash("a"), _dash("", "stop")]
    attempt = _decode("dashscope", _sse(*frames))
    assert (attempt.reasoning, attempt.text) == ("hm", "a")
    plain = [{"output": {"text": "a", "finish_reason": "null"}}, {"output": {"text": "ab", "finish_reason": "length"}}]
    attempt = _decode("dashscope", _sse(*plain))
    assert (attempt.text, attempt.stop) == ("ab", "length")
    error = 'id:1\nevent:error\n:HTTP_STATUS/429\ndata:{"code":"Throttling","message":"slow"}\n\n'
    attempt = _decode("dashscope", _sse(_dash("a"), error))
    assert (attempt.outcome, attempt.error_code, attempt.text) == ("stream_error", "Throttling", "a")


def test_qianfan_truncation_calls_and_errors() -> None:
    end = {"result": "b", "is_end": True, "is_truncated": True, "finish_reason": "normal", "usage": USAGE}
    attempt = _decode("qianfan", _sse({"result": "a", "is_end": False}, end))
    assert (attempt.text, attempt.stop, attempt.usage.n_out) == ("ab", "length", 5)
    call = {
        "result": "",
        "function_call": {"name": "f", "arguments": "{}"},
        "is_end": True,
        "finish_reason": "function_call",
    }
    attempt = _decode("qianfan", _sse(call))
    assert (attempt.tool_calls, attempt.stop) == ((ToolCall("f", "{}"),), "tool")
    attempt = _decode("qianfan", _sse({"result": "a"}, {"error_code": 336100, "error_msg": "busy"}))
    assert (attempt.outcome, attempt.error_code, attempt.text) == ("stream_error", "336100", "a")
    assert _decode("qianfan", _sse({"result": "a", "is_end": False})).outcome == "cut_off"


# -------------------------------------------------------------------------------------------- Bedrock


def _aws(kind: str, payload: dict[str, Any], message_type: str = "event") -> bytes:
    names = {":message-type": message_type, f":{message_type}-type": kind}
    block = b"".join(
        bytes([len(n)]) + n.encode() + b"\x07" + len(v).to_bytes(2, "big") + v.encode() for n, v in names.items()
    )
    body = json.dumps(payload).encode()
    prelude = (16 + len(block) + len(body)).to_bytes(4, "big") + len(block).to_bytes(4, "big")
    message = prelude + zlib.crc32(prelude).to_bytes(4, "big") + block + body
    return message + zlib.crc32(message).to_bytes(4, "big")


AWS = {"content-type": "application/vnd.amazon.eventstream"}


def _bedrock(*messages: bytes) -> Attempt:
    return _decode("bedrock", list(messages), headers=AWS)


def test_bedrock_calls_thoughts_cache_and_errors() -> None:
    thought = _aws("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"reasoningContent": {"text": "hm"}}})
    start = _aws("contentBlockStart", {"contentBlockIndex": 1, "start": {"toolUse": {"name": "f"}}})
    piece = _aws("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"toolUse": {"input": "{}"}}})
    stop = _aws("messageStop", {"stopReason": "tool_use"})
    usage = {"inputTokens": 5, "outputTokens": 9, "cacheReadInputTokens": 7, "cacheWriteInputTokens": 2}
    attempt = _bedrock(thought, start, piece, stop, _aws("metadata", {"usage": usage, "metrics": {"latencyMs": 3}}))
    assert (attempt.reasoning, attempt.tool_calls, attempt.stop) == ("hm", (ToolCall("f", "{}"),), "tool")
    assert (attempt.usage.n_prompt, attempt.usage.n_cached, attempt.usage.n_cache_write) == (14, 7, 2)
    assert attempt.timeline.t_end == 40 * MS
    attempt = _bedrock(thought, _aws("throttlingException", {"message": "slow"}, "exception"))
    assert (attempt.outcome, attempt.error_code, attempt.error_message) == (
        "stream_error",
        "throttlingException",
        "slow",
    )
    assert attempt.retryable
    assert _bedrock(thought, stop[:20]).outcome == "cut_off"


def test_bedrock_with_a_damaged_message() -> None:
    text = [_aws("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": piece}}) for piece in "abc"]
    stop = _aws("messageStop", {"stopReason": "end_turn"})
    attempt = _bedrock(text[0], text[1][:-5] + b"!" + text[1][-4:], text[2], stop)
    assert (attempt.outcome, attempt.text) == ("bad_payload", "ac")
    assert attempt.error_message == "the checksum of a message is wrong"


def test_bedrock_http_errors_are_named_in_a_header() -> None:
    headers = {"x-amzn-errortype": "ValidationException:http://internal.amazon.com/", **JSON}
    attempt = _decode("bedrock", [b'{"message":"bad model"}'], status=400, headers=headers)
    assert (attempt.error_code, attempt.error_message) == ("ValidationException", "bad model")


# ------------------------------------------------------------------------------------------- in common


def test_what_was_seen_is_strict_json() -> None:
    frames = ['data: {"choices":[{"index":0,"delta":{"content":"a"}}],"usage":{"prompt_tokens":NaN,"x":1e999}}\n\n']
    attempt = _chat(*frames, STOP, DONE)
    json.dumps(seen(attempt), allow_nan=False)
    json.dumps(attempt.to_dict(), allow_nan=False)
    assert Attempt.from_dict(json.loads(json.dumps(attempt.to_dict()))) == attempt
