"""Odd but honest load tests: nothing breaks, nothing warns, no NaN leaves, and what cannot be said is said so."""

from __future__ import annotations

import doctest
import json
import pkgutil
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import pytest
from load_results import climb, cold_starts, everything, long_inputs, prefixes
from loadruns import Made, attempt, closed_loop, entry, record

import speedqual.analysis.load
import speedqual.plots.load
from speedqual.analysis import (
    ColdStarts,
    Knee,
    LatencyByLoad,
    Lengths,
    Levels,
    LoadErrors,
    Prefix,
    QualityUnderLoad,
    RunTimeline,
    Saturation,
)
from speedqual.analysis.faults import suspicious_groups
from speedqual.analysis.load.levels import little
from speedqual.analysis.tidy import tidy
from speedqual.errors import UsageError

PROMISE = ("ttft_ms < 400 @ 95%",)
EVERY: dict[str, Callable[[Any], Any]] = {
    "levels": Levels(),
    "knee": Knee(PROMISE),
    "saturation": Saturation(),
    "latency": LatencyByLoad(),
    "quality": QualityUnderLoad(),
    "errors": LoadErrors(),
    "timeline": RunTimeline(),
    "lengths": Lengths(),
    "prefix": Prefix(),
    "cold": ColdStarts(),
}


def failing(n: int = 5) -> list[Any]:
    return [
        record("8 users", 8, i, attempt(100 * i, outcome="timeout", deadline="total", took_ms=50)) for i in range(n)
    ]


def never_sent() -> list[Any]:
    """No connection was had at all: no stamp of a send, no event."""
    one = attempt(0, outcome="unreachable")
    from dataclasses import replace

    gone = replace(one, timeline=replace(one.timeline, t_send=None, t_close=None))
    return [record("8 users", 8, i, gone) for i in range(3)]


EMPTY = entry("16 users", 16, 90_000.0, 95_000.0, n_sent=0, ended="breaker", why="20 requests in a row failed")
RUNS: dict[str, Made] = {
    "one request": Made([record("1 user", 1, 0, attempt(0), score=1.0)], [entry("1 user", 1, 0.0, 10.0)]),
    "all failed": Made(failing(), [entry("8 users", 8, 0.0, 500.0)]),
    "never sent": Made(never_sent(), [entry("8 users", 8, 0.0, 500.0)]),
    "an empty level": Made(closed_loop(1, 5), [entry("1 users", 1, 0.0, 950.0), EMPTY]),
    "only an empty level": Made([], [EMPTY]),
    "a window of no length": Made(closed_loop(1, 5), [entry("1 users", 1, 0.0, 950.0, warmup_s=0.5, cooldown_s=0.5)]),
    "no usage": Made([record("2 users", 2, n, attempt(100 * n, tokens=1), score=0.0) for n in range(4)]),
    "every level limited": climb(limited=(1, 2, 4, 8, 16)),
    "an x of zero": Made([record("burst", 0, n, attempt(100 * n), score=1.0) for n in range(25)]),
    "killed": Made(
        closed_loop(2, 5), [entry("2 users", 2, 0.0, 0.0, ended="interrupted") | {"end_ms": None, "n_sent": None}]
    ),
    "no tokens counted": Made([record("2 users", 2, n, attempt(100 * n, outcome="empty")) for n in range(4)]),
    "one pair": Made(list(prefixes())[:2]),
    "one length": Made(list(long_inputs())[:3]),
    "one pause": Made(list(cold_starts())[:1]),
}


@pytest.mark.parametrize("analysis", EVERY)
@pytest.mark.parametrize("name", RUNS)
def test_nothing_breaks(name: str, analysis: str) -> None:
    try:
        result = EVERY[analysis](RUNS[name])
    except UsageError as refused:
        assert str(refused)
        return
    json.dumps(result.to_dict(), allow_nan=False)
    assert "nan" not in result.verdict and "None" not in result.verdict and result.verdict.endswith(".")


@pytest.mark.parametrize("name", ["all failed", "an empty level", "every level limited", "a window of no length"])
def test_what_is_odd_is_drawn_too(name: str) -> None:
    for analysis in ("levels", "knee", "saturation", "latency", "errors"):
        try:
            result = EVERY[analysis](RUNS[name])
        except UsageError:
            continue
        assert result.plot().alt_text


def test_all_failed_is_a_goodput_of_nothing() -> None:
    row = Knee(PROMISE)(RUNS["all failed"]).levels.iloc[0]
    assert row["goodput"] == 0.0 and row["bad"] == 5 and row["state"] == "fails"  # 0.05^5 = 3e-7


def test_what_was_never_sent_is_bad_too() -> None:
    row = Knee(PROMISE)(RUNS["never sent"]).levels.iloc[0]
    assert row["n"] == 3 and row["bad"] == 3


def test_an_empty_level_is_open_with_its_reason() -> None:
    levels = Knee(PROMISE)(RUNS["an empty level"]).levels.set_index("level")
    assert levels.loc["16 users", "state"] == "open" and levels.loc["16 users", "n"] == 0
    assert levels.loc["16 users", "why"] == "20 requests in a row failed"
    assert LoadErrors()(RUNS["an empty level"]).notes[0].endswith("breaker (20 requests in a row failed)")


def test_a_level_without_any_time_left_says_so() -> None:
    result = Levels()(RUNS["a window of no length"])
    assert result.table["n"].iloc[0] == 0 and any("no time is left" in note for note in result.notes)


def test_nothing_in_flight_has_no_law() -> None:
    found = little(np.zeros(0), np.zeros(0), [(0.0, 1e9)])
    assert found == {
        "in_flight": 0.0,
        "arrivals_s": 0.0,
        "in_system_s": None,
        "little": None,
        "growth": 0,
        "growth_late": 0,
    }


def test_what_is_no_load_test_is_refused() -> None:
    with pytest.raises(UsageError, match="lacks the columns layer"):
        Levels()(pd.DataFrame({"candidate": ["a"], "outcome": ["ok"]}))
    with pytest.raises(UsageError, match="cannot analyse a int"):
        Levels()(3)
    with pytest.raises(UsageError, match="no layer 'prefix'"):
        Prefix()(climb())


def test_a_timeline_needs_records() -> None:
    with pytest.raises(UsageError, match="needs the records"):
        RunTimeline()(climb().df)


def test_warm_up_trials_and_other_tiers_are_no_part() -> None:
    made = climb()
    frame = made.df.copy()
    frame.loc[frame.index[:50], "phase"] = "other_tier"
    assert sum(Levels()(frame).table["n"]) == len(frame) - 50


def test_layers_are_kept_apart() -> None:
    table = Levels()(everything()).table
    assert set(table["layer"]) == {"concurrency", "long_input", "prefix", "cold"}
    assert list(dict.fromkeys(Saturation()(everything()).table["layer"])) == ["concurrency"]


def test_candidates_that_never_answer_hide_no_other_and_warn_of_nothing() -> None:
    rows = [("good", f"i{i}", f"c{i % 4}", "ok", 1.0) for i in range(120)]
    rows += [("gone", f"i{i}", f"c{i % 4}", "timeout", np.nan) for i in range(120)]
    columns = ["candidate", "item", "cluster", "outcome", "score"]
    assert suspicious_groups(tidy(pd.DataFrame(rows, columns=columns))) == []
    weak = [("weak", f"i{i}", f"c{i % 4}", "ok", 0.5) for i in range(120)]
    odd = [(who, item, group, out, 0.0 if who == "good" and group == "c1" else y) for who, item, group, out, y in rows]
    (found,) = suspicious_groups(tidy(pd.DataFrame(odd + weak, columns=columns)))
    assert found.startswith("grader fault suspected: good scores 0 % in c1")


@pytest.mark.parametrize("package", [speedqual.analysis.load, speedqual.plots.load], ids=lambda p: p.__name__)
def test_examples_in_docstrings_hold(package: Any) -> None:
    names = [f"{package.__name__}.{module.name}" for module in pkgutil.iter_modules(package.__path__)]
    outcomes = [doctest.testmod(import_module(name)) for name in names]
    assert sum(outcome.failed for outcome in outcomes) == 0
    assert package is speedqual.plots.load or sum(outcome.attempted for outcome in outcomes) >= 8
