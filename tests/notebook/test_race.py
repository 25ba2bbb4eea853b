"""A race replays the stored stream to the millisecond, picks a telling item, and can be held live."""

from __future__ import annotations

import pytest
from small_run import HOSTILE

import speedqual as sq
from speedqual.endpoints.scripted import Rule, Script, serve_in_process
from speedqual.errors import UsageError
from speedqual.evalsets.hashing import hashed
from speedqual.notebook.widgets.lanes import lane_of, shortened
from speedqual.records import Attempt, Candidate, EvalSet, Event, GraderSpec, Item, Timeline

MS = 1_000_000


def attempt(*events: Event, **fields: object) -> Attempt:
    timeline = Timeline(t_send=100 * MS, events=events, t_close=events[-1].t_ns + 5 * MS if events else 130 * MS)
    return Attempt(**{"number": 1, "outcome": "ok", "timeline": timeline, **fields})  # type: ignore[arg-type]


def test_times_are_counted_from_the_send_of_the_attempt_that_counted() -> None:
    events = (
        Event(140 * MS, "reasoning", "hm", 1),
        Event(160 * MS, "answer", "4", 2),
        Event(161 * MS, "answer", "2", 3),
    )
    lane = lane_of("a", attempt(*events, number=2))
    assert lane.pieces == ((40.0, True, "hm"), (60.0, False, "4"), (61.0, False, "2"))
    assert (lane.ttft_ms, lane.end_ms, lane.attempt) == (40.0, 61.0, 2)


def test_a_reply_without_any_token_has_an_end_and_no_first_token() -> None:
    lane = lane_of("a", attempt(outcome="http_error"))
    assert (lane.ttft_ms, lane.end_ms, lane.pieces, lane.outcome) == (None, 30.0, (), "http_error")


def test_long_replies_are_cut_and_what_is_left_out_is_counted() -> None:
    pieces, lost = shortened([(1.0, False, "x" * 3999), (2.0, False, "yz"), (3.0, False, "w" * 10)])
    assert [len(text) for _, _, text in pieces] == [3999, 1] and lost == 11


def test_it_takes_the_first_item_on_which_the_verdicts_differ(small_run: sq.Run) -> None:
    """ "good" and 快 both know items 1 to 4; from item 5 on 快 does not. "broken" never answers and has no verdict."""
    race = sq.Race(small_run, candidates=["good", "快"])
    frame = small_run.df.set_index(["candidate", "item"])["verdict"]
    differing = [item for item in dict.fromkeys(small_run.df["item"]) if frame["good", item] != frame["快", item]]
    assert {"item5", "item6", "item7", "item8"} == set(differing)
    assert [lane.name for lane in race.lanes] == ["good", "快"]
    good, quick = (lane.grade.score for lane in race.lanes if lane.grade)
    assert good == 1.0 and quick is not None and quick < 1.0


def test_replies_are_those_of_the_run(small_run: sq.Run) -> None:
    race = sq.Race(small_run, "item6")
    answers = {r.trial.candidate: r for r in small_run.records if r.trial.item == "item6"}
    assert [lane.name for lane in race.lanes] == ["good", "快", "broken"]
    for lane in race.lanes:
        record = answers[lane.name]
        if lane.outcome == "ok":
            assert lane.ttft_ms == pytest.approx(record.metrics["ttft_ms"])
            assert lane.end_ms == pytest.approx(record.metrics["e2e_ms"])
    assert race.lanes[0].text == answers["good"].last.text
    assert race.lanes[2].outcome in ("disconnect", "cut_off") and race.lanes[2].grade is None


def test_hostile_replies_stay_text(small_run: sq.Run) -> None:
    race = sq.Race(small_run, "item6")
    shown = race.lanes[1].text
    assert "⟨U+001B⟩" in shown and "⟨U+202E⟩" in shown and "\u202e" in HOSTILE
    html = race._repr_html_()
    assert "<script" not in html and "<img" not in html and "<svg" not in html and "&lt;/script&gt;" in html
    assert "number 6 &lt;b&gt;" in html  # the prompt


@pytest.mark.parametrize(("arguments", "what"), [({"item": "nope"}, "nope"), ({"evalset": "other"}, "other")])
def test_what_nobody_was_asked_is_refused(small_run: sq.Run, arguments: dict[str, str], what: str) -> None:
    with pytest.raises(UsageError, match=f"nobody in this run was asked {what}"):
        sq.Race(small_run, **arguments)


def test_chinese_says_it_in_chinese(small_run: sq.Run) -> None:
    text = sq.Race(small_run, "item1", lang="zh")._picture().text()
    assert text.startswith("同一提示，3 个候选") and "首字在" in text and "token" not in text


async def test_a_race_held_now_shows_pieces_as_they_come_and_grades_at_the_end() -> None:
    items = (Item(id="i1", row={"q": "capital of France"}, target={"answer": "Paris"}),)
    spec = GraderSpec(name="exact", options={"type": "string"})
    asked = hashed(EvalSet(name="s", task="exact", items=items, grader=spec, prompt="{q}", max_tokens=40))
    scripts = {
        "right": Script(ttft_ms=300, tok_s=10, rules=(Rule(contains="France", text="Paris"),)),
        "wrong": Script(ttft_ms=1, tok_s=0, text="Lyon"),
        "broken": Script(ttft_ms=1, error="cut", error_after=1),
    }
    with serve_in_process(scripts) as server:
        candidates = [Candidate(name=name, model=name, base_url=server.base_url) for name in scripts]
        race = await sq.Race.now(candidates, asked)
    assert [(lane.text, lane.grade.score if lane.grade else None) for lane in race.lanes[:2]] == [
        ("Paris", 1.0),
        ("Lyon", 0.0),
    ]
    assert race.lanes[2].grade is None and race.lanes[2].outcome in ("disconnect", "cut_off")
    ttft_ms = race.lanes[0].ttft_ms
    assert ttft_ms is not None and ttft_ms >= 300
    view = race._picture().view()
    assert view["live"] is False and view["seen"] is True
    assert [lane["mark"] for lane in view["lanes"]] == ["pass", "fail", ""]
