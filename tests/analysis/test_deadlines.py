"""Quality at a deadline by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from speedqual.analysis import from_table
from speedqual.analysis.deadlines import Deadlines, curve_at
from speedqual.errors import UsageError


def run(rows: list[tuple[str, str, int, str, float, float]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["candidate", "item", "repeat", "outcome", "score", "e2e_user_ms"])


def test_late_answers_are_worth_nothing_and_repeats_share_an_item() -> None:
    frame = run(
        [
            ("a", "1", 0, "ok", 1.0, 100.0),
            ("a", "1", 1, "ok", 1.0, 900.0),
            ("a", "2", 0, "ok", 0.5, 200.0),
            ("a", "3", 0, "timeout", np.nan, np.nan),
        ]
    )
    got = Deadlines(at=(99.0, 100.0, 200.0))(frame)
    curve = got.table.set_index("deadline")["quality"]
    # item 1: half at 100 ms, whole at 900 ms; item 2: 0.5 at 200 ms; item 3 never; three items
    assert curve[99.0] == 0.0
    assert curve[100.0] == pytest.approx(0.5 / 3)
    assert curve[200.0] == pytest.approx((0.5 + 0.5) / 3)
    assert curve.iloc[-1] == pytest.approx(1.5 / 3)


def test_curve_counts_an_answer_at_its_very_moment() -> None:
    assert curve_at(np.array([2.0, np.inf]), np.array([0.5, 0.5]), np.array([1.9, 2.0, 9.0])).tolist() == [
        0.0,
        0.5,
        0.5,
    ]


def test_switch_points_of_a_board() -> None:
    board = pd.DataFrame({"m": ["fast", "slow", "late"], "q": [0.4, 0.9, 0.5], "sec": [1.0, 5.0, 9.0]})
    got = Deadlines()(from_table(board, candidate="m", quality="q", n=100, seconds="sec"))
    assert got.switches[["start", "candidate"]].to_numpy().tolist() == [[1.0, "fast"], [5.0, "slow"]]
    assert got.switches["quality"].tolist() == [0.4, 0.9]
    assert "fast within 1 s to 5 s" in got.verdict


def test_a_lead_below_the_threshold_changes_no_advice() -> None:
    board = pd.DataFrame({"m": ["fast", "slow"], "q": [0.80, 0.805], "sec": [1.0, 5.0]})
    table = from_table(board, candidate="m", quality="q", n=100, seconds="sec")
    assert len(Deadlines(lead=0.01)(table).switches) == 1
    assert len(Deadlines(lead=0.001)(table).switches) == 2


def test_a_budget_is_a_deadline_in_dollars() -> None:
    items = pd.DataFrame(
        {"m": ["a"] * 2 + ["b"] * 2, "id": [1, 2] * 2, "q": [1, 0, 1, 1], "usd": [0.01, 0.01, 0.1, 0.3]}
    )
    got = Deadlines(x="cost")(from_table(items, candidate="m", quality="q", item="id", cost="usd"))
    assert got.switches["candidate"].tolist() == ["a", "b"] and got.switches["start"].tolist() == [0.01, 0.3]
    assert "for $0.01" in got.verdict


def test_band_holds_the_curve_and_json_is_strict() -> None:
    rng = np.random.default_rng(0)
    frame = run([("a", str(i), 0, "ok", float(rng.random() < 0.7), float(rng.lognormal(5, 0.5))) for i in range(100)])
    got = Deadlines()(frame)
    assert (got.table["quality_lo"] <= got.table["quality"]).all() and (
        got.table["quality"] <= got.table["quality_hi"]
    ).all()
    assert json.loads(json.dumps(got.to_dict(), allow_nan=False))["switches"][0]["candidate"] == "a"


def test_no_time_is_said() -> None:
    with pytest.raises(UsageError, match="no time"):
        Deadlines()(from_table(pd.DataFrame({"m": ["a"], "q": [0.5]}), candidate="m", quality="q"))


def test_public_agents_at_a_budget(shared: Path) -> None:
    frame = pd.read_csv(shared / "data/swebench_bash_only_items.csv", comment="#")
    got = Deadlines(x="cost")(
        from_table(frame, candidate="model", quality="resolved", item="instance", cost="cost_usd")
    )
    assert got.switches["candidate"].iloc[0] == "gpt-5-mini" and got.switches["candidate"].iloc[-1] == "sonnet-4-5"
