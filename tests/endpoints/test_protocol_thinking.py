"""``<think>`` tags in an answer, and the other reading of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protocol_streams import DONE, STOP, chat, chat_chunk

from speedqual.endpoints.reading.thinking import has_think_tags, split_think
from speedqual.records import Attempt


def _said(*pieces: str) -> Attempt:
    return chat(*(chat_chunk(content=piece) for piece in pieces), STOP, DONE)


@pytest.mark.parametrize(
    ("pieces", "reasoning", "answer", "events"),
    [
        (["<think>", "2+2", "</th", "ink>\n\n", "4"], "2+2", "4", [("reasoning", "2+2"), ("answer", "4")]),
        (["<think>a</think>b"], "a", "b", [("reasoning", "a"), ("answer", "b")]),
        (["<thi", "nk>\na", "b</think>", " c"], "ab", "c", [("reasoning", "a"), ("reasoning", "b"), ("answer", "c")]),
        (["\n<thinking>a</thinking>b"], "a", "b", [("reasoning", "a"), ("answer", "b")]),
        (["<think>never ", "ends"], "never ends", "", [("reasoning", "never "), ("reasoning", "ends")]),
        (["<think></think>", "b"], "", "b", [("answer", "b")]),
        (["<think>a</think>", "b <think>c</think>"], "a", "b <think>c</think>", None),
    ],
)
def test_the_tagged_part_is_thinking(
    pieces: list[str], reasoning: str, answer: str, events: list[tuple[str, str]] | None
) -> None:
    attempt = _said(*pieces)
    assert has_think_tags(attempt)
    split = split_think(attempt)
    assert (split.reasoning, split.text) == (reasoning, answer)
    if events is not None:
        assert [(event.channel, event.text) for event in split.timeline.events] == events


def test_times_stay_with_their_pieces() -> None:
    events = split_think(_said("<think>", "a", "</think>b")).timeline.events
    assert [(event.text, event.t_ns) for event in events] == [("a", 20_000_000), ("b", 30_000_000)]


@pytest.mark.parametrize("text", ["plain", "say <think> twice", "</think>", ""])
def test_other_answers_stay_as_they_are(text: str) -> None:
    attempt = _said(text)
    assert not has_think_tags(attempt)
    assert split_think(attempt) == attempt


@given(st.lists(st.sampled_from(["<think>", "</think>", "<thi", "nk>", "a", " ", "\n", "b"]), max_size=8))
def test_every_answer_event_is_in_the_answer(pieces: list[str]) -> None:
    split = split_think(_said(*pieces))
    assert "".join(e.text for e in split.timeline.events if e.channel == "answer") == split.text
