"""What a notebook shows of each object: complete without a request, and hostile names are inert."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from IPython.core.formatters import DisplayFormatter

import speedqual as sq
from speedqual.notebook.show import show
from speedqual.records import Candidate, EvalSet, Grade, GraderSpec, Item, Message, Record
from speedqual.running import Policy

HOSTILE = "</script><img src=x onerror=alert(1)>\u202e\x1b[31m"


def bundle(thing: object) -> dict[str, str]:
    """What IPython sends to the front end for the last value of a cell."""
    data, _ = DisplayFormatter().format(thing)
    return dict(data)


def assert_inert(html: str) -> None:
    assert "<script" not in html and "<img src=x" not in html and "\u202e" not in html and "\x1b" not in html
    assert not re.search(r"<[a-z]+ [^>]*(?:src|href)=", html), "an element that asks for something"


@pytest.fixture
def evalset() -> EvalSet:
    item = Item(id="<b>1</b>", row={"text": "<script>alert(1)</script>\u202e"}, difficulty="hard", language="zh")
    return EvalSet(
        name="<i>名</i>", task="facts", items=(item,), grader=GraderSpec(name="facts"), prompt="{text}", floor=0.9
    )


@pytest.fixture
def record(small_run: sq.Run) -> Record:
    """A finished trial whose answer and grade are hostile."""
    found = next(record for record in small_run.records if record.last.outcome == "ok")
    attempt = replace(found.last, text=HOSTILE)
    grade = Grade(score=0.5, verdict="partial", failure="wrong_field", why=HOSTILE, extracted=HOSTILE, grader="own")
    return replace(found, attempts=(attempt,), grade=grade)


def test_an_eval_set_shows_counts_and_prompts_escaped(evalset: EvalSet) -> None:
    html = bundle(evalset)["text/html"]
    assert "&lt;i&gt;名&lt;/i&gt;" in html and "hard 1" in html and "zh 1" in html and "90 %" in html
    assert "&lt;script&gt;alert(1)" in html and "⟨U+202E⟩" in html
    assert "<script" not in html and "<b>1" not in html


def test_a_run_shows_its_scoreboard(small_run: sq.Run) -> None:
    html = bundle(small_run)["text/html"]
    assert "good" in html and "快" in html and "24 trials" in html and "8 trials ended" in html


@pytest.mark.parametrize("analysis", [sq.Frontier, sq.Cliffs])
def test_an_analysis_shows_its_figure_inline(analysis: type, small_run: sq.Run) -> None:
    result = analysis()(small_run)
    shown = bundle(result)
    html = shown["text/html"]
    assert html.startswith("<p><strong>") and 'src="data:image/png;base64,' in html and 'alt="' in html
    assert "http" not in html and "<details>" in html
    assert result.verdict in shown["text/plain"]
    assert len(html) < 90_000, "a figure of few colours is small"


def test_every_record_is_one_line_of_text_and_an_inert_card(evalset: EvalSet, record: Record) -> None:
    candidate = Candidate(name=HOSTILE, model=HOSTILE, params={"system": HOSTILE}, base_url="https://example.org/v1")
    things = [evalset, replace(evalset.items[0], id=HOSTILE, row={"text": HOSTILE}), candidate, record, record.grade]
    for thing in [*things, Policy(HOSTILE, "strong", "difficulty", (HOSTILE,), deadline_ms=800)]:
        shown = bundle(thing)
        assert_inert(shown["text/html"])
        assert "\n" not in shown["text/plain"] and len(shown["text/plain"]) < 400
        assert "\u202e" not in shown["text/plain"] and "\x1b" not in shown["text/plain"]


def test_a_candidate_shows_neither_key_nor_query() -> None:
    candidate = sq.candidate("openai/m", base_url="http://user:secret@host/v1?key=hidden", headers={"X-Key": "quiet"})
    shown = bundle(candidate)
    for text in shown.values():
        assert "secret" not in text and "hidden" not in text and "quiet" not in text
    assert "X-Key" in shown["text/html"] and "http://host/v1" in shown["text/plain"]


def test_a_missing_number_of_a_record_gives_its_reason(record: Record) -> None:
    without = replace(record, metrics={**record.metrics, "cost_usd": None}, missing={"cost_usd": "no price is known"})
    assert "– no price is known" in bundle(without)["text/html"]


def test_a_policy_is_a_sentence_and_its_json() -> None:
    shown = bundle(Policy("small", "large", "difficulty", ("easy",), deadline_ms=800))
    assert shown["text/plain"] == (
        "route: difficulty easy to small · to large the rest, and what is failed, later than 800 ms, rejected by a check"
    )
    assert "&quot;deadline_ms&quot;: 800" in shown["text/html"]


def test_a_run_and_an_analysis_are_shown_in_chinese(small_run: sq.Run) -> None:
    board, front = bundle(show(small_run, "zh"))["text/html"], bundle(show(sq.Frontier()(small_run), "zh"))["text/html"]
    assert "首字延迟" in board and "24 次试验" in board and "结论与说明（英文）" in front
    alt = re.search(r'alt="([^"]+)"', front)
    assert alt and alt[1].startswith("前沿")


def test_records_without_a_display_keep_their_repr() -> None:
    assert bundle(Message("user", "hi")) == {"text/plain": "Message(role='user', content='hi')"}
