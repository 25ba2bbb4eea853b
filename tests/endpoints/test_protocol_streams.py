"""Real streams of a llama.cpp server: bytes and times as they were read."""

from __future__ import annotations

from pathlib import Path

import pytest

from speedqual.endpoints.recordings.files import endpoint_of, read_recording
from speedqual.endpoints.registry import endpoint
from speedqual.records import Attempt
from speedqual.timing import measure

FOLDER = Path(__file__).parents[1] / "recordings"
TOKENS = {  # name → prompt, cached, output, events, first token in ms
    "x-smol-chat-nousage-length": (38, 24, 32, 32, 183.917),
    "x-smol-chat-usage-stop": (42, 0, 8, 7, 291.611),
    "x-smol-completions": (9, 0, 12, 12, 73.549),
    "x-smol-emoji-utf8": (47, 24, 32, 30, 170.714),
    "x-smol-json-mode": (45, 24, 23, 20, 155.655),
    "x-smol-prefix-cold": (434, 24, 12, 12, 4699.337),
    "x-smol-prefix-warm": (434, 426, 12, 12, 88.868),
    "x-smol-queued-0": (36, 24, 32, 32, 848.748),
    "x-smol-queued-1": (36, 24, 32, 32, 155.970),
}


def _attempt(name: str) -> Attempt:
    recording = read_recording(FOLDER / f"{name}.txt")
    return endpoint(endpoint_of(recording.api)).decode(recording.raw())


@pytest.mark.parametrize("name", TOKENS)
def test_counts_and_times(name: str) -> None:
    attempt = _attempt(name)
    n_prompt, n_cached, n_out, n_events, ttft_ms = TOKENS[name]
    usage = attempt.usage
    assert attempt.outcome == "ok"
    assert (usage.n_prompt, usage.n_cached, usage.n_out) == (n_prompt, n_cached, n_out)
    assert len(attempt.timeline.events) == n_events
    assert attempt.timeline.events[0].t_ns == round(ttft_ms * 1e6)


def test_counts_come_from_timings_where_usage_was_not_asked_for() -> None:
    assert _attempt("x-smol-chat-nousage-length").usage.source == "server_timings"
    assert _attempt("x-smol-chat-usage-stop").usage.source == "usage"


def test_the_role_and_the_first_token_share_a_read_and_only_the_token_counts() -> None:
    attempt = _attempt("x-smol-chat-usage-stop")
    assert attempt.text == "The capital of France is Paris."
    assert attempt.timeline.events[0].text == "The"
    assert attempt.timeline.n_reads == 8
    assert attempt.usage.n_out == 8  # the end token is one, and has no event


def test_our_decode_speed_is_the_servers() -> None:
    attempt = _attempt("x-smol-chat-nousage-length")
    speed = measure([attempt]).metrics["decode_tok_s"]
    assert attempt.server is not None and attempt.server.decode_tok_s is not None
    assert isinstance(speed, float)
    assert speed == pytest.approx(attempt.server.decode_tok_s, rel=0.05)


def test_the_prompts_time_is_the_servers() -> None:
    cold, warm = _attempt("x-smol-prefix-cold"), _attempt("x-smol-prefix-warm")
    for attempt in (cold, warm):
        assert attempt.server is not None and attempt.server.prefill_ms is not None
        assert attempt.timeline.events[0].t_ns / 1e6 - attempt.server.prefill_ms < 15


def test_too_long_a_prompt_is_an_http_error_with_the_servers_words() -> None:
    attempt = _attempt("x-smol-context-overflow")
    assert (attempt.outcome, attempt.status, attempt.error_code, attempt.retryable) == ("http_error", 400, "400", False)
    assert attempt.error_message is not None and "exceeds the available context size" in attempt.error_message
