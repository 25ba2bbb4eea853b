"""What part of an answer is worth, by hand."""

from __future__ import annotations

import json

import pytest

from speedqual.analysis.anytime import Anytime, text_by
from speedqual.errors import UsageError
from speedqual.records import Answer, Attempt, Event, Grade, Item, Timeline

MS = 1_000_000


def reply(pieces: list[tuple[int, str, str]], outcome: str = "ok") -> Attempt:
    events = tuple(Event(1000 * MS + t * MS, channel, text, i) for i, (t, channel, text) in enumerate(pieces))
    return Attempt(number=1, outcome=outcome, timeline=Timeline(t_send=1000 * MS, events=events))


def words(answer: Answer, item: Item) -> Grade:
    """Share of the item's words that the text holds; strict only when the answer ended."""
    share = sum(w in answer.text for w in item.target["words"]) / len(item.target["words"])
    return Grade(score=share if answer.stop == "stop" else 0.0, verdict="partial", score_lenient=share)


ITEM = Item(id="1", row={}, target={"words": ["one", "two"]})
REPLY = reply([(100, "reasoning", "two"), (200, "answer", "one "), (400, "answer", "two")])


def test_only_answer_text_that_has_come_counts() -> None:
    assert text_by(REPLY, 150) == "" and text_by(REPLY, 200) == "one " and text_by(REPLY, 400) == "one two"


def test_worth_grows_with_the_prefix() -> None:
    got = Anytime(at_ms=(100, 200, 399, 400))([(REPLY, ITEM)], words)
    assert got.table["quality"].tolist() == [0.0, 0.5, 0.5, 1.0]
    assert got.table["begun"].tolist() == [0, 1, 1, 1] and got.table["ended"].tolist() == [0, 0, 0, 1]
    assert got.verdict == "Half of the final quality of 100 % is there after 0.2 s."
    assert json.dumps(got.to_dict(), allow_nan=False)
    assert got.plot(style="dark").alt_text.startswith(got.verdict)


def test_failures_are_worth_nothing_and_stay_in_the_mean() -> None:
    broken = reply([(100, "answer", "one two")], outcome="disconnect")
    got = Anytime(at_ms=(400,))([(REPLY, ITEM), (broken, ITEM)], words)
    assert got.table["quality"].tolist() == [0.5]


def test_moments_run_from_the_first_event_to_the_last() -> None:
    got = Anytime(points=4)([(REPLY, ITEM)], words)
    assert (
        got.table["t_ms"].iloc[0] == pytest.approx(100) and got.table["t_ms"].iloc[-1] == 400.0 and len(got.table) == 4
    )


def test_a_grader_that_breaks_on_parts_is_counted() -> None:
    def picky(answer: Answer, item: Item) -> Grade:
        raise ValueError("no part for me")

    got = Anytime(at_ms=(200, 400))([(REPLY, ITEM)], picky)
    assert got.table["ungraded"].tolist() == [1, 1] and "2 of 2 prefixes" in got.notes[0]
    with pytest.raises(UsageError, match="no reply"):
        Anytime()([(reply([], "empty"), ITEM)], words)
