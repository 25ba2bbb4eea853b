"""The live view counts what events say, exactly; it stays readable, inert and out of the way."""

from __future__ import annotations

import io
import threading
import time
from typing import Any

import pytest

import speedqual as sq
from speedqual.notebook.live.painter import Painter
from speedqual.notebook.live.picture import duration, picture
from speedqual.notebook.live.tally import Standing, Tally
from speedqual.notebook.live.view import LiveView, automatic
from speedqual.notebook.screens import Terminal
from speedqual.notebook.words import NotebookWords, notebook_words
from speedqual.records import Grade, Place, Trial
from speedqual.running import Finished, Graded, Limits, Started, TrialFinished, TrialStarted
from speedqual.running.watching import LevelFinished, RunEvent

EN = notebook_words("en")


def started(n: int = 8, done: int = 0, candidates: tuple[str, ...] = ("a", "b"), **fields: Any) -> Started:
    return Started(run="r", folder="r", n_trials=n, n_done=done, candidates=candidates, evalsets=("s",), **fields)


def trial(candidate: str = "a", number: int = 0, load: Place | None = None) -> Trial:
    return Trial(candidate=candidate, evalset="s", item=f"i{number}", load=load)


def begun(candidate: str = "a", number: int = 0, **fields: Any) -> TrialStarted:
    return TrialStarted(trial=trial(candidate, number, **fields))


def ended(
    candidate: str = "a", number: int = 0, outcome: str = "ok", load: Place | None = None, **metrics: Any
) -> TrialFinished:
    return TrialFinished(trial=trial(candidate, number, load), outcome=outcome, metrics=metrics, flags=())


def graded(n: int, of: int) -> Graded:
    return Graded(trial=trial(), grade=Grade(score=1.0, verdict="pass"), n_graded=n, n_to_grade=of)


def finished(status: str = "finished", why: str = "", n: int = 8) -> Finished:
    return Finished(run="r", status=status, why=why, n_trials=n, n_done=n)


def tally_of(*events: tuple[float, RunEvent]) -> Tally:
    tally = Tally()
    for now_s, event in events:
        tally.take(event, now_s)
    return tally


def test_speeds_are_percentiles_of_complete_replies_and_a_tail_needs_twenty() -> None:
    tally = tally_of((0, started(n=80)))
    for k in range(1, 20):
        tally.take(ended(number=k, ttft_ms=float(k), decode_tok_s=10.0 * k), k)
    row = tally.standing(19).rows[0]
    assert (row.ttft_ms_p50, row.ttft_ms_p95, row.decode_tok_s_p50) == (10.0, None, 100.0)
    tally.take(ended(number=20, ttft_ms=20.0), 20)
    assert tally.standing(20).rows[0].ttft_ms_p95 == pytest.approx(19.05)  # 1 + 0.95 × 19


def test_failures_are_counted_by_kind_and_in_flight_is_what_began_and_has_not_ended() -> None:
    tally = tally_of(
        (0, started()),
        *((1, begun(number=k)) for k in range(5)),
        (2, ended(number=0, ttft_ms=5.0)),
        (2, ended(number=1, outcome="timeout")),
        (3, ended(number=2, outcome="timeout")),
        (3, ended(number=3, outcome="http_error")),
    )
    standing = tally.standing(4)
    row = standing.rows[0]
    assert (row.n_ended, row.n_failed, row.in_flight, standing.in_flight) == (4, 3, 1, 1)
    assert picture(standing, EN).rows[0][:3] == ("a", "1", "3 (2 timeout, 1 HTTP error)")


def test_warm_up_is_not_counted() -> None:
    warm = Trial(candidate="a", evalset="s", item="i", phase="warmup")
    tally = tally_of((0, started()), (1, TrialFinished(trial=warm, outcome="ok", metrics={}, flags=())))
    assert tally.standing(1).n_done == 0


def test_cost_is_held_against_the_budget_and_unknown_prices_are_said() -> None:
    tally = tally_of((0, started(limits=Limits(usd=2.0))), (1, ended(cost_usd=0.25)), (2, ended("b", cost_usd=0.25)))
    assert "$0.5 of $2.00" in picture(tally.standing(2), EN).facts
    tally.take(ended("b", 1, cost_usd=None), 3)
    assert "$0.5 of $2.00, without the replies whose price is unknown" in picture(tally.standing(3), EN).facts


def test_a_cost_that_nobody_knows_is_not_shown_as_nothing() -> None:
    shown = picture(tally_of((0, started()), (1, ended())).standing(1), EN)
    assert "$" not in shown.text() and "cost" not in shown.head


def test_time_to_go_is_that_of_the_slowest_candidate() -> None:
    """a: 3 of 4 after 6 s; b: 1 of 4 after 6 s. The rest at the pace of all: 4/4 × 6 = 6 s; b alone: 3/1 × 6 = 18 s."""
    events = [(2.0, ended("a", 0)), (4.0, ended("a", 1)), (5.0, ended("b", 0))]
    tally = tally_of((0, started()), *events[:2])
    assert tally.standing(4).left_s is None
    tally.take(events[2][1], 5.0)
    tally.take(ended("a", 2), 6.0)
    assert tally.standing(6.0).left_s == 18.0
    assert tally.standing(8.0).left_s == 16.0  # it runs down while nothing ends


def test_a_resumed_run_says_what_was_done_before() -> None:
    shown = picture(tally_of((0, started(n=10, done=4)), (1, ended())).standing(1), EN)
    assert shown.facts[:2] == ("5 of 10 trials", "4 of them by an earlier call")
    assert shown.share == 0.5


def test_a_load_test_is_shown_level_by_level() -> None:
    eight = Place(layer="concurrency", level="8 users", x=8, number=0)
    tally = tally_of(
        (0, started(candidates=("a",))),
        *((1, begun(number=k, load=eight)) for k in range(4)),
        (2, ended(number=0, load=eight, ttft_ms=30.0)),
        (3, ended(number=1, load=eight, outcome="timeout")),
        (
            3,
            LevelFinished(
                candidate="a",
                layer="concurrency",
                level="8 users",
                n_sent=4,
                ended="breaker",
                why="3 of 4 failed",
                client_limit="",
            ),
        ),
    )
    shown = picture(tally.standing(4), EN)
    assert shown.head[:6] == ("candidate", "level", "in flight", "requests/s", "ok", "failed")
    assert shown.rows == (
        ("a", "8 users", "2", "1.0", "1", "1 (1 timeout)", "30", "–", "–", "too many failures: 3 of 4 failed"),
    )  # two ends in 2 s


@pytest.mark.parametrize(
    ("status", "why", "said"),
    [
        ("finished", "", "Finished"),
        ("stopped", "the limit of 2 USD", "Stopped: the limit of 2 USD"),
        ("interrupted", "cancelled by the user", "Interrupted: cancelled by the user. What was finished is kept"),
        ("failed", "<img src=x onerror=alert(1)>", "Failed: <img src=x onerror=alert(1)>"),
    ],
)
def test_how_it_ended_is_said_without_a_bar(status: str, why: str, said: str) -> None:
    shown = picture(tally_of((0, started()), (1, ended()), (2, finished(status, why))).standing(9), EN)
    assert shown.heading.startswith(said) and shown.share is None
    assert "<progress" not in shown.html() and "<img" not in shown.html()
    assert "2 s" in shown.facts  # the time stands still


def test_grading_that_was_cut_off_is_said() -> None:
    shown = picture(tally_of((0, started()), (1, graded(3, 8)), (2, finished())).standing(2), EN)
    assert shown.heading.startswith("Finished asking; grading was cut off") and "3 of 8 answers graded" in shown.facts


def test_hostile_names_are_inert() -> None:
    tally = tally_of((0, started(candidates=("<script>alert(1)</script>\u202e",))))
    html = picture(tally.standing(1), EN).html()
    assert "&lt;script&gt;" in html and "<script" not in html and "⟨U+202E⟩" in html


def test_chinese_says_the_same_with_the_same_blanks() -> None:
    english, chinese = NotebookWords.load("en").texts, NotebookWords.load("zh").texts
    assert set(english) == set(chinese)
    blanks = {key: sorted(part.partition("}")[0] for part in text.split("{")[1:]) for key, text in english.items()}
    assert blanks == {
        key: sorted(part.partition("}")[0] for part in text.split("{")[1:]) for key, text in chinese.items()
    }
    shown = picture(tally_of((0, started()), (1, ended())).standing(1), notebook_words("zh"))
    assert shown.line() == "正在提问 · 8 次试验中已完成 1 次 · 1 秒"


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.4, "0 s"), (59.6, "1 min 0 s"), (61, "1 min 1 s"), (7260, "2 h 1 min")]
)
def test_durations(seconds: float, said: str) -> None:
    assert duration(seconds, EN) == said


class Kept:
    """A screen that keeps what it was shown."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.finals: list[str] = []

    def show(self, html: str, text: str, state: dict[str, Any], *, line: str, final: bool) -> None:
        self.lines.append(line)
        self.finals += [text] if final else []


def test_ten_thousand_events_are_drawn_a_few_times() -> None:
    screen = Kept()
    view = LiveView(screen=screen)
    begin = time.monotonic()
    view(started(n=5000))
    for k in range(5000):
        view(begun(number=k))
        view(ended(number=k, ttft_ms=1.0))
    took_s = time.monotonic() - begin
    view(finished(n=5000))
    assert len(screen.lines) <= 4 + 5 * took_s
    assert len(screen.finals) == 1 and "5,000 of 5,000 trials" in screen.finals[0]


def test_a_screen_that_fails_breaks_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> None:
        raise RuntimeError("no screen")

    painter = Painter(broken)
    painter.touch()
    painter.finish()
    assert "a live view could not be drawn" in caplog.text


def test_the_painter_ends_with_the_run() -> None:
    painter = Painter(lambda: None)
    painter.touch()
    painter.finish()
    assert "speedqual-painter" not in {thread.name for thread in threading.enumerate()}


def test_a_line_of_text_where_there_is_no_notebook() -> None:
    stream = io.StringIO()
    view = LiveView(screen=Terminal(stream))
    view(started())
    view(ended(ttft_ms=5.0))
    view(finished())
    lines = stream.getvalue().splitlines()
    assert lines[0] == "Checking that every endpoint answers" and lines[-1].startswith("Finished · 1 of 8 trials")


def test_no_view_comes_of_its_own_accord_outside_a_notebook() -> None:
    assert automatic(object()) is None


def test_it_agrees_with_the_run_that_it_watched(small_run: sq.Run) -> None:
    tally = tally_of((0, started(n=24, candidates=("good", "快", "broken"))))
    for record in small_run.records:
        tally.take(TrialFinished(trial=record.trial, outcome=record.last.outcome, metrics=record.metrics, flags=()), 1)
    board = sq.Scoreboard()(small_run.df).table.set_index("candidate")
    for row in tally.standing(2).rows:
        assert (
            row.n_ended == board.loc[row.candidate, "n"]
            and row.outcomes.get("ok", 0) == board.loc[row.candidate, "n_ok"]
        )
        if row.outcomes.get("ok", 0):
            assert row.ttft_ms_p50 == pytest.approx(board.loc[row.candidate, "ttft_ms_p50"])


def test_nothing_is_shown_before_a_run_begins_but_that_it_is_checked() -> None:
    assert picture(Standing(), EN).text() == "Checking that every endpoint answers"
