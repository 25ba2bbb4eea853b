"""OpenAI chat and its dialects: the kinds of quirks that recordings show one instance of."""

from __future__ import annotations

from typing import Any

import pytest
from protocol_streams import DONE, MS, STOP, USAGE, chat, chat_chunk, decode, sse

from speedqual.records import ToolCall


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
    attempt = chat(chat_chunk(**delta), chat_chunk(content="yes"), STOP, DONE)
    assert (attempt.reasoning, attempt.text) == ("hm", "yes")
    assert [event.channel for event in attempt.timeline.events] == ["reasoning", "answer"]


def test_reasoning_and_answer_in_one_chunk_are_one_frame_and_two_pieces() -> None:
    attempt = chat(chat_chunk(reasoning="a", content="b"), STOP, DONE)
    assert attempt.timeline.n_frames == 1
    assert [(e.channel, e.text, e.t_ns) for e in attempt.timeline.events] == [
        ("reasoning", "a", 10 * MS),
        ("answer", "b", 10 * MS),
    ]


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
    attempt = chat(chat_chunk(content="a"), STOP, last, DONE)
    assert (attempt.usage.n_prompt, attempt.usage.n_out, attempt.usage.source) == (7, 5, "usage")
    assert attempt.timeline.t_usage == 30 * MS
    assert attempt.timeline.events[-1].t_ns == 10 * MS


def test_usage_after_the_done_marker_does_not_count() -> None:
    attempt = chat(chat_chunk(content="a"), STOP, DONE, {"choices": [], "usage": USAGE}, chat_chunk(content="b"))
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
    attempt = chat(chat_chunk(content="a"), STOP, {"choices": [], "usage": usage}, DONE)
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
    attempt = chat(chat_chunk(content="a"), STOP, {"choices": [], "usage": {"prompt_tokens": 9, **usage}}, DONE)
    assert attempt.usage.n_cached == cached


def test_running_totals_date_the_tokens() -> None:
    pieces = [chat_chunk(content="t"), chat_chunk(content="tttt"), chat_chunk(content="tttt")]
    frames = [{**piece, "usage": {"completion_tokens": n}} for piece, n in zip(pieces, (1, 5, 9), strict=True)]
    attempt = chat(*frames, STOP, {"choices": [], "usage": {"completion_tokens": 13}}, DONE)
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
    assert chat(chat_chunk(content="a"), STOP, {"choices": [], "usage": usage}, DONE).cost_usd == usd


def test_cost_and_tier_in_headers() -> None:
    headers = {"content-type": "text/event-stream", "x-litellm-response-cost": "0.5", "x-gemini-service-tier": "flex"}
    attempt = chat(chat_chunk(content="a"), STOP, DONE, headers=headers)
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
    server = chat(chat_chunk(content="a"), STOP, {"choices": [], **chunk}, DONE).server
    assert server is not None
    assert (server.queue_ms, server.prefill_ms, server.decode_ms, server.ttft_ms, server.total_ms) == times


def _call(
    index: int | None, call_id: str | None = None, name: str | None = None, arguments: Any = None
) -> dict[str, Any]:
    function = {k: v for k, v in (("name", name), ("arguments", arguments)) if v is not None}
    return chat_chunk(tool_calls=[{"index": index, "id": call_id, "function": function}])


def test_calls_told_apart_by_id_where_the_index_lies() -> None:
    frames = [_call(0, "a", "f", "{}"), _call(0, "b", "g", "{"), _call(0, "b", None, "}")]
    assert chat(*frames, chat_chunk("tool_calls"), DONE).tool_calls == (ToolCall("f", "{}"), ToolCall("g", "{}"))


def test_two_calls_in_one_chunk_are_one_frame() -> None:
    both = [{"index": i, "id": str(i), "function": {"name": "f", "arguments": "{}"}} for i in (0, 1)]
    attempt = chat(chat_chunk(tool_calls=both), chat_chunk("tool_calls"), DONE)
    assert attempt.tool_calls == (ToolCall("f", "{}"), ToolCall("f", "{}"))
    assert attempt.timeline.n_frames == 1


def test_a_name_that_repeats_and_arguments_as_an_object() -> None:
    attempt = chat(_call(0, "a", "f", ""), _call(0, "a", "f", {"x": "中"}), chat_chunk("tool_calls"), DONE)
    assert attempt.tool_calls == (ToolCall("f", '{"x": "中"}'),)
    assert len(attempt.timeline.events) == 2


def test_the_older_function_call() -> None:
    frames = [chat_chunk(function_call={"name": "f", "arguments": ""}), chat_chunk(function_call={"arguments": "{}"})]
    attempt = chat(*frames, chat_chunk("function_call"), DONE)
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
    attempt = chat(chat_chunk(content="a"), chat_chunk(reason), DONE)
    assert (attempt.finish_reason, attempt.stop, attempt.outcome) == (reason, stop, outcome)


def test_a_filter_without_an_answer_is_filtered_and_with_one_is_flagged() -> None:
    assert chat(chat_chunk(reasoning="hm"), chat_chunk("content_filter"), DONE).outcome == "filtered"
    assert chat(chat_chunk("content_filter"), DONE).outcome == "filtered"
    attempt = chat(chat_chunk(content="a"), chat_chunk("content_filter"), DONE)
    assert (attempt.outcome, "filtered" in attempt.flags) == ("ok", True)


def test_nothing_at_all_is_empty_and_the_done_marker_alone_completes() -> None:
    assert chat(chat_chunk(role="assistant", content=""), STOP, DONE).outcome == "empty"
    assert chat(DONE).outcome == "empty"
    assert chat(chat_chunk(content="a"), DONE).outcome == "ok"


def test_one_of_two_choices_without_an_end_is_cut_off() -> None:
    two = {"choices": [{"index": 1, "delta": {"content": "b"}, "finish_reason": None}]}
    assert chat(chat_chunk(content="a"), two, STOP).outcome == "cut_off"
    end = {"choices": [{"index": 1, "delta": {}, "finish_reason": "stop"}]}
    attempt = chat(chat_chunk(content="a"), two, STOP, end)
    assert (attempt.outcome, attempt.text, attempt.choices) == ("ok", "a", ("a", "b"))


def test_a_whole_message_counts_only_when_nothing_came_before() -> None:
    message = {"choices": [{"index": 0, "message": {"content": "all"}, "finish_reason": "stop"}]}
    assert chat(message, DONE).text == "all"
    assert chat(chat_chunk(content="al"), chat_chunk(content="l"), message, DONE).text == "all"


def test_surrogates_in_two_chunks_are_one_character_and_every_event_is_utf8() -> None:
    half = [
        '{"choices":[{"index":0,"delta":{"content":"\\ud83d"}}]}',
        '{"choices":[{"index":0,"delta":{"content":"\\ude42"}}]}',
    ]
    attempt = chat(*(f"data: {piece}\n\n" for piece in half), STOP, DONE)
    assert attempt.text == "🙂"
    for event in attempt.timeline.events:
        event.text.encode("utf-8")


def test_broken_utf8_inside_an_event_is_replaced_and_flagged() -> None:
    piece = b'data: {"choices":[{"index":0,"delta":{"content":"a\xff"}}]}\n\n'
    attempt = decode("openai", [piece, *sse(STOP, DONE)])
    assert (attempt.outcome, attempt.text, attempt.flags) == ("ok", "a\ufffd", ("bad_utf8",))


def test_events_set_apart_by_one_line_end_are_read() -> None:
    body = b"".join(piece[:-1] for piece in sse(chat_chunk(content="a"), chat_chunk(content="b"), STOP)) + b"\n"
    assert decode("openai", [body]).text == "ab"


@pytest.mark.parametrize(
    "noise",
    [": ping\n\n", "event: ping\ndata: ping\n\n", "data:\n\n", "data: {}\n\n", "data: null\n\n", "retry: 1\n\n"],
)
def test_keep_alives_are_nothing(noise: str) -> None:
    noise += "\n\n"
    attempt = chat(noise, chat_chunk(content="a"), noise, STOP, noise, DONE)
    assert (attempt.outcome, attempt.text, len(attempt.timeline.events)) == ("ok", "a", 1)
