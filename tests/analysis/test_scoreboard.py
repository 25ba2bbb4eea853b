"""The scoreboard: quality over items, speeds over complete replies, failures and cost counted apart."""

from __future__ import annotations

import pandas as pd
import pytest

from speedqual.analysis.intervals import mean_interval, wilson
from speedqual.analysis.scoreboard import Scoreboard, scoreboard_rows


def _row(item: str, score: float | None, **other: object) -> dict[str, object]:
    base = {
        "candidate": "a",
        "evalset": "s",
        "item": item,
        "cluster": "",
        "phase": "main",
        "outcome": "ok",
        "score": score,
        "success": None if score is None else score >= 1,
        "failure": "none" if score == 1 else "wrong_result",
        "ttft_ms": 100.0,
        "e2e_ms": 200.0,
        "decode_tok_s": 50.0,
        "cost_usd": 0.01,
    }
    return base | other


def _only(rows: list[dict[str, object]]) -> dict[str, object]:
    table = Scoreboard()(pd.DataFrame(rows)).table
    assert len(table) == 1
    return dict(table.iloc[0])


def test_repeats_are_averaged_first_and_are_never_extra_n() -> None:
    row = _only([_row("1", 1.0), _row("1", 0.0), _row("2", 1.0), _row("2", 1.0)])
    assert (row["quality"], row["n_items"], row["n"]) == (0.75, 2, 4)


def test_an_endpoint_failure_counts_zero_delivered_and_is_left_out_of_answered() -> None:
    gone = _row("3", None, outcome="timeout", failure=None, ttft_ms=None, e2e_ms=None, decode_tok_s=None)
    row = _only([_row("1", 1.0), _row("2", 1.0), gone])
    assert row["quality"] == pytest.approx(2 / 3)
    assert row["answered"] == 1.0
    assert row["endpoint_failures"] == {"timeout": 1}
    assert (row["n_ok"], row["n"]) == (2, 3)


def test_an_ungraded_answer_counts_neither_way_and_is_said() -> None:
    board = Scoreboard()(pd.DataFrame([_row("1", 1.0), _row("2", None, failure="not_executed")]))
    row = dict(board.table.iloc[0])
    assert (row["quality"], row["n_items"], row["n_ungraded"]) == (1.0, 1, 1)
    assert any("could not be judged" in note for note in board.notes)


def test_quality_of_right_and_wrong_has_a_wilson_interval() -> None:
    row = _only([_row(str(i), float(i < 6)) for i in range(8)])
    expected = wilson(6, 8)
    assert (row["quality_lo"], row["quality_hi"]) == (expected.lo, expected.hi)


def test_all_wrong_in_clusters_is_not_a_certainty() -> None:
    interval = mean_interval([0.0] * 8, clusters=["a", "a", "b", "b", "c", "d", "e", "f"])
    expected = wilson(0, 6)
    assert (interval.value, interval.lo, interval.hi, interval.n) == (0.0, expected.lo, expected.hi, 8)


def test_cost_is_unknown_as_soon_as_one_trial_is() -> None:
    assert _only([_row("1", 1.0), _row("2", 0.0)])["cost_per_success_usd"] == pytest.approx(0.02)
    assert _only([_row("1", 1.0), _row("2", 0.0, cost_usd=None)])["cost_usd"] is None
    assert _only([_row("1", 0.0)])["cost_per_success_usd"] is None


def test_the_slow_tail_of_a_rate_is_its_low_end() -> None:
    row = _only([_row(str(i), 1.0, decode_tok_s=float(i)) for i in range(1, 101)])
    assert row["decode_tok_s_p5"] == pytest.approx(5.95)


def test_the_best_comes_first_and_rows_read_well() -> None:
    rows = [_row("1", 0.0), _row("1", 1.0, candidate="b")]
    board = Scoreboard()(pd.DataFrame(rows))
    head, cells = scoreboard_rows(board.table)
    assert [row[0] for row in cells] == ["b", "a"]
    assert head[:2] == ["candidate", "quality"]
    assert cells[0][-1] == "1/1"


def test_nothing_asked_is_said() -> None:
    empty = pd.DataFrame(columns=list(_row("1", 1.0)))
    assert Scoreboard()(empty).verdict == "Nothing was graded."
