"""Bytes on the wire: one and the same answer, sent in the ways that break readers."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from speedqual.endpoints.base import RawReply, Read
from speedqual.endpoints.registry import endpoint
from speedqual.records import Attempt
from speedqual.timing import measure

MS = 1_000_000
TEXT = "中国✓"


def _chunk(finish: str | None = None, **delta: Any) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return json.dumps({"choices": [choice]}, ensure_ascii=False)


def _reads(*timed: tuple[float, str | bytes]) -> tuple[Read, ...]:
    return tuple(Read(round(ms * MS), data.encode() if isinstance(data, str) else data) for ms, data in timed)


def _decode(*timed: tuple[float, str | bytes], ending: str = "eof") -> Attempt:
    raw = RawReply(t_send=0, t_close=500 * MS, status=200, reads=_reads(*timed), ending=ending)  # type: ignore[arg-type]
    return endpoint("openai").decode(raw)


def _events(separator: str = "\n\n", prefix: str = "data: ") -> list[str]:
    return [f"{prefix}{_chunk(content=piece)}{separator}" for piece in TEXT]


END = f"data: {_chunk('stop')}\n\ndata: [DONE]\n\n"


def _check(attempt: Attempt) -> list[float]:
    """Text, count and outcome are right; returns the gaps in ms."""
    assert (attempt.outcome, attempt.text, len(attempt.timeline.events)) == ("ok", TEXT, 3)
    times = [event.t_ns / MS for event in attempt.timeline.events]
    return [after - before for before, after in pairwise(times)]


@pytest.mark.parametrize("separator", ["\r\n\r\n", "\r\r", "\n\n"])
def test_separators(separator: str) -> None:
    timed = [(100 + 20 * i, event) for i, event in enumerate(_events(separator))]
    assert _check(_decode(*timed, (161, END.replace("\n\n", separator)))) == [20, 20]


def test_characters_cut_in_two_are_dated_by_the_write_that_completes_them() -> None:
    timed: list[tuple[float, bytes]] = []
    for i, event in enumerate(_events()):
        data = event.encode()
        cut = data.index(TEXT[i].encode()) + 1
        timed += [(100 + 40 * i, data[:cut]), (120 + 40 * i, data[cut:])]
    attempt = _decode(*timed, (221, END))
    assert _check(attempt) == [40, 40]
    assert [event.t_ns for event in attempt.timeline.events] == [120 * MS, 160 * MS, 200 * MS]


def test_no_space_after_the_colon() -> None:
    timed = [(100 + 20 * i, event) for i, event in enumerate(_events(prefix="data:"))]
    assert _check(_decode(*timed, (161, END))) == [20, 20]


def test_two_events_in_one_write_share_a_read() -> None:
    first, second, third = _events()
    attempt = _decode((100, first + second), (150, third), (151, END))
    assert _check(attempt) == [0, 50]
    assert [event.read for event in attempt.timeline.events] == [0, 0, 1]
    assert "coalesced" in measure([attempt]).flags


def test_the_last_event_without_a_blank_line() -> None:
    first, second, third = _events()
    attempt = _decode((100, first), (120, second), (140, third), (141, f"data: {_chunk('stop')}"))
    assert _check(attempt) == [20, 20]
    assert attempt.timeline.t_end == 141 * MS
    attempt = _decode((100, first), (120, second), (140, f"data: {_chunk('stop', content='✓')}"))
    assert _check(attempt) == [20, 20]


def test_the_last_event_cut_in_its_middle_is_dropped() -> None:
    first, second, third = _events()
    attempt = _decode((100, first), (120, second), (140, third[:30]))
    assert (attempt.outcome, attempt.text) == ("cut_off", TEXT[:2])


def test_event_and_id_lines_before_data() -> None:
    timed = [(100 + 20 * i, f"event: message\nid: {i}\n{event}") for i, event in enumerate(_events())]
    assert _check(_decode(*timed, (161, END))) == [20, 20]


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\u0085", "\x0b", "\x1c", "\u200b"])
def test_line_separators_of_unicode_are_text(character: str) -> None:
    data = json.dumps({"choices": [{"delta": {"content": f"a{character}b"}}]}, ensure_ascii=character < " ")
    attempt = _decode((100, f"data: {data}\n\n"), (101, END))
    assert (attempt.outcome, attempt.text) == ("ok", f"a{character}b")


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_times_of_thinking_and_answer(key: str) -> None:
    timed = [(50.0, _chunk(role="assistant", content="")), (400.0, _chunk(**{key: "Okay"}))]
    timed += [(900.0, _chunk(**{key: " a b c d e"})), (1000.0, _chunk(content="one two three four"))]
    timed += [(1200.0, _chunk(content=" five six seven eight")), (1210.0, _chunk("stop"))]
    usage = {"prompt_tokens": 20, "completion_tokens": 14, "completion_tokens_details": {"reasoning_tokens": 6}}
    sent = [(ms, f"data: {data}\n\n") for ms, data in timed]
    last = [(1500.0, f"data: {json.dumps({'choices': [], 'usage': usage})}\n\n"), (1510.0, "data: [DONE]\n\n")]
    metrics = measure([_decode(*sent, *last)]).metrics
    assert (metrics["ttft_ms"], metrics["ttfa_ms"], metrics["thinking_ms"], metrics["e2e_ms"]) == (400, 1000, 600, 1200)
    assert (metrics["n_out"], metrics["n_reasoning"], metrics["tpot_ms"]) == (14, 6, pytest.approx(800 / 13))


@pytest.mark.parametrize(
    ("frame", "outcome"),
    [
        ('data: {"error":{"message":"engine dead"}}\n\n', "stream_error"),
        ('data: {"object":"error","message":"x"}\n\n', "stream_error"),
        ("", "cut_off"),
    ],
)
def test_an_error_after_status_200_is_never_a_short_success(frame: str, outcome: str) -> None:
    sent = [(100, f"data: {_chunk(content='par')}\n\n"), (120, f"data: {_chunk(content='tial')}\n\n")]
    attempt = _decode(*sent, *([(150, frame)] if frame else []))
    assert (attempt.outcome, attempt.text) == (outcome, "partial")
    assert measure([attempt]).metrics["ttft_ms"] is None
