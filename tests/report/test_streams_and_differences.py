"""What a page keeps of a stream, and how it shows what was given instead of what was expected."""

from __future__ import annotations

import json

import pytest

from speedqual.records import Attempt, Event, Grade, Item, Timeline, ToolCall
from speedqual.report.items.differences import difference, expected
from speedqual.report.items.streams import tracks

MS = 1_000_000


def attempt(*events: tuple[float, str, str], **other: object) -> Attempt:
    made = tuple(Event(round((100 + at) * MS), channel, text, i) for i, (at, channel, text) in enumerate(events))  # type: ignore[arg-type]
    return Attempt(number=1, outcome="ok", timeline=Timeline(t_send=100 * MS, events=made), **other)  # type: ignore[arg-type]


def test_times_are_differences_from_the_send_and_lengths_what_came() -> None:
    (track,) = tracks(attempt((40, "answer", "Hel"), (55, "answer", "lo"), (55.4, "answer", "!")))
    assert track.shown == "Hello!"
    assert track.compact() == [[40, 15], [3, 3]]  # 55.4 rounds to 55: one step


def test_channels_are_told_apart_and_a_refusal_is_an_answer() -> None:
    found = tracks(attempt((1, "reasoning", "hm"), (2, "refusal", "no"), (3, "tool", "{}"), (4, "answer", "!")))
    assert [(track.channel, track.shown) for track in found] == [("reasoning", "hm"), ("answer", "no!"), ("tool", "{}")]


def test_lengths_count_as_a_browser_does() -> None:
    (track,) = tracks(attempt((1, "answer", "😀"), (2, "answer", "\u202e"), (3, "answer", "中")))
    assert track.shown == "😀⟨U+202E⟩中"
    assert track.compact()[1] == [2, 8, 1]


def test_a_broken_surrogate_is_spelled_out() -> None:
    (track,) = tracks(attempt((1, "answer", "a\ud83d"), (2, "answer", "\ude00b")))
    assert track.shown == "a⟨U+D83D⟩⟨U+DE00⟩b"
    assert sum(track.compact()[1]) == len(track.shown)


def test_beyond_the_limit_times_count_and_text_is_left_out() -> None:
    (track,) = tracks(attempt((1, "answer", "abc"), (9, "answer", "def" * 400_000)), limit=4)
    assert track.shown == "abcd … [+1,199,999]"
    assert track.compact() == [[1, 8], [3, 1]]


def test_a_long_stream_joins_neighbours_and_keeps_its_end() -> None:
    (track,) = tracks(attempt(*((i, "answer", "x") for i in range(1001))))
    waits, lengths = track.compact()
    assert len(waits) == 334  # every third of 1001, and the last
    assert sum(waits) == 1000 and sum(lengths) == 1001


def test_without_events_the_texts_stand_without_times() -> None:
    bare = Attempt(number=1, outcome="ok", timeline=Timeline(), text="yes", tool_calls=(ToolCall("f", "{}"),))
    assert [(track.channel, track.shown, track.steps) for track in tracks(bare)] == [
        ("tool", "f({})", []),
        ("answer", "yes", []),
    ]


def grade(**other: object) -> Grade:
    return Grade(score=0.0, verdict="fail", failure="wrong_field", **other)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("item", "shown"),
    [
        (Item(id="1", row={}, target={"answer": "Red."}), "Red."),
        (Item(id="1", row={}, target={"n": 1}), '{\n "n": 1\n}'),
        (Item(id="1", row={"tests": {"entry_point": "f"}}), '{\n "entry_point": "f"\n}'),
        (Item(id="1", row={"unanswerable": True}), '{\n "unanswerable": true\n}'),
        (Item(id="1", row={}), ""),
    ],
)
def test_what_is_expected(item: Item, shown: str) -> None:
    assert expected(item) == shown


def test_fields_are_rows_and_the_texts_an_overlay() -> None:
    item = Item(id="1", row={}, target={"total": 5, "due": "2026-05-01", "note": "x"})
    got = {"due": "2026-05-01", "total": 7, "extra": 1}
    parts = {
        "wrong": [{"field": "total", "got": 7, "want": 5}],
        "omitted": ["note"],
        "invented": [{"field": "extra", "got": 1}],
    }
    found = difference(item, grade(extracted=got, parts=parts), json.dumps(got))
    assert found.rows == (("total", "5", "7"), ("note", "x", ""), ("extra", "", "1"))
    assert "".join(text for kind, text in found.segments if kind != "new") == json.dumps(dict(item.target), indent=1)
    assert "".join(text for kind, text in found.segments if kind != "gone") == json.dumps(
        {"total": 7, "due": "2026-05-01", "extra": 1}, indent=1
    )


def test_a_test_that_failed_first_and_a_fact_that_is_missing() -> None:
    code = Item(id="1", row={"tests": {"entry_point": "f"}})
    first = {"input": "f(1)", "expected": "2", "why": "returned 3"}
    assert difference(code, grade(parts={"first_failure": first}), "def f").rows == (("f(1)", "2", "returned 3"),)
    facts = Item(id="1", row={"facts": [{"id": "a", "value": "red"}, {"id": "b", "value": "two"}]})
    parts = {"facts": {"a": "missing", "b": "supported"}}
    assert difference(facts, grade(parts=parts, extracted="none"), "…").rows == (("a", "red", "missing"),)


def test_no_overlay_where_it_says_nothing() -> None:
    item = Item(id="1", row={}, target={"answer": "blue"})
    assert difference(item, grade(), "Aardvarks roam 7 plains").segments == ()
    assert difference(item, grade(), "blue " * 700).segments == ()
    right = Grade(score=1.0, verdict="pass")
    assert difference(item, right, "blue") == difference(item, None, "blue")


def test_hostile_values_are_spelled_out() -> None:
    item = Item(id="1", row={}, target={"a": "x"})
    found = difference(
        item, grade(extracted={"a": "\u202ex"}, parts={"wrong": [{"field": "a", "got": "\u202ex", "want": "x"}]}), ""
    )
    assert found.rows == (("a", "x", "⟨U+202E⟩x"),)
    assert not any("\u202e" in text for _, text in found.segments)
