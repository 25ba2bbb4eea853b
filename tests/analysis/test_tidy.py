"""What a run and a brought table are reduced to."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from speedqual.analysis import from_table
from speedqual.analysis.tidy import tidy
from speedqual.errors import UsageError


def run_frame() -> pd.DataFrame:
    rows = [
        # candidate, item, repeat, outcome, score, e2e_ms, cost
        ("a", "1", 0, "ok", 1.0, 100.0, 0.01),
        ("a", "1", 1, "ok", 0.0, 300.0, 0.01),
        ("a", "2", 0, "timeout", np.nan, np.nan, np.nan),
        ("a", "2", 1, "ok", 1.0, 500.0, 0.03),
        ("b", "1", 0, "empty", 0.0, 50.0, np.nan),
        ("b", "2", 0, "ok", 1.0, 70.0, np.nan),
    ]
    frame = pd.DataFrame(rows, columns=["candidate", "item", "repeat", "outcome", "score", "e2e_ms", "cost_usd"])
    return frame.assign(evalset="e", phase="main", started_ms=range(6))


def test_repeats_are_averaged_first_and_failures_count_zero_only_in_what_is_delivered() -> None:
    table = tidy(run_frame())
    a = table.rows[table.rows["candidate"] == "a"].set_index("item")
    assert a["score"].to_dict() == {"1": 0.5, "2": 0.5}
    assert a["given"].to_dict() == {"1": 0.5, "2": 1.0}
    assert a["e2e_ms"].to_dict() == {"1": 200.0, "2": 500.0}
    summary = table.summary.set_index("candidate")
    assert summary.loc["a", "quality"] == 0.5 and summary.loc["a", "quality_given"] == 0.75
    assert summary.loc["a", "n"] == 2 and summary.loc["a", "failed"] == 0.25
    assert summary.loc["a", "e2e_ms"] == 350.0
    assert "1 of 6 requests failed" in table.notes[0]


def test_an_empty_answer_is_graded_and_an_unknown_cost_stays_unknown() -> None:
    summary = tidy(run_frame()).summary.set_index("candidate")
    assert summary.loc["b", "quality_given"] == 0.5
    assert np.isnan(summary.loc["b", "cost_usd"])


def test_other_phases_are_left_out() -> None:
    frame = run_frame()
    frame.loc[frame["candidate"] == "b", "phase"] = "other_tier"
    assert tidy(frame).names == ["a"]


def test_of_a_climbed_load_the_lowest_level_counts_and_other_layers_whole() -> None:
    rows = [  # layer, load_x, item, score
        ("concurrency", 1, "1", 1.0),
        ("concurrency", 1, "2", 1.0),
        ("concurrency", 8, "1", 0.0),
        ("concurrency", 8, "2", 0.0),
        ("long_input", 100, "3", 1.0),
        ("long_input", 400, "4", 0.0),
    ]
    frame = pd.DataFrame(rows, columns=["layer", "load_x", "item", "score"]).assign(candidate="a", outcome="ok")
    table = tidy(frame)
    assert table.rows.set_index("item")["score"].to_dict() == {"1": 1.0, "2": 1.0, "3": 1.0, "4": 0.0}
    assert table.summary.loc[0, "quality"] == 0.75


def test_the_same_item_of_two_sets_is_two_items() -> None:
    frame = pd.concat([run_frame(), run_frame().assign(evalset="f")])
    assert set(tidy(frame).matrix().index) == {"e/1", "e/2", "f/1", "f/2"}


def test_a_frame_of_other_columns_is_refused_with_the_fix() -> None:
    with pytest.raises(UsageError, match=r"lacks the columns candidate, item, score, outcome.*from_table"):
        tidy(pd.DataFrame({"model": ["a"]}))
    with pytest.raises(UsageError, match="cannot analyse a int"):
        tidy(3)


def test_percent_is_noticed_and_a_cost_of_zero_is_unknown() -> None:
    board = pd.DataFrame({"m": ["a", "b"], "q": [40.0, 1.0], "usd": [0.0, 2.0]})
    table = from_table(board, candidate="m", quality="q", n=50, cost="usd")
    assert table.summary["quality"].tolist() == [0.4, 0.01]
    assert np.isnan(table.summary["cost_usd"][0]) and table.summary["cost_usd"][1] == 2.0
    assert any("percent" in note for note in table.notes) and any(
        "unknown, not as free" in note for note in table.notes
    )
    free = from_table(board, candidate="m", quality="q", n=50, cost="usd", zero_cost="free")
    assert free.summary["cost_usd"][0] == 0.0


def test_repeated_names_are_told_apart_by_what_differs() -> None:
    board = pd.DataFrame(
        {"m": ["a", "a", "b"], "format": ["diff", "whole", "diff"], "day": [1, 1, 2], "q": [0.1, 0.2, 0.3]}
    )
    assert from_table(board, candidate="m", quality="q").names == ["a (diff)", "a (whole)", "b"]
    same = pd.DataFrame({"m": ["a", "a"], "q": [0.1, 0.2]})
    assert from_table(same, candidate="m", quality="q").names == ["a (#1)", "a (#2)"]


def test_a_ratio_of_columns_and_items_of_two_columns() -> None:
    rows = pd.DataFrame(
        {
            "m": list("aaaa"),
            "item": ["x", "x", "y", "x"],
            "lang": ["p", "q", "p", "p"],
            "ok": [1, 2, 0, 3],
            "all": [4] * 4,
        }
    )
    table = from_table(rows, candidate="m", quality="ok/all", item=["item", "lang"])
    scores = table.rows.set_index("item")["score"].to_dict()
    assert scores == {"x/p": 0.5, "x/q": 0.5, "y/p": 0.0}  # x/p is the mean of 1/4 and 3/4
    assert "repeats are averaged" in table.notes[0]


def test_wide_items_become_candidates_and_wide_rungs_ladders() -> None:
    wide = pd.DataFrame({"id": [1, 2, 3], "weak": [0, 1, 0], "strong": [1, 1, 1]})
    table = from_table(wide, rungs=["weak", "strong"], item="id")
    assert table.names == ["weak", "strong"] and table.summary["quality"].tolist() == pytest.approx([1 / 3, 1.0])
    ladders = pd.DataFrame({"model": ["m"], "4k": [90.0], "8k": [80.0]})
    table = from_table(ladders, candidate="model", rungs=["4k", "8k"], n=10)
    assert table.summary["ladder"].tolist() == ["m", "m"] and table.summary["rung"].tolist() == ["4k", "8k"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"candidate": "m"}, "no column of quality"),
        ({"quality": "q"}, "no column of candidates"),
        ({"candidate": "m", "quality": "nope"}, "no column 'nope'"),
        ({"candidate": "m", "quality": "q/nope"}, "no column 'nope'"),
        ({"candidate": "m", "quality": "q", "zero_cost": "maybe"}, "zero_cost"),
        ({"candidate": "m", "quality": "below"}, "outside 0 to 1"),
    ],
)
def test_bad_columns_are_named(options: dict[str, str], message: str) -> None:
    board = pd.DataFrame({"m": ["a"], "q": [0.5], "below": [-0.5]})
    with pytest.raises(UsageError, match=message):
        from_table(board, **options)


def test_missing_qualities_are_left_out_and_counted() -> None:
    board = pd.DataFrame({"m": ["a", "b"], "q": [0.5, None]})
    table = from_table(board, candidate="m", quality="q", n=10)
    assert table.names == ["a"] and any("1 rows without a quality" in note for note in table.notes)
