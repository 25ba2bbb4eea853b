"""Protocols of their own: the kinds of quirks that recordings show one instance of."""

from __future__ import annotations

import json
import zlib
from typing import Any

import pytest
from protocol_streams import JSON, MS, USAGE, decode, sse, typed_events

from speedqual.records import Attempt, ToolCall


def test_anthropic_counts_and_blocks() -> None:
    first = {"input_tokens": 5, "cache_read_input_tokens": 7, "output_tokens": 1}
    last = {"input_tokens": 6, "output_tokens": 20}
    attempt = decode("anthropic", typed_events(
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
    attempt = decode("anthropic", typed_events(delta, end, {"type": "message_stop"}))
    assert (attempt.finish_reason, attempt.stop, attempt.outcome) == (reason, stop, "ok")
    assert decode("anthropic", typed_events(delta)).outcome == "cut_off"


def test_responses_calls_refusals_and_failures() -> None:
    call = {"type": "function_call", "name": "f", "arguments": ""}
    attempt = decode("openai-responses", typed_events(
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
    attempt = decode("openai-responses", typed_events(failed))
    assert (attempt.outcome, attempt.error_code, attempt.error_message) == ("stream_error", "server_error", "no")
    cut = {"type": "response.incomplete", "response": {"incomplete_details": {"reason": "content_filter"}}}
    attempt = decode("openai-responses", typed_events(cut))
    assert (attempt.outcome, attempt.stop) == ("filtered", "filter")


def test_responses_text_that_comes_only_when_done() -> None:
    attempt = decode("openai-responses", typed_events(
        {"type": "response.output_text.done", "output_index": 0, "content_index": 0, "text": "all"},
        {"type": "response.completed", "response": {"status": "completed"}},
    ))  # fmt: skip
    assert (attempt.text, len(attempt.timeline.events)) == ("all", 1)


def _gemini(*parts: Any, finish: str | None = None, **other: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": list(parts)}, "finishReason": finish}], **other}


def test_gemini_calls_thoughts_and_counts() -> None:
    usage = {"promptTokenCount": 9, "cachedContentTokenCount": 4, "candidatesTokenCount": 2, "thoughtsTokenCount": 3}
    frames = [
        _gemini({"text": "hm", "thought": True}, {"text": "Hi"}),
        _gemini({"functionCall": {"name": "f", "args": {"x": 1}}}, finish="STOP", usageMetadata=usage),
    ]
    for body in (sse(*frames), [json.dumps(frames).encode()]):
        attempt = decode("gemini", body, headers=JSON)
        assert (attempt.reasoning, attempt.text, attempt.tool_calls) == ("hm", "Hi", (ToolCall("f", '{"x": 1}'),))
        assert (attempt.usage.n_prompt, attempt.usage.n_out, attempt.usage.n_cached) == (9, 5, 4)
        assert attempt.timeline.n_frames == 2


def test_gemini_that_does_not_end() -> None:
    whole = json.dumps([_gemini({"text": "a"}), _gemini({"text": "b"}, finish="STOP")]).encode()
    attempt = decode("gemini", [whole[:90]], headers=JSON)
    assert (attempt.outcome, attempt.text) == ("cut_off", "a")
    attempt = decode("gemini", [b'[{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}]'], headers=JSON)
    assert (attempt.outcome, attempt.error_code, attempt.retryable) == ("body_error", "503", True)
    attempt = decode("gemini", sse(_gemini({"text": "a"}, finish="SAFETY")))
    assert (attempt.outcome, attempt.stop, attempt.flags) == ("ok", "filter", ("filtered",))


def _lines(*objects: dict[str, Any]) -> list[bytes]:
    return [json.dumps(o).encode() + b"\n" for o in objects]


NDJSON = {"content-type": "application/x-ndjson"}


def test_ollama_thinking_calls_and_a_cut() -> None:
    call = {"function": {"name": "f", "arguments": {"x": 1}}}
    last = {"done": True, "done_reason": "length", "eval_count": 4}
    frames = _lines({"message": {"thinking": "hm"}}, {"message": {"content": "", "tool_calls": [call]}}, last)
    attempt = decode("ollama", frames, headers=NDJSON)
    assert (attempt.reasoning, attempt.tool_calls, attempt.stop) == ("hm", (ToolCall("f", '{"x": 1}'),), "length")
    assert (attempt.usage.n_out, attempt.usage.n_prompt) == (4, None)
    assert decode("ollama", frames[:2], headers=NDJSON).outcome == "cut_off"
    assert decode("ollama", [*frames[:2], frames[2].rstrip()], headers=NDJSON).outcome == "ok"


def test_ollama_errors_before_and_inside_the_stream() -> None:
    error = _lines({"error": "no memory"})
    assert decode("ollama", error, headers=JSON).outcome == "body_error"
    assert decode("ollama", error, headers=NDJSON).outcome == "stream_error"
    assert decode("ollama", [b"Ollama is running"], headers={"content-type": "text/plain"}).outcome == "not_stream"


def test_tgi_specials_ends_and_errors() -> None:
    def token(text: str, *, special: bool = False, **other: Any) -> dict[str, Any]:
        return {"index": 1, "token": {"text": text, "special": special}, **other}

    last = token(
        "</s>", special=True, generated_text="a", details={"finish_reason": "stop_sequence", "generated_tokens": 2}
    )
    attempt = decode("tgi", sse(token("a"), last))
    assert (attempt.text, attempt.stop, attempt.usage.n_out, attempt.timeline.n_frames) == ("a", "stop", 2, 1)
    assert decode("tgi", sse(token("a"))).outcome == "cut_off"
    attempt = decode("tgi", sse(token("a"), {"error": "full", "error_type": "overloaded"}))
    assert (attempt.outcome, attempt.error_code, attempt.retryable) == ("stream_error", "overloaded", True)
    without = {**last, "details": None}
    assert decode("tgi", sse(token("a"), without)).outcome == "ok"


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
    attempt = decode("dashscope", sse(*frames))
    assert (attempt.outcome, attempt.text, len(attempt.timeline.events)) == ("ok", text, events)
    first = next(i for i, piece in enumerate(contents) if piece)
    assert attempt.timeline.events[0].t_ns == (first + 1) * 10 * MS
    assert attempt.timeline.events[0].read == first


def test_dashscope_reasoning_text_form_and_errors() -> None:
    frames = [_dash("", reasoning_content="h"), _dash("", reasoning_content="m"), _dash("a"), _dash("", "stop")]
    attempt = decode("dashscope", sse(*frames))
    assert (attempt.reasoning, attempt.text) == ("hm", "a")
    plain = [{"output": {"text": "a", "finish_reason": "null"}}, {"output": {"text": "ab", "finish_reason": "length"}}]
    attempt = decode("dashscope", sse(*plain))
    assert (attempt.text, attempt.stop) == ("ab", "length")
    error = 'id:1\nevent:error\n:HTTP_STATUS/429\ndata:{"code":"Throttling","message":"slow"}\n\n'
    attempt = decode("dashscope", sse(_dash("a"), error))
    assert (attempt.outcome, attempt.error_code, attempt.text) == ("stream_error", "Throttling", "a")


def test_qianfan_truncation_calls_and_errors() -> None:
    end = {"result": "b", "is_end": True, "is_truncated": True, "finish_reason": "normal", "usage": USAGE}
    attempt = decode("qianfan", sse({"result": "a", "is_end": False}, end))
    assert (attempt.text, attempt.stop, attempt.usage.n_out) == ("ab", "length", 5)
    call = {
        "result": "",
        "function_call": {"name": "f", "arguments": "{}"},
        "is_end": True,
        "finish_reason": "function_call",
    }
    attempt = decode("qianfan", sse(call))
    assert (attempt.tool_calls, attempt.stop) == ((ToolCall("f", "{}"),), "tool")
    attempt = decode("qianfan", sse({"result": "a"}, {"error_code": 336100, "error_msg": "busy"}))
    assert (attempt.outcome, attempt.error_code, attempt.text) == ("stream_error", "336100", "a")
    assert decode("qianfan", sse({"result": "a", "is_end": False})).outcome == "cut_off"


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
    return decode("bedrock", list(messages), headers=AWS)


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
    attempt = decode("bedrock", [b'{"message":"bad model"}'], status=400, headers=headers)
    assert (attempt.error_code, attempt.error_message) == ("ValidationException", "bad model")
