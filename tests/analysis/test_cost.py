"""Cost by hand arithmetic; an unknown cost is never free."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from speedqual.analysis import from_table
from speedqual.analysis.cost import Cost, replicas_for
from speedqual.errors import UsageError


def run(**columns: object) -> pd.DataFrame:
    base = {
        "candidate": ["a"] * 4, "item": list("1234"), "outcome": ["ok", "ok", "ok", "timeout"], "score": [1.0, 0.5, 1.0, np.nan],
        "cost_usd": [0.01, 0.02, 0.03, 0.04], "e2e_ms": [1000.0, 2000.0, 3000.0, np.nan], "n_out": [10.0, 20.0, 30.0, np.nan],
        "n_reasoning": [0.0, 5.0, 10.0, np.nan], "n_prompt": [100.0] * 4, "n_cached": [50.0] * 4, "attempts": [1, 1, 2, 3],
    }  # fmt: skip
    return pd.DataFrame(base | columns)


def test_cost_per_success_counts_what_failures_cost() -> None:
    row = Cost()(run()).table.iloc[0]
    assert row["successes"] == 2.0  # a partial answer is none
    assert row["cost"] == pytest.approx(0.10) and row["cost_per_success"] == pytest.approx(0.05)
    assert row["cost_per_thousand"] == pytest.approx(25.0)


def test_success_follows_the_sets_own_bar() -> None:
    assert Cost()(run(success_at=[0.5] * 4)).table["successes"][0] == 3.0


def test_tokens_are_split_and_verbosity_is_per_success() -> None:
    row = Cost()(run()).table.iloc[0]
    assert (row["prompt"], row["cached"], row["reasoning"], row["answer"]) == (100.0, 50.0, 5.0, 15.0)
    assert row["tokens_per_success"] == 30.0 and row["attempts"] == 1.75


def test_unknown_cost_stays_unknown_and_is_said() -> None:
    got = Cost()(run(cost_usd=[np.nan] * 4))
    assert got.table["cost_per_success"][0] is None and got.table["cost_from"][0] == "unknown"
    assert (
        any("not free" in note for note in got.notes)
        and got.verdict == "No candidate has both a known cost and a success."
    )


def test_a_few_known_prices_are_not_enough() -> None:
    assert Cost()(run(cost_usd=[0.01, np.nan, np.nan, np.nan])).table["cost_from"][0] == "unknown"


def test_own_hardware_is_charged_by_the_hour() -> None:
    frame = run(cost_usd=[np.nan] * 4, usd_per_hour=[3.6] * 4, e2e_ms=[1000.0, 2000.0, 3000.0, 2000.0])
    row = Cost()(frame).table.iloc[0]
    # 8 s at 3.6 USD an hour = 0.008 USD, two successes
    assert row["cost"] == pytest.approx(0.008) and row["cost_per_success"] == pytest.approx(0.004)
    assert row["cost_from"] == "hours of own hardware"


def test_advertised_against_measured_speed() -> None:
    row = Cost()(run(decode_tok_s=[40.0, 50.0, 60.0, np.nan], claimed_tok_s=[200.0] * 4)).table.iloc[0]
    assert row["speed"] == 50.0 and row["of_claimed"] == 0.25


def test_premium_of_a_faster_tier_of_the_same_model() -> None:
    slow = run(model="m", e2e_ms=[4000.0] * 4, cost_usd=[0.01] * 4)
    fast = run(model="m", e2e_ms=[1000.0] * 4, cost_usd=[0.04] * 4, candidate=["b"] * 4)
    row = Cost()(pd.concat([slow, fast])).premiums.iloc[0]
    assert (row["slower"], row["faster"]) == ("a", "b")
    assert row["seconds_saved"] == pytest.approx(3.0) and row["usd_per_second_saved"] == pytest.approx(0.01)


def test_replicas_for_arrivals() -> None:
    assert replicas_for(1.0, 1.0, 1.0) == 1 and replicas_for(1.01, 1.0, 1.0) == 2
    frame = run(started_ms=[0.0, 1000.0, 2000.0, 3000.0], e2e_ms=[1000.0] * 4, usd_per_hour=[2.0] * 4)
    row = Cost(arrivals_per_s=5.0, utilisation=0.5)(frame).table.iloc[0]
    # four requests in 4 s = 1 a second; 5 / 0.5 = 10 replicas
    assert row["req_s"] == 1.0 and row["replicas"] == 10 and row["usd_per_hour_needed"] == 20.0
    with pytest.raises(UsageError, match="utilisation"):
        Cost(utilisation=0.0)(frame)


def test_interval_of_a_ratio_holds_it_and_has_no_top_without_enough_successes() -> None:
    rng = np.random.default_rng(0)
    items = pd.DataFrame(
        {"m": "a", "id": range(300), "q": (rng.random(300) < 0.5).astype(float), "usd": rng.random(300)}
    )
    row = Cost()(from_table(items, candidate="m", quality="q", item="id", cost="usd")).table.iloc[0]
    assert row["cost_per_success_lo"] < row["cost_per_success"] < row["cost_per_success_hi"]
    rare = items.head(20).assign(q=[1.0] + [0.0] * 19)
    row = Cost()(from_table(rare, candidate="m", quality="q", item="id", cost="usd")).table.iloc[0]
    assert row["cost_per_success_lo"] > 0 and row["cost_per_success_hi"] is None


def test_public_agents(shared: Path) -> None:
    frame = pd.read_csv(shared / "data/swebench_bash_only_items.csv", comment="#")
    got = Cost()(from_table(frame, candidate="model", quality="resolved", item="instance", cost="cost_usd"))
    for row in got.table.to_dict("records"):
        own = frame[frame["model"] == row["candidate"]]
        assert row["cost_per_success"] == pytest.approx(own["cost_usd"].sum() / own["resolved"].sum())
    assert json.dumps(got.to_dict(), allow_nan=False)
