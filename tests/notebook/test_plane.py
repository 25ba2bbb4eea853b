"""The plane stands where the frontier stands; live it knows speeds first; what is brushed is a table of trials."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from heard import events_of

import speedqual as sq
from speedqual.analysis.measures import find_measure
from speedqual.display import numbers
from speedqual.notebook.widgets.gathering import Gathering
from speedqual.records import Grade, Trial
from speedqual.running import Finished, Graded, Started, TrialFinished


def started(*names: str) -> Started:
    return Started(run="r", folder="r", n_trials=8, n_done=0, candidates=names, evalsets=("s",))


def trial(candidate: str, item: int, repeat: int = 0) -> Trial:
    return Trial(candidate=candidate, evalset="s", item=f"i{item}", repeat=repeat)


def ended(candidate: str, item: int, outcome: str = "ok", repeat: int = 0, **metrics: Any) -> TrialFinished:
    return TrialFinished(trial=trial(candidate, item, repeat), outcome=outcome, metrics=metrics, flags=())


def graded(candidate: str, item: int, score: float, repeat: int = 0) -> Graded:
    grade = Grade(score=score, verdict="pass" if score == 1 else "fail")
    return Graded(trial=trial(candidate, item, repeat), grade=grade, n_graded=1, n_to_grade=8)


def test_live_points_end_where_the_frontier_stands(small_run: sq.Run) -> None:
    gathering = Gathering(find_measure("e2e"))
    for event in events_of(small_run):
        gathering.take(event)
    gathering.settle()
    table = sq.Frontier()(small_run).table.set_index("candidate")
    points = {point.name: point for point in gathering.points()}
    assert set(points) == set(table.index)
    for name, row in table.iterrows():
        point = points[str(name)]
        for mine, theirs in ((point.x, "e2e_ms"), (point.x_lo, "e2e_ms_lo"), (point.x_hi, "e2e_ms_hi")):
            assert (mine is None and pd.isna(row[theirs])) or mine == pytest.approx(row[theirs])
        assert (point.y, point.y_lo, point.y_hi) == pytest.approx(
            (row["quality"], row["quality_lo"], row["quality_hi"])
        )
        assert (point.n, point.front) == (row["n"], bool(row["on_front"]))


def test_speeds_come_first_and_qualities_when_they_are_graded() -> None:
    gathering = Gathering(find_measure("ttft"))
    for event in (started("a"), ended("a", 0, ttft_ms=10.0), ended("a", 1, ttft_ms=30.0)):
        gathering.take(event)
    point = gathering.points()[0]
    assert (point.x, point.y, point.n) == (20.0, None, 0)
    gathering.take(graded("a", 0, 1.0))
    point = gathering.points()[0]
    assert (point.y, point.n) == (1.0, 1)


def test_a_failure_counts_nothing_from_where_the_grading_has_come_to() -> None:
    """Failed first and last of four; graded are the two between, in their order."""
    gathering = Gathering(find_measure("e2e"))
    events = [ended("a", 0, "timeout"), ended("a", 1, e2e_ms=5.0), ended("a", 2, e2e_ms=5.0), ended("a", 3, "timeout")]
    for event in (started("a"), *events):
        gathering.take(event)
    qualities = []
    for event in (graded("a", 1, 1.0), graded("a", 2, 1.0)):
        gathering.take(event)
        qualities.append(gathering.points()[0].y)
    gathering.settle()
    assert [*qualities, gathering.points()[0].y] == [pytest.approx(1 / 2), pytest.approx(2 / 3), pytest.approx(2 / 4)]


def test_repeats_of_an_item_count_once() -> None:
    gathering = Gathering(find_measure("e2e"))
    gathering.take(started("a"))
    for repeat, score in enumerate([1.0, 0.0, 1.0, 0.0]):
        gathering.take(ended("a", 0, repeat=repeat, e2e_ms=1.0 + repeat))
        gathering.take(graded("a", 0, score, repeat))
    point = gathering.points()[0]
    assert (point.n, point.y, point.x) == (1, 0.5, 2.5)


def test_what_is_brushed_is_a_table_of_trials(small_run: sq.Run) -> None:
    plane = sq.Plane(small_run)
    assert plane.chosen == () and len(plane.selected) == len(small_run.df) == 24
    plane.widget.choice = {"names": ["快", "good", "nobody", 7]}
    assert plane.chosen == ("good", "快")
    assert set(plane.selected["candidate"]) == {"good", "快"} and len(plane.selected) == 16
    plane.widget.choice = {"names": "good"}  # no list: nothing is taken from it
    assert plane.chosen == ()


def test_a_live_plane_has_trials_of_its_own() -> None:
    plane = sq.Plane()
    for event in (started("a", "b"), ended("a", 0, e2e_ms=10.0), ended("b", 0, e2e_ms=20.0), graded("a", 0, 1.0)):
        plane(event)
    plane(Finished(run="r", status="interrupted", why="", n_trials=8, n_done=2))
    assert plane.selected[["candidate", "outcome", "e2e_ms"]].values.tolist() == [["a", "ok", 10.0], ["b", "ok", 20.0]]
    plane.widget.choice = {"names": ["a"]}
    assert plane.selected["score"].tolist() == [1.0]


def test_a_plane_of_nothing_is_no_error() -> None:
    plane = sq.Plane()
    assert plane.selected.empty and "No reply yet" in plane._repr_html_() and repr(plane) == "<Plane of 0 candidates>"


def test_its_static_twin_is_the_frontier(small_run: sq.Run) -> None:
    html = sq.Plane(small_run)._repr_html_()
    assert html == sq.Frontier()(small_run)._repr_html_()
    assert "<script" not in html and "http" not in html


def test_each_candidate_keeps_its_place_in_the_order_of_the_run(small_run: sq.Run) -> None:
    view = sq.Plane(small_run)._picture().view()
    assert [point["name"] for point in view["points"]] == ["good", "快", "broken"]


def test_a_sentence_says_each_point_in_both_languages() -> None:
    labels = {}
    for lang in ("en", "zh"):
        plane = sq.Plane(lang=lang)
        for event in (started("a"), ended("a", 0, e2e_ms=1500.0)):
            plane(event)
        labels[lang] = plane._picture().text().splitlines()[-1]
    assert labels == {"en": "a: 1.5 s, not graded yet", "zh": "a：1.5 s，尚未评分"}
    assert numbers.amount(1500, "ms") == "1.5 s"


def test_hostile_names_stay_text(small_run: sq.Run, tmp_path: Path) -> None:
    plane = sq.Plane()
    for event in (
        started("<img src=x onerror=alert(1)>\u202e"),
        ended("<img src=x onerror=alert(1)>\u202e", 0, e2e_ms=1.0),
    ):
        plane(event)
    assert "<img" not in plane._repr_html_()
    assert plane._picture().view()["points"][0]["shown"].endswith("⟨U+202E⟩")
