"""Percentiles and their bounds, decay, stalls, deployments, size, tasks."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from speedqual.analysis import from_table
from speedqual.analysis.degraded import Degraded, newcombe
from speedqual.analysis.params import SpeedBySize
from speedqual.analysis.tails import Tails, failure_inclusive
from speedqual.analysis.tasks import ByTask
from speedqual.errors import UsageError


def run(n: int = 100, **columns: object) -> pd.DataFrame:
    frame = pd.DataFrame({"candidate": "a", "item": np.arange(n).astype(str), "outcome": "ok", "score": 1.0})
    return frame.assign(ttft_ms=np.arange(1, n + 1, dtype=float), **columns)


def test_percentiles_interpolate_and_bounds_need_n() -> None:
    row = Tails()(run(100)).table.iloc[0]
    assert row["p50"] == 50.5 and row["p95"] == pytest.approx(95.05) and row["p99"] == pytest.approx(99.01)
    assert row["p95_hi"] == 100.0 and row["p99_hi"] is None


def test_tail_of_a_rate_is_its_slow_end() -> None:
    row = Tails(metric="decode_tok_s")(run(100, decode_tok_s=np.arange(1, 101, dtype=float))).table.iloc[0]
    assert row["p1"] == pytest.approx(1.99) and row["p5"] == pytest.approx(5.95) and "p95" not in row


def test_failures_are_infinitely_slow_in_the_twin() -> None:
    frame = run(100)
    frame.loc[90:, "outcome"] = "timeout"
    row = Tails()(frame).table.iloc[0]
    assert row["n"] == 90 and row["failed"] == 10
    assert row["p90_with_failures"] == 90.0 and row["p95_with_failures"] is None
    assert failure_inclusive(np.array([]), 0, 0.5) is None


def test_decay_and_stalls() -> None:
    frame = run(100, decay_ratio=[0.8] * 30 + [1.0] * 70, stalls=[1] * 5 + [0] * 95)
    row = Tails()(frame).steadiness.iloc[0]
    assert row["slows"] == 0.3 and row["decay_ratio"] == 1.0 and row["stalled"] == 0.05
    assert json.dumps(Tails()(frame).to_dict(), allow_nan=False)


def test_unknown_metric_is_said() -> None:
    with pytest.raises(UsageError, match="no request has a e2e_ms"):
        Tails(metric="e2e_ms")(run())


def test_newcombe_of_the_paper() -> None:
    # Newcombe 1998, 56/70 against 48/80: 0.0524 to 0.3339
    assert newcombe(48 / 80, 80, 56 / 70, 70) == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_deployments_against_a_reference() -> None:
    board = pd.DataFrame({"m": ["ref", "same", "bad", "dead"], "q": [0.9, 0.89, 0.6, 0.0]})
    got = Degraded(reference="ref")(from_table(board, candidate="m", quality="q", n=1000))
    assert got.table.set_index("candidate")["label"].to_dict() == {
        "same": "same",
        "bad": "degraded",
        "dead": "serving fault",
    }
    few = Degraded()(from_table(board.head(2), candidate="m", quality="q", n=30))
    assert few.table["label"].tolist() == ["cannot tell"]


def test_deployments_on_shared_items_are_paired() -> None:
    rng = np.random.default_rng(0)
    ref = (rng.random(300) < 0.7).astype(float)
    worse = ref * (rng.random(300) < 0.9)
    wide = pd.DataFrame({"id": range(300), "ref": ref, "worse": worse})
    row = Degraded(reference="ref")(from_table(wide, rungs=["ref", "worse"], item="id")).table.iloc[0]
    assert row["label"] == "degraded" and row["difference"] == pytest.approx((worse - ref).mean())


def test_public_deployments_show_the_short_context(shared: Path) -> None:
    frame = pd.read_csv(shared / "data/aider_quant_qwen25coder32b.csv", comment="#")
    got = Degraded()(from_table(frame, candidate="model", quality="pass_rate_2", n="test_cases"))
    assert got.table.loc[got.table["label"] == "degraded", "candidate"].tolist() == ["Ollama: fp16, 2k ctx"]


def test_speed_over_size() -> None:
    board = pd.DataFrame(
        {"m": list("abcd"), "q": [0.5] * 4, "p": [7.0, 7.0, 32.0, 14.0], "t": [100.0, 160.0, 60.0, 50.0]}
    )
    got = SpeedBySize()(from_table(board, candidate="m", quality="q", params_b="p", measures={"speed": "t"}))
    # 14 billion at 50 is slower and smaller than 32 at 60
    assert got.table.set_index("candidate")["on_front"].to_dict() == {"a": False, "b": True, "c": True, "d": False}
    with pytest.raises(UsageError, match="params_b"):
        SpeedBySize()(from_table(board, candidate="m", quality="q", measures={"speed": "t"}))


def test_spread_between_deployments_of_a_model() -> None:
    frame = pd.concat(
        [run(20, decode_tok_s=v, params_b=7.0, model="m").assign(candidate=c) for c, v in (("x", 50.0), ("y", 400.0))]
    )
    got = SpeedBySize()(frame)
    assert got.spread[["model", "deployments", "ratio"]].to_numpy().tolist() == [["m", 2, 8.0]]


def test_tasks_have_a_frontier_each() -> None:
    frame = pd.concat([run(60, e2e_ms=ms).assign(candidate=c) for c, ms in (("x", 50.0), ("y", 400.0))])
    frame["task"] = np.where(frame["item"].astype(int) < 30, "code", "facts")
    frame.loc[(frame["candidate"] == "x") & (frame["task"] == "facts"), "score"] = 0.0
    got = ByTask()(frame)
    assert got.panels["code"].front == ("x",) and got.panels["facts"].front == ("x", "y")
    with pytest.raises(UsageError, match="no column 'colour'"):
        ByTask(by="colour")(frame)
