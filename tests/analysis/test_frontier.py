"""Frontiers with known answers."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from speedqual.analysis import Frontier, from_table
from speedqual.analysis.frontier import shrink
from speedqual.errors import UsageError


def board(rows: list[tuple[str, float, float]], n: float | None = 200) -> object:
    frame = pd.DataFrame(rows, columns=["m", "q", "sec"])
    return from_table(frame, candidate="m", quality="q", seconds="sec", n=n)


def items(seed: int = 0, n: int = 300, means: tuple[float, ...] = (0.5, 0.7, 0.9)) -> pd.DataFrame:
    """A run of three candidates: 100, 200, 400 ms with noise."""
    rng = np.random.default_rng(seed)
    frames = [
        pd.DataFrame(
            {
                "candidate": f"c{j}", "item": np.arange(n).astype(str), "outcome": "ok", "phase": "main",
                "score": (rng.random(n) < mean).astype(float), "e2e_ms": 100.0 * 2**j * rng.lognormal(0, 0.1, n),
                "started_ms": np.arange(n) * 10.0, "cost_usd": 0.001 * 2**j, "evalset": "e",
            }
        )
        for j, mean in enumerate(means)
    ]  # fmt: skip
    return pd.concat(frames, ignore_index=True)


def test_clear_points_are_surely_on_the_front_and_a_clear_loser_never() -> None:
    got = Frontier()(board([("fast", 0.3, 1), ("mid", 0.6, 2), ("slow", 0.9, 4), ("bad", 0.1, 8)]))
    assert got.front == ("fast", "mid", "slow")
    table = got.table.set_index("candidate")
    assert table.loc[["fast", "mid", "slow"], "p_on_front"].tolist() == [1.0, 1.0, 1.0]
    assert table.loc["bad", "p_on_front"] == 0.0 and table.loc["bad", "regret"] == pytest.approx(0.8, abs=0.02)


def test_two_equal_rates_split_the_chance() -> None:
    # the slower of two equal ones is on the front when its draw is higher: one half
    got = Frontier()(board([("fast", 0.5, 1), ("slow", 0.5, 2)]))
    table = got.table.set_index("candidate")
    assert table.loc["fast", "p_on_front"] == 1.0
    assert table.loc["slow", "p_on_front"] == pytest.approx(0.5, abs=0.03)
    assert got.front == ("fast",)


def test_chance_of_a_better_slower_one_is_that_of_the_difference() -> None:
    # 0.55 and 0.50 at n = 200: difference 0.05, SE sqrt(.55·.45/200 + .25/200) = 0.0499 → Φ(1.0) = 0.84
    got = Frontier()(board([("fast", 0.5, 1), ("slow", 0.55, 2)]))
    assert got.table.set_index("candidate").loc["slow", "p_on_front"] == pytest.approx(0.841, abs=0.02)


def test_without_n_there_is_a_front_but_no_chance() -> None:
    got = Frontier()(board([("fast", 0.5, 1), ("slow", 0.6, 2)], n=None))
    assert got.front == ("fast", "slow") and got.table["p_on_front"].isna().all()
    assert got.to_dict()["points"][0]["p_on_front"] is None


def test_items_are_resampled_together() -> None:
    # the slow one is right wherever the fast one is, and on 5 more items: paired, it is better in nearly every draw
    n = 200
    fast = (np.arange(n) < 100).astype(float)
    slow = (np.arange(n) < 105).astype(float)
    wide = pd.DataFrame({"item": np.arange(n), "fast": fast, "slow": slow})
    long = wide.melt("item", var_name="m", value_name="q").assign(sec=lambda d: np.where(d["m"] == "fast", 1.0, 2.0))
    got = Frontier()(from_table(long, candidate="m", quality="q", seconds="sec", item="item"))
    # all five lost in a resample: (1 − 5/200)^200 = 0.6 %
    assert got.table.set_index("candidate").loc["slow", "p_on_front"] == pytest.approx(
        1 - (195 / 200) ** 200, abs=0.004
    )


def test_a_run_gives_medians_with_order_statistic_bounds() -> None:
    got = Frontier()(items())
    row = got.table.set_index("candidate").loc["c1"]
    assert row["e2e_ms"] == pytest.approx(200, rel=0.03) and row["e2e_ms_lo"] < row["e2e_ms"] < row["e2e_ms_hi"]
    assert got.front == ("c0", "c1", "c2")


def test_a_rate_is_better_when_higher() -> None:
    frame = pd.DataFrame({"m": ["a", "b"], "q": [0.5, 0.9], "tps": [100.0, 50.0]})
    got = Frontier(x="speed")(from_table(frame, candidate="m", quality="q", n=100, measures={"decode_tok_s": "tps"}))
    assert got.front == ("a", "b")  # fastest first
    assert got.drops[["slower", "faster"]].to_numpy().tolist() == [["b", "a"]]


def test_a_triple_keeps_what_is_best_in_any_pair() -> None:
    frame = pd.DataFrame({"m": list("abc"), "q": [0.5, 0.5, 0.5], "sec": [1.0, 2.0, 3.0], "usd": [3.0, 2.0, 3.0]})
    table = from_table(frame, candidate="m", quality="q", n=100, seconds="sec", cost="usd")
    assert Frontier(x=("seconds", "cost"))(table).table["on_front"].tolist() == [True, True, False]


def test_unknown_cost_is_listed_and_on_no_front() -> None:
    frame = pd.DataFrame({"m": ["a", "b"], "q": [0.9, 0.5], "usd": [0.0, 2.0]})
    got = Frontier(x="cost")(from_table(frame, candidate="m", quality="q", n=100, cost="usd"))
    assert got.front == ("b",) and math.isnan(got.table["p_on_front"][0])
    assert any("have no cost" in note for note in got.notes)


@pytest.mark.parametrize(
    ("quality", "floor", "label"),
    # one-sided Wilson at n = 100, Holm over one candidate: 95 % → p(≤ 0.9) = 0.048, so it just passes
    [(0.95, 0.9, "passes"), (0.94, 0.9, "cannot tell"), (0.86, 0.9, "cannot tell"), (0.85, 0.9, "fails")],
)
def test_floor_has_three_answers(quality: float, floor: float, label: str) -> None:
    got = Frontier(floor=floor)(board([("a", quality, 1)], n=100))
    assert got.table["floor"].tolist() == [label]


def test_holm_makes_the_floor_harder_among_many() -> None:
    alone = Frontier(floor=0.9)(board([("a", 0.95, 1)], n=100))
    among = Frontier(floor=0.9)(board([("a", 0.95, 1), *((f"b{i}", 0.9, 2 + i) for i in range(9))], n=100))
    assert alone.recommended == "a" and among.recommended is None


def test_the_fastest_that_passes_is_recommended() -> None:
    got = Frontier(floor=0.5)(board([("fast", 0.3, 1), ("mid", 0.8, 2), ("slow", 0.9, 4)]))
    assert got.recommended == "mid" and "mid" in got.verdict


def test_winners_curse_of_twenty_equal_candidates_is_nine_points() -> None:
    rng = np.random.default_rng(8)
    quality = rng.binomial(100, 0.5, size=(300, 20)) / 100
    se = np.full(20, 0.05)
    excess = [shrink(row, se)[1] for row in quality]
    assert np.mean(quality.max(axis=1) - 0.5) == pytest.approx(0.09, abs=0.01)  # the curse
    assert np.mean(excess) == pytest.approx(0.09, abs=0.02)  # what shrinking takes away


def test_drop_between_neighbours_by_hand() -> None:
    got = Frontier()(board([("fast", 0.4, 1), ("slow", 0.8, 4)]))
    drop = got.drops.iloc[0]
    assert drop["drop"] == pytest.approx(0.4) and drop["per_doubling"] == pytest.approx(0.2)  # two doublings
    # lower bound: 0.4 − 1.96·sqrt(.24/200 + .16/200) = 0.312
    assert drop["drop_lo"] == pytest.approx(0.312, abs=0.01) and drop["p_both_on_front"] == 1.0


def test_dominance_matrix_holds_shares_of_draws() -> None:
    got = Frontier()(board([("fast", 0.5, 1), ("slow", 0.5, 2)]))
    assert (
        got.dominance.loc["fast", "slow"] == pytest.approx(0.5, abs=0.03) and got.dominance.loc["slow", "fast"] == 0.0
    )


def test_hypervolume_has_its_reference_and_an_interval() -> None:
    got = Frontier()(board([("fast", 0.5, 1), ("slow", 0.75, 2), ("slowest", 0.7, 4)]))
    assert got.reference == (4.0, 0.0) and got.hypervolume.value == pytest.approx(1.25)
    assert got.hypervolume.lo < 1.25 < got.hypervolume.hi


def test_a_score_of_zero_is_suspected() -> None:
    got = Frontier()(board([("a", 0.9, 1), ("b", 0.0, 2), ("c", 0.95, 3)]))
    assert any("exactly 0" in note and "b" in note for note in got.notes)


def test_json_is_strict_and_has_the_promised_keys() -> None:
    text = json.dumps(Frontier(floor=0.5)(items()).to_dict(), allow_nan=False)
    data = json.loads(text)
    assert {"points", "front", "verdict", "notes", "drops"} <= set(data)
    assert {"candidate", "quality", "quality_lo", "on_front", "p_on_front", "floor"} <= set(data["points"][0])


def test_same_seed_same_answer() -> None:
    assert Frontier()(items()).table.equals(Frontier()(items()).table)


def test_nothing_to_draw_against_is_said() -> None:
    with pytest.raises(UsageError, match="no speed or cost"):
        Frontier()(from_table(pd.DataFrame({"m": ["a"], "q": [0.5]}), candidate="m", quality="q"))
    with pytest.raises(UsageError, match="no candidate has a ttft_ms"):
        Frontier(x="ttft")(board([("a", 0.5, 1)]))
    with pytest.raises(UsageError, match="outside 0 to 1"):
        Frontier(floor=90)(board([("a", 0.5, 1)]))


def test_public_board_has_ten_front_points_three_of_them_doubtful(shared: Path) -> None:
    frame = pd.read_csv(shared / "data/aider_polyglot.csv", comment="#")
    table = from_table(
        frame, candidate="model", quality="pass_rate_2", n="test_cases", seconds="seconds_per_case", cost="total_cost"
    )
    got = Frontier()(table)
    on = got.table[got.table["on_front"]]
    assert len(on) == 10 and (on["p_on_front"] <= 0.66).sum() == 3
    cost = Frontier(x="cost")(table)
    unknown = cost.table["cost_usd"].isna()
    assert unknown.sum() >= 17 and not cost.table.loc[unknown, "on_front"].any()


@pytest.mark.parametrize(
    ("name", "quality"),
    [("aider_edit", "pass_rate_2"), ("aider_code_in_json", "pass_rate_1"), ("aider_qwen3", "pass_rate_2")],
)
def test_public_boards_run_without_a_warning(shared: Path, name: str, quality: str) -> None:
    frame = pd.read_csv(shared / f"data/{name}.csv", comment="#")
    table = from_table(frame, candidate="model", quality=quality, n="test_cases", seconds="seconds_per_case")
    assert len(set(table.names)) == len(frame)
    got = Frontier()(table)
    assert got.front and json.dumps(got.to_dict(), allow_nan=False)
