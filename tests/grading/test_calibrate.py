"""Agreement with people: threshold from even rows, scored on odd ones; corrected rates by hand arithmetic."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from speedqual.grading.calibrate import Calibration, calibrate, corrected_rate, support_signal


def test_threshold_from_even_rows_scores_on_odd_rows() -> None:
    scores = [0.9, 0.8, 0.2, 0.7, 0.8, 0.3, 0.1, 0.1]
    labels = [True, True, False, False, True, True, False, False]
    got = calibrate(scores, labels)  # even: 0.9 T, 0.2 F, 0.8 T, 0.1 F -> 0.8; odd: 0.8 T, 0.7 F, 0.3 T, 0.1 F
    assert got == Calibration(threshold=0.8, sensitivity=0.5, specificity=1.0, n_true=2, n_false=2)
    assert got.balanced_accuracy == 0.75
    low, high = got.interval
    assert 0 <= low < 0.75 < high <= 1


def test_a_half_without_a_class_gives_nothing() -> None:
    assert calibrate([0.1, 0.2, 0.3], [True, True, True]) is None
    assert calibrate([], []) is None


def test_the_corrected_rate() -> None:
    instrument = Calibration(threshold=0.5, sensitivity=0.8, specificity=0.9, n_true=50, n_false=50)
    assert corrected_rate(0.45, instrument) == pytest.approx(0.5)  # 0.45 = 0.8 * 0.5 + 0.1 * 0.5
    assert corrected_rate(0.0, instrument) == 0.0
    assert corrected_rate(1.0, instrument) == 1.0
    assert corrected_rate(0.5, Calibration(0.5, 0.5, 0.5, 9, 9)) is None


def test_the_signal_falls_with_what_the_evidence_lacks() -> None:
    evidence = ["Acme was founded in 1998 in Lyon by Ana Ruiz.", "It sold 1,200 machines in 2023."]
    full = support_signal("In Lyon, Ana Ruiz founded Acme in 1998.", evidence)
    number = support_signal("In Lyon, Ana Ruiz founded Acme in 1989.", evidence)
    name = support_signal("In Paris, Luis Ruiz founded Acme in 1998.", evidence)
    assert full == 1.0
    assert name < 1.0
    assert number < 1.0
    assert support_signal("Bananas are yellow", evidence) < min(name, number)
    assert support_signal("Acme", []) == pytest.approx(1 / 3)  # no numbers to miss


def test_rule_based_signals_against_human_labels() -> None:
    """WiCE, claim level: supported against the rest."""
    table = Path(__file__).parents[3] / "shared/data/wice-dev/wice-dev.jsonl"
    if not table.exists():
        pytest.skip("../shared is absent")
    rows = [json.loads(line) for line in table.read_text(encoding="utf-8").splitlines()]
    got = calibrate(
        [support_signal(r["claim"], r["evidence"]) for r in rows], [r["label"] == "supported" for r in rows]
    )
    assert got is not None
    print(f"balanced accuracy {got.balanced_accuracy:.3f}, 95 % {got.interval[0]:.3f} to {got.interval[1]:.3f}")
    assert len(rows) == 349
    assert got.balanced_accuracy >= 0.73
