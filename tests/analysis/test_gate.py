"""The gate between two runs, its refusals, its files; the canary and the history."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from speedqual.analysis.canary import Canary
from speedqual.analysis.gate import DEFAULT_MARGINS, Gate, Margin, log_ratio, margins_from
from speedqual.analysis.gate_files import to_junit, to_markdown
from speedqual.analysis.history import History, change_points
from speedqual.analysis.intervals import wilson
from speedqual.analysis.paired import mcnemar_exact, paired_difference
from speedqual.errors import ConfigError, RefusedError, UsageError

QUALITY = (Margin("quality", "mean", 0.05),)


@dataclass
class FakeRun:
    """A run as the gate sees it: a table and a manifest."""

    df: pd.DataFrame
    manifest: dict[str, Any] = field(default_factory=dict)


def run(
    quality: float = 0.8, n: int = 400, slow: float = 1.0, seed: int = 0, name: str = "a", **manifest: Any
) -> FakeRun:
    rng = np.random.default_rng(seed)
    hard = rng.permutation(n) / n
    df = pd.DataFrame(
        {
            "candidate": name, "item": np.arange(n).astype(str), "outcome": "ok", "score": (hard < quality).astype(float),
            "ttft_ms": 100 * slow * rng.lognormal(0, 0.1, n), "e2e_ms": 900 * slow * rng.lognormal(0, 0.1, n),
            "decode_tok_s": 50 / slow * rng.lognormal(0, 0.1, n),
        }
    )  # fmt: skip
    base = {
        "evalsets": [{"name": "e", "hash": "h1", "grader": "exact"}],
        "candidates": [
            {"name": name, "model": "m", "params": {"temperature": 0}, "shots": 2, "system": None, "cache": None}
        ],
        "machine": {"system": "Linux", "architecture": "x86_64", "cpu": "c", "usable_cores": 2},
    }
    return FakeRun(df, base | manifest)


def test_the_same_run_passes_every_check() -> None:
    got = Gate()(run(), run())
    assert got.outcome == "pass" and got.exit_code == 0 and len(got.table) == len(DEFAULT_MARGINS)


def test_a_real_loss_fails_and_a_doubtful_one_is_inconclusive_with_the_n_needed() -> None:
    assert Gate(QUALITY)(run(0.8), run(0.6)).exit_code == 1
    got = Gate(QUALITY)(run(0.8, n=60, seed=1), run(0.8, n=60, seed=2))
    assert got.exit_code == 5 and got.table["n_needed"][0] > 60


def test_n_needed_by_hand() -> None:
    got = Gate(QUALITY)(run(0.8, n=60, seed=1), run(0.8, n=60, seed=2))
    difference = paired_difference(run(0.8, n=60, seed=1).df["score"], run(0.8, n=60, seed=2).df["score"])
    sd = difference.se * math.sqrt(60)
    assert got.table["n_needed"][0] == math.ceil(((1.644854 + 0.841621) * sd / 0.05) ** 2)


def test_slower_fails_on_the_ratio_and_faster_passes() -> None:
    slower = Gate()(run(), run(slow=1.5, seed=3)).table.set_index("check")["result"]
    assert slower["ttft_ms p50"] == "fail" and slower["decode_tok_s p50"] == "fail" and slower["e2e_ms p95"] == "fail"
    faster = Gate()(run(), run(slow=0.7, seed=0)).table.set_index("check")["result"]
    assert set(faster) == {"pass"}


def test_ratio_of_medians_and_its_bounds() -> None:
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(300):
        a, b = rng.lognormal(0, 0.5, 80), 1.3 * rng.lognormal(0, 0.5, 80)
        change, lo, hi = log_ratio(a, b, 0.5, 0.95)
        assert lo < change < hi
        covered += lo <= math.log(1.3) <= hi
    assert covered / 300 >= 0.90  # 95 % each side


def test_p95_with_too_few_replies_is_inconclusive() -> None:
    got = Gate((Margin("e2e_ms", "p95", 1.25),))(run(n=40), run(n=40))
    assert got.outcome == "inconclusive" and got.table["n_needed"][0] == 72


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"evalsets": [{"name": "e", "hash": "h2", "grader": "exact"}]}, "content of eval set e"),
        ({"evalsets": [{"name": "f", "hash": "h1", "grader": "exact"}]}, r"eval sets \(e / f\)"),
        ({"evalsets": [{"name": "e", "hash": "h1", "grader": "facts"}]}, r"grader of e \(exact / facts\)"),
        ({"candidates": [{"name": "a", "params": {"temperature": 1}, "shots": 2}]}, r"params of a \(temperature\)"),
        ({"candidates": [{"name": "a", "params": {"temperature": 0}, "shots": 0}]}, r"prompt settings of a \(shots\)"),
        (
            {"machine": {"system": "Linux", "architecture": "x86_64", "cpu": "other", "usable_cores": 2}},
            "cpu: c / other",
        ),
    ],
)
def test_refusal_names_what_differs(change: dict[str, Any], words: str) -> None:
    with pytest.raises(RefusedError, match=words) as caught:
        Gate()(run(), run(**change))
    assert caught.value.exit_code == 2


def test_an_accepted_difference_is_noted_and_the_model_may_change() -> None:
    other = {"system": "Linux", "architecture": "arm64", "cpu": "d", "usable_cores": 8}
    got = Gate(allow=("machine",))(run(), run(machine=other))
    assert "accepted difference: the machine" in got.notes[0]
    swapped = run(name="b")
    swapped.manifest["candidates"][0]["model"] = "newer"
    assert Gate()(run(), swapped).table["candidate"][0] == "a → b"


def test_no_common_candidate_is_refused() -> None:
    two = FakeRun(pd.concat([run(name="x").df, run(name="y").df]))
    with pytest.raises(RefusedError, match="no candidate is in both"):
        Gate()(FakeRun(run().df), two)


def test_margins_from_toml_and_their_errors() -> None:
    assert margins_from({"quality": 0.02, "ttft_ms": {"p50": 1.1, "p95": 1.2}})[1:] == (
        Margin("ttft_ms", "p50", 1.1),
        Margin("ttft_ms", "p95", 1.2),
    )
    for table, words in (
        ({}, "no margin"),
        ({"quality": "a"}, "no margin"),
        ({"e2e_ms": 1.2}, "needs p50"),
        ({"e2e_ms": {"p42": 1}}, "p42"),
    ):
        with pytest.raises(ConfigError, match=words):
            margins_from(table)


def test_markdown_and_junit_hold_hostile_names() -> None:
    got = Gate()(run(name="a|<b>\n\x01"), run(0.5, name="a|<b>\n\x01"))
    text = to_markdown(got)
    assert "❌ fail" in text and "<b>" not in text and r"a\|&lt;b&gt;" in text
    tree = ElementTree.fromstring(to_junit(got).split("\n", 1)[1])
    assert tree.get("failures") == "1" and int(tree.get("tests")) == len(DEFAULT_MARGINS)
    assert json.dumps(got.to_dict(), allow_nan=False)


def test_mcnemar_by_hand() -> None:
    # 2 against 8: 2·P(X ≤ 2 | 10, ½) = 2·(1 + 10 + 45)/1024
    assert mcnemar_exact(2, 8) == pytest.approx(2 * 56 / 1024)
    assert mcnemar_exact(0, 0) == 1.0


def test_the_interval_of_a_difference_of_scores_ends_at_one() -> None:
    fell = paired_difference([1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0])  # −0.75 ± 3.18 · 0.25
    assert (fell.value, fell.lo) == (-0.75, -1.0) and fell.hi == pytest.approx(0.0456, abs=1e-3)
    seconds = paired_difference([1.0, 1.0, 1.0, 2.0], [0.0, 0.0, 0.0, 2.0])
    assert seconds.lo == pytest.approx(-1.5456, abs=1e-3)  # no scores: nothing ends anywhere


def test_paired_difference_of_equal_answers_claims_no_certainty() -> None:
    got = paired_difference([1.0] * 50, [1.0] * 50)
    assert got.value == 0 and got.lo < 0 < got.hi and got.p == 1.0


def test_canary_peeks_at_every_item_with_few_false_alarms_and_sees_a_loss() -> None:
    rng = np.random.default_rng(0)
    score = lambda p, n=300: (rng.random(n) < p).astype(float)  # noqa: E731
    false = np.mean([Canary()(score(0.8), score(0.8)).alarm_at is not None for _ in range(600)])
    assert wilson(false * 600, 600).lo <= 0.05
    seen = [Canary()(score(0.8), score(0.5)).alarm_at for _ in range(100)]
    assert np.mean([s is not None for s in seen]) >= 0.98


def test_canary_with_a_margin_forgives_a_loss_inside_it() -> None:
    rng = np.random.default_rng(1)
    base, new = (rng.random(2000) < 0.8).astype(float), (rng.random(2000) < 0.78).astype(float)
    assert Canary(margin=0.05)(base, new).alarm_at is None
    with pytest.raises(UsageError, match="as many"):
        Canary()([1.0], [])
    with pytest.raises(UsageError, match="outside 0 to 1"):
        Canary()([2.0], [0.0])
    assert Canary()([], []).alarm_at is None


def test_history_finds_the_change_and_a_slow_drift() -> None:
    jump = [run(seed=100 + s, slow=1.0 if s < 5 else 1.3).df for s in range(9)]
    got = History(metrics=("e2e_ms",))(jump, [f"r{i}" for i in range(9)])
    assert got.trends["changes"].tolist() == [["r5"]] and "changes at r5" in got.verdict
    drift = [run(quality=0.9 - 0.012 * s, seed=s, n=400).df for s in range(12)]
    trend = History(metrics=("quality",))(drift).trends.iloc[0]
    assert trend["drifts"] and trend["slope"] == pytest.approx(-0.012, abs=0.002)
    calm = History(metrics=("quality", "e2e_ms"))([run(seed=s).df for s in range(8)])
    assert calm.verdict.startswith("No change and no drift")
    with pytest.raises(UsageError, match="three runs"):
        History()(jump[:2])


@pytest.mark.parametrize("n", [5, 20])
def test_change_points_of_noise_are_rare(n: int) -> None:
    rng = np.random.default_rng(n)
    false = sum(bool(change_points(rng.normal(size=n), np.ones(n))) for _ in range(400))
    assert wilson(false, 400).lo <= 0.05
