"""The cliff rule on ladders whose answer is known."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from speedqual.analysis import Cliffs, from_table
from speedqual.analysis.cliffs import judge_ladder
from speedqual.analysis.jumps import measure_steps, trend_contrast
from speedqual.analysis.ladders import Ladder, ladder_from_groups, ladder_from_items, ladder_from_means
from speedqual.analysis.rungs import coordinates, order_of

RULE = Cliffs()
SIX = tuple("abcdef")


def paired(means: list[float], n: int = 200, seed: int = 0, spread: float = 3.0) -> Ladder:
    """Items with a common difficulty; the share of right answers on each rung is exact."""
    rng = np.random.default_rng(seed)
    hard = rng.standard_normal(n)
    columns = []
    for mean in means:
        ease = -hard * spread + rng.logistic(size=n)
        columns.append((ease >= np.quantile(ease, 1 - mean)).astype(float) if mean < 1 else np.ones(n))
    return ladder_from_items(np.column_stack(columns), SIX[: len(means)], tuple(map(float, range(len(means)))))


def test_a_drop_in_the_middle_of_a_flat_ladder_is_a_cliff_at_its_step() -> None:
    got = judge_ladder(paired([0.85, 0.85, 0.85, 0.55, 0.55, 0.55]), RULE)
    assert (got.label, got.step) == ("cliff", 3)
    assert got.steps.drop[2] == pytest.approx(0.30) and got.steps.drop_lo[2] < 0.30 < got.steps.drop_hi[2]


@pytest.mark.parametrize(
    "means",
    [
        [0.8] * 6,
        [0.95, 0.81, 0.67, 0.53, 0.39, 0.25],
        [0.95, 0.93, 0.88, 0.78, 0.62, 0.40],
        [0.95, 0.70, 0.52, 0.40, 0.32, 0.27],
        [0.85, 0.76, 0.62, 0.42, 0.28, 0.17],
    ],
    ids=["flat", "linear", "accelerating", "decelerating", "sigmoid"],
)
def test_smooth_ladders_are_no_cliffs_however_steep(means: list[float]) -> None:
    assert judge_ladder(paired(means), RULE).label in ("none", "steep", "suspected edge")
    assert judge_ladder(ladder_from_means(means, 400, SIX), RULE).label != "cliff"


@pytest.mark.parametrize("make", ["items", "groups", "means"])
def test_all_right_then_all_wrong_is_a_cliff_and_not_nan(make: str) -> None:
    flat = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    if make == "items":
        ladder = ladder_from_items(np.repeat([flat], 30, axis=0), SIX)
    elif make == "groups":
        ladder = ladder_from_groups([np.full(30, v) for v in flat], SIX)
    else:
        ladder = ladder_from_means(flat, 30, SIX)
    got = judge_ladder(ladder, RULE)
    assert (got.label, got.step) == ("cliff", 3)
    for name in ("drop", "drop_lo", "p_drop", "p_jump", "p_logit", "jump", "logit"):
        assert np.isfinite(getattr(got.steps, name)).all(), name


def test_two_rungs_or_few_items_are_never_a_cliff() -> None:
    assert judge_ladder(ladder_from_means([1.0, 0.0], 500, ("a", "b")), RULE).label == "steep"
    few = judge_ladder(ladder_from_items(np.repeat([[1, 1, 1, 0, 0, 0]], 19, axis=0), SIX), RULE)
    assert few.label == "steep" and "n = 19" in few.why


def test_an_edge_of_fewer_than_five_rungs_is_at_most_suspected() -> None:
    got = judge_ladder(ladder_from_means([0.9, 0.9, 0.9, 0.3], 500, SIX[:4]), RULE)
    assert (got.label, got.step) == ("suspected edge", 3)
    assert judge_ladder(ladder_from_means([0.9, 0.9, 0.3, 0.3], 500, SIX[:4]), RULE).label == "cliff"


def test_an_edge_of_six_rungs_can_be_a_cliff_and_needs_the_quadratic_too() -> None:
    assert judge_ladder(ladder_from_means([0.85] * 5 + [0.45], 500, SIX), RULE).label == "cliff"
    accelerating = judge_ladder(ladder_from_means([0.97, 0.96, 0.94, 0.90, 0.83, 0.65], 500, SIX), RULE)
    assert accelerating.label in ("suspected edge", "steep")


def test_small_n_cannot_tell_and_large_n_says_none() -> None:
    assert judge_ladder(ladder_from_means([0.8] * 6, 25, SIX), RULE).label == "cannot tell"
    assert judge_ladder(ladder_from_means([0.8] * 6, 500, SIX), RULE).label == "none"
    assert judge_ladder(ladder_from_means([0.8] * 6, None, SIX), RULE).label == "cannot tell"


def test_a_rung_worse_than_the_harder_one_is_a_rung_fault() -> None:
    got = judge_ladder(ladder_from_means([0.9, 0.88, 0.4, 0.86, 0.85, 0.84], 300, SIX), RULE)
    assert got.label == "rung fault" and got.why.startswith("c is 46 points worse than the harder d")


def test_jump_over_a_line_is_the_regression_coefficient() -> None:
    x = (0.0, 1.0, 2.0, 3.0, 5.0, 6.0)
    means = np.array([0.9, 0.85, 0.8, 0.5, 0.45, 0.3])
    for step in range(5):
        down = -(np.arange(6) > step).astype(float)
        design = np.column_stack([np.ones(6), x, down])
        coefficient = np.linalg.lstsq(design, means, rcond=None)[0][2]
        assert np.dot(trend_contrast(x, step), means) == pytest.approx(coefficient)


def test_a_contrast_over_a_quadratic_is_blind_to_any_quadratic() -> None:
    x = tuple(map(float, range(6)))
    curve = 0.9 - 0.01 * np.array(x) - 0.02 * np.array(x) ** 2
    row = np.array(trend_contrast(x, 4, 2, 6))
    assert row @ curve == pytest.approx(0.0, abs=1e-9)
    assert row @ (curve - 0.2 * (np.array(x) > 4)) == pytest.approx(0.2)


def test_drop_error_of_paired_items_by_hand() -> None:
    # d = 1 for 30 of 100 items, −1 for 10, 0 for 60: mean 0.2, variance 0.4 − 0.04 = 0.36 → SE² = 0.36/99
    a = np.r_[np.ones(30), np.zeros(10), np.ones(60)]
    b = np.r_[np.zeros(30), np.ones(10), np.ones(60)]
    ladder = ladder_from_items(np.column_stack([a, b, b]), ("x", "y", "z"))
    steps = measure_steps(ladder)
    t = 0.2 / np.sqrt(0.36 / 99)
    assert steps.drop[0] == pytest.approx(0.2)
    assert steps.p_drop[0] == pytest.approx(2 * stats.t.sf(t, 99), rel=1e-6)  # Holm over two steps


def test_clusters_widen_the_error() -> None:
    rng = np.random.default_rng(2)
    y = np.repeat((rng.random((40, 3)) < [0.9, 0.7, 0.5]).astype(float), 10, axis=0)
    alone = measure_steps(ladder_from_items(y, ("a", "b", "c")))
    grouped = measure_steps(ladder_from_items(y, ("a", "b", "c"), clusters=np.repeat(np.arange(40), 10)))
    assert grouped.drop_hi[0] - grouped.drop_lo[0] > 2.5 * (alone.drop_hi[0] - alone.drop_lo[0])


def test_items_that_a_rung_lacks_are_left_out_and_counted() -> None:
    y = np.ones((50, 3))
    y[:7, 1] = np.nan
    ladder = ladder_from_items(y, ("a", "b", "c"))
    assert ladder.items_lost == 7 and ladder.n.tolist() == [43.0] * 3


def test_coordinates_are_known_or_ranks() -> None:
    assert coordinates(["4k", "8k", "32k"]) == ([12.0, 13.0, 15.0], "log2")
    assert coordinates(["fp16", "q8_0", "q4_K_M"])[1] == "bits"
    assert coordinates(["gold", "silver", "bronze"]) == ([0.0, 1.0, 2.0], "rank")
    assert coordinates(["Q4_K_M", "IQ4_XS", "q2_K"])[1] == "rank"  # two of four bits have no width between them
    assert coordinates(["a", "b"], [0.5, 2.0]) == ([0.5, 2.0], "x")
    assert order_of(["128k", "4k"]) == [1, 0] and order_of(["困难", "简单", "中等"]) == [1, 2, 0]


def run_of_ladder(scores: dict[str, float], n: int = 120, **columns: object) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    frames = [
        pd.DataFrame(
            {
                "candidate": name, "ladder": "tiers", "rung": name, "x": float(k), "item": np.arange(n).astype(str),
                "evalset": "e", "phase": "main", "outcome": "ok", "failure": "none", "stop": "stop",
                "score": (rng.random(n) < mean).astype(float), "answer_chars": 50, "n_out": 100.0,
            }
        )
        for k, (name, mean) in enumerate(scores.items())
    ]  # fmt: skip
    return pd.concat(frames, ignore_index=True).assign(**columns)


FALLING = {"r1": 0.9, "r2": 0.9, "r3": 0.9, "r4": 0.4, "r5": 0.4, "r6": 0.4}


def test_a_run_is_judged_by_its_ladder_column() -> None:
    got = Cliffs()(run_of_ladder(FALLING))
    assert got.ladders["label"].tolist() == ["cliff"] and got.ladders["from"].tolist() == ["r3"]
    data = json.loads(json.dumps(got.to_dict(), allow_nan=False))
    assert data["ladders"][0]["label"] == "cliff" and data["ladders"][0]["step"] == 3
    assert len(data["ladders"][0]["rungs"]) == 6 and len(data["ladders"][0]["steps"]) == 5


@pytest.mark.parametrize(
    ("column", "value", "label"),
    [
        ("failure", "truncated", "serving fault"),
        ("failure", "refused", "serving fault"),
        ("failure", "wrong_format", "grader fault"),
        ("failure", "grader_error", "grader fault"),
        ("answer_chars", 0, "serving fault"),
        ("stop", "length", "serving fault"),
    ],
)
def test_a_fault_that_explains_the_drop_takes_its_name(column: str, value: object, label: str) -> None:
    frame = run_of_ladder(FALLING)
    late = frame["candidate"].isin(["r4", "r5", "r6"]) & (frame["score"] == 0)
    frame.loc[late, column] = value
    got = Cliffs()(frame)
    assert got.ladders["label"].tolist() == [label], got.ladders["why"].tolist()


def test_a_broken_endpoint_and_odd_token_counts_are_serving_faults() -> None:
    frame = run_of_ladder(FALLING)
    late = frame["candidate"].isin(["r4", "r5", "r6"])
    some = late & (frame["item"].astype(int) % 3 == 0)
    failing = frame.copy()
    failing.loc[some, ["outcome", "score"]] = ["timeout", np.nan]
    assert Cliffs()(failing).ladders["label"].tolist() == ["serving fault"]
    frame.loc[late, "n_out"] = 5.0
    assert Cliffs()(frame).ladders["label"].tolist() == ["serving fault"]


def test_endpoint_failures_are_not_wrong_answers() -> None:
    frame = run_of_ladder(dict.fromkeys(FALLING, 1.0))
    frame.loc[(frame["candidate"] == "r4") & (frame["item"].astype(int) < 12), ["outcome", "score"]] = [
        "timeout",
        np.nan,
    ]
    got = Cliffs()(frame)
    assert got.ladders["label"].tolist() == ["none"] and any("12 items" in note for note in got.notes)


def test_difficulty_is_a_ladder_inside_a_candidate() -> None:
    rng = np.random.default_rng(0)
    tiers = np.repeat(["hard", "easy", "medium"], 100)
    mean = {"easy": 0.9, "medium": 0.85, "hard": 0.3}
    frame = pd.DataFrame(
        {
            "candidate": "m", "item": np.arange(300).astype(str), "difficulty": tiers, "outcome": "ok",
            "score": [float(rng.random() < mean[t]) for t in tiers],
        }
    )  # fmt: skip
    got = Cliffs()(frame)
    assert got.ladders[["from", "to"]].to_numpy().tolist() == [["medium", "hard"]]
    assert not got.ladders["paired"][0] and got.ladders["label"][0] in ("suspected edge", "steep")


def test_holm_over_ladders_takes_back_a_weak_cliff() -> None:
    strong = [0.9, 0.9, 0.9, 0.4, 0.4, 0.4]
    weak = [0.85, 0.85, 0.85, 0.685, 0.685, 0.685]
    alone = judge_ladder(ladder_from_means(weak, 200, SIX), RULE)
    assert alone.label == "cliff" and 0.001 < alone.p < 0.05
    rows = [{"m": f"m{i}", **dict(zip(SIX, [0.8] * 6, strict=True))} for i in range(60)]
    rows += [{"m": "strong", **dict(zip(SIX, strong, strict=True))}, {"m": "weak", **dict(zip(SIX, weak, strict=True))}]
    got = Cliffs()(from_table(pd.DataFrame(rows), candidate="m", rungs=SIX, n=200))
    labels = got.ladders.set_index("ladder")["label"]
    assert labels["strong"] == "cliff" and labels["weak"] == "steep"


def test_a_ladder_takes_less_than_fifty_milliseconds() -> None:
    ladder = paired([0.85, 0.85, 0.85, 0.6, 0.6, 0.6], n=1000)
    judge_ladder(ladder, RULE)
    start = time.process_time()
    for _ in range(5):
        judge_ladder(ladder, RULE)
    assert (time.process_time() - start) / 5 < 0.05


def test_public_length_ladders_cannot_be_told_without_n(shared: Path) -> None:
    frame = pd.read_csv(shared / "data/ruler_length_ladders.csv", comment="#")
    rungs = ["L4k", "L8k", "L16k", "L32k", "L64k", "L128k"]
    got = Cliffs()(from_table(frame, candidate="model", rungs=rungs))
    assert len(got.ladders) == 44 and set(got.ladders["label"]) == {"cannot tell"}
    told = Cliffs()(from_table(frame, candidate="model", rungs=rungs, n=500)).ladders.set_index("ladder")
    assert told.loc["Qwen1.5 72B", "label"] == "cliff" and told.loc["Qwen1.5 72B", "to"] == "L64k"
    assert told.loc["Gemini-1.5-pro", "label"] == "none"


def test_public_quantisations_that_are_not_monotone_are_a_rung_fault(shared: Path) -> None:
    frame = pd.read_csv(shared / "data/can_ai_code_quant_items.csv", comment="#")
    frame = frame[frame["family"] == "codellama"]
    got = Cliffs()(
        from_table(
            frame,
            candidate="model",
            ladder="family",
            quality="checks_passed/checks_total",
            item=["suite", "item", "language"],
        )
    )
    assert got.ladders["label"].tolist() == ["rung fault"] and "3.0bpw" in got.ladders["why"][0]


def test_public_endpoint_with_score_zero_is_a_serving_fault(shared: Path) -> None:
    frame = pd.read_csv(shared / "data/inferencex_evals.csv", comment="#")
    frame["place"] = frame["model"] + " " + frame["hw"]
    got = Cliffs()(from_table(frame, candidate="hw", ladder="place", rung="conc", quality="score", n="n_eff"))
    labels = got.ladders.set_index("ladder")["label"]
    assert labels["openai/gpt-oss-120b B200-TRT"] == "serving fault" and (labels == "cliff").sum() == 0


def test_public_difficulty_tiers_are_steep_and_no_cliffs(shared: Path) -> None:
    frame = pd.read_csv(shared / "data/lcb_repair_item_matrix.csv", comment="#")
    got = Cliffs()(from_table(frame, rungs=list(frame.columns[3:]), rung="difficulty", item="question_id"))
    assert len(got.ladders) == frame.shape[1] - 3 and set(got.ladders["label"]) == {"steep"}
