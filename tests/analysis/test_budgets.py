"""Interaction budgets: per request, undetermined ones in the denominator."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from speedqual.analysis.budgets import PRESETS, AgentLoop, Budget, Budgets, agent_loop
from speedqual.errors import UsageError


def run(n: int, **columns: object) -> pd.DataFrame:
    frame = pd.DataFrame({"candidate": "a", "item": np.arange(n).astype(str), "outcome": "ok", "score": 1.0})
    return frame.assign(
        ttfa_ms=300.0, ttft_ms=300.0, e2e_user_ms=900.0, decode_char_s=30.0, decode_tok_s=40.0, **columns
    )


def judge(frame: pd.DataFrame, budget: Budget) -> dict[str, object]:
    return Budgets((budget,), loop=None)(frame).table.iloc[0].to_dict()


def test_every_limit_must_be_met_by_the_same_request() -> None:
    frame = run(100)
    frame.loc[:9, "ttfa_ms"] = 800.0
    frame.loc[10:14, "decode_char_s"] = 5.0
    row = judge(frame, Budget("chat", first_ms=500, char_s=20, share=0.8))
    assert row["met"] == 0.85


def test_failures_and_undetermined_replies_are_not_met_and_counted() -> None:
    frame = run(100)
    frame.loc[:4, "decode_char_s"] = np.nan
    frame.loc[5:9, "outcome"] = "timeout"
    row = judge(frame, Budget("chat", char_s=20))
    assert row["met"] == 0.9 and row["undetermined"] == 5


@pytest.mark.parametrize(("bad", "verdict"), [(0, "passes"), (4, "cannot tell"), (20, "fails")])
def test_three_answers(bad: int, verdict: str) -> None:
    frame = run(100)
    frame.loc[: bad - 1, "ttfa_ms"] = 9999.0
    assert judge(frame, Budget("x", first_ms=500, share=0.95))["verdict"] == verdict


def test_what_cannot_be_measured_does_not_fail_a_candidate_by_itself() -> None:
    row = judge(run(100).drop(columns="decode_char_s"), Budget("chat", char_s=20))
    assert row["met"] == 0.0 and row["undetermined"] == 100 and row["verdict"] == "cannot tell"


def test_repeats_are_no_extra_n() -> None:
    frame = pd.concat([run(30)] * 10)
    row = judge(frame, Budget("x", first_ms=500, share=0.95))
    assert row["n"] == 30 and row["verdict"] == "cannot tell"


def test_the_essays_agent_loop() -> None:
    # twenty rounds of 2,000 tokens: 13 minutes at 50 tokens/s and 40 seconds at 1,000
    assert agent_loop(AgentLoop(), 0.0, 50.0)["total_s"] == pytest.approx(800.0)
    assert agent_loop(AgentLoop(), 0.0, 1000.0)["total_s"] == pytest.approx(40.0)


def test_amdahl_split_of_a_loop() -> None:
    got = agent_loop(AgentLoop(rounds=10, tokens=100, tool_ms=2000), ttft_ms=500.0, tok_s=50.0)
    assert got == {
        "total_s": 45.0,
        "first_token_s": 5.0,
        "decode_s": 20.0,
        "tool_s": 20.0,
        "decode_share": pytest.approx(20 / 45),
        "limit_s": 25.0,
    }


def test_presets_all_have_a_source_and_are_judged() -> None:
    assert {b.name for b in PRESETS} >= {"voice", "code completion", "chat, English", "chat, Chinese", "batch"}
    assert all(b.source for b in PRESETS)
    got = Budgets()(run(100))
    assert len(got.table) == len(PRESETS) and got.loops["total_s"][0] == pytest.approx(20 * (0.3 + 2000 / 40))
    assert json.dumps(got.to_dict(), allow_nan=False)


def test_nonsense_is_refused() -> None:
    with pytest.raises(UsageError, match="at least one round"):
        AgentLoop(rounds=0)
