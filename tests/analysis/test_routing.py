"""Routing replayed on items whose outcome is known."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from speedqual.analysis import from_table
from speedqual.analysis.features import folds_of
from speedqual.analysis.routing import Routing
from speedqual.errors import ConfigError, UsageError
from speedqual.running.policy import Policy

# four items: fast right on 1 and 2, strong right on 1, 2 and 3
ITEMS = pd.DataFrame(
    {
        "m": ["fast"] * 4 + ["strong"] * 4,
        "id": [1, 2, 3, 4] * 2,
        "q": [1, 1, 0, 0, 1, 1, 1, 0],
        "sec": [1.0] * 4 + [10.0] * 4,
        "usd": [0.01] * 4 + [0.10] * 4,
    }
)


def routed() -> pd.DataFrame:
    table = from_table(ITEMS, candidate="m", quality="q", item="id", seconds="sec", cost="usd")
    return Routing()(table).table.set_index("policy")


def test_always_fast_and_always_strong() -> None:
    got = routed()
    assert got.loc["always fast", "quality"] == 0.5 and got.loc["always fast", "cost"] == pytest.approx(0.01)
    assert got.loc["always strong", "quality"] == 0.75 and got.loc["always strong", "time_p50"] == 10.0


def test_cascade_adds_times_and_costs_where_the_check_fails() -> None:
    row = routed().loc["cascade"]
    # items 3 and 4 are asked again: 11 s and 0.11 USD each
    assert row["quality"] == 0.75 and row["share_strong"] == 0.5
    assert row["cost"] == pytest.approx((2 * 0.01 + 2 * 0.11) / 4)
    assert row["time_p50"] == pytest.approx(6.0)  # between 1 and 11
    assert row["gap_recovered"] == 1.0 and "perfect check" in row["assumes"]


def test_oracle_asks_the_strong_one_only_where_it_helps() -> None:
    row = routed().loc["oracle"]
    assert (
        row["quality"] == 0.75 and row["share_strong"] == 0.25 and row["cost"] == pytest.approx((3 * 0.01 + 0.10) / 4)
    )


def test_a_check_takes_time_and_money() -> None:
    table = from_table(ITEMS, candidate="m", quality="q", item="id", seconds="sec", cost="usd")
    row = Routing(check_seconds=2.0, check_usd=0.005)(table).table.set_index("policy").loc["cascade"]
    assert row["cost"] == pytest.approx((4 * 0.015 + 2 * 0.10) / 4)
    assert row["time_p95"] == pytest.approx(13.0)


def test_hedge_by_hand() -> None:
    items = pd.DataFrame(
        {
            "m": ["f"] * 10 + ["s"] * 10,
            "id": list(range(10)) * 2,
            "q": [1] * 9 + [0] + [1] * 10,
            "sec": [1.0] * 9 + [100.0] + [5.0] * 10,
        }
    )
    table = from_table(items, candidate="m", quality="q", item="id", seconds="sec")
    row = Routing(fast="f", strong="s", hedge_at=0.5)(table).table.set_index("policy").loc["hedge after p50"]
    # the tenth is late after 1 s; the strong one is done at 6 s with a right answer
    assert row["quality"] == 1.0 and row["share_strong"] == 0.1
    assert row["time_p95"] == pytest.approx(np.quantile([1.0] * 9 + [6.0], 0.95))


def tiered(n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    tier = np.repeat(["easy", "medium", "hard"], n // 3)
    fast = np.where(tier == "hard", 0.2, 0.97)
    strong = np.where(tier == "hard", 0.85, 0.90)
    frames = [
        pd.DataFrame(
            {
                "candidate": name, "item": np.arange(n).astype(str), "difficulty": tier, "outcome": "ok",
                "score": (rng.random(n) < p).astype(float), "e2e_ms": ms, "cost_usd": usd,
            }
        )
        for name, p, ms, usd in (("a", fast, 200.0, 0.001), ("b", strong, 2000.0, 0.01))
    ]  # fmt: skip
    return pd.concat(frames, ignore_index=True)


def test_tiers_that_the_fast_one_can_do_are_recommended_in_words_and_as_policy() -> None:
    got = Routing()(tiered())
    assert got.policy == Policy("a", "b", "difficulty", ("easy", "medium"), check=False, deadline_ms=400.0)
    assert got.verdict.startswith("Send difficulty easy, medium to a and the rest to b")
    row = got.table.set_index("policy").loc["groups"]
    # two thirds at 0.001, one third at 0.01, against 0.01
    assert row["share_strong"] == pytest.approx(1 / 3) and row["of_strong_cost"] == pytest.approx(0.4)


def test_router_beats_the_random_mix_with_a_feature_that_tells_and_not_without() -> None:
    got = Routing()(tiered())
    assert got.areas["random"] == pytest.approx(0.5, abs=0.001)
    assert got.areas["router"] > 0.7 and got.areas["oracle"] > got.areas["router"]
    blind = Routing()(tiered().drop(columns="difficulty"))
    assert abs(blind.areas["router"] - 0.5) < 0.1 and any("only guess" in note for note in blind.notes)


def test_curve_ends_at_both_candidates() -> None:
    got = Routing()(tiered())
    table = got.table.set_index("policy")["quality"]
    for _, line in got.curve.groupby("policy"):
        assert line["quality"].iloc[0] == pytest.approx(table["always fast"])
        assert line["quality"].iloc[-1] == pytest.approx(table["always strong"])


def test_cross_fitting_never_shows_an_item_its_own_route() -> None:
    # noise features: in-sample choice would look far better than the random line
    rng = np.random.default_rng(1)
    frame = tiered()
    frame["difficulty"] = np.tile(rng.integers(0, 40, 300).astype(str), 2)
    assert Routing()(frame).areas["router"] < 0.6


def test_folds_keep_clusters_together() -> None:
    clusters = np.repeat(np.arange(30), 4)
    fold = folds_of(clusters, 5, 0)
    assert all(len(set(fold[clusters == c])) == 1 for c in range(30)) and len(set(fold)) == 5


def test_a_fast_one_that_is_no_worse_needs_no_policy() -> None:
    got = Routing(fast="strong", strong="fast")(from_table(ITEMS, candidate="m", quality="q", item="id"))
    assert got.policy is None and got.verdict.startswith("Always strong")


def test_policy_round_trip_and_its_errors(tmp_path: Path) -> None:
    policy = Policy("a", "b", "difficulty", ("easy",), check=True, deadline_ms=400.0)
    assert Policy.load(policy.save(tmp_path / "policy.json")) == policy
    assert policy.goes_fast({"difficulty": "easy"}) and not policy.goes_fast({"difficulty": "hard"})
    everywhere = Policy("a", "b")
    assert Policy.from_dict(everywhere.to_dict()) == everywhere and everywhere.goes_fast({})
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(ConfigError, match=r"bad\.json: this is no routing policy"):
        Policy.load(tmp_path / "bad.json")
    with pytest.raises(ConfigError, match="strong is missing"):
        Policy.from_dict({"kind": "route", "format": 1, "fast": "a"})


def test_unknown_names_and_summaries_are_refused() -> None:
    table = from_table(ITEMS, candidate="m", quality="q", item="id")
    with pytest.raises(UsageError, match="no candidate 'x'"):
        Routing(fast="x")(table)
    with pytest.raises(UsageError, match="no feature 'x'"):
        Routing(features=("x",))(table)
    with pytest.raises(UsageError, match="needs items"):
        Routing()(from_table(ITEMS, candidate="m", quality="q"))


def test_public_weak_and_strong_pair_has_a_parsing_fault_in_one_subject(shared: Path) -> None:
    frame = pd.read_csv(shared / "data/routellm_weak_strong_items.csv", comment="#")
    table = from_table(frame, rungs=["weak", "strong"], item=["task", "item"], cluster="task")
    got = Routing(fast="weak", strong="strong")(table)
    faults = [note for note in got.notes if "grader fault" in note]
    assert len(faults) == 1 and "high_school_mathematics" in faults[0] and "strong scores 3 %" in faults[0]
    assert 0.5 < got.areas["router"] < got.areas["oracle"]
    assert json.loads(json.dumps(got.to_dict(), allow_nan=False))["policy"]["fast"] == "weak"
