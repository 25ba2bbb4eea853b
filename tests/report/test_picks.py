"""Which items are shown: the arithmetic on a table small enough to see."""

from __future__ import annotations

from typing import Any

import pandas as pd

from speedqual.report.items.picks import pick, with_all


def table(*rows: tuple[str, str, float | None, float, str, str]) -> pd.DataFrame:
    """``candidate, item, score, e2e_ms, outcome, failure`` of each row."""
    columns = ("candidate", "item", "score", "e2e_ms", "outcome", "failure")
    frame = pd.DataFrame([dict(zip(columns, row, strict=True)) for row in rows])
    return frame.assign(evalset="s", success_at=1.0, e2e_user_ms=frame["e2e_ms"], repeat=0)


def row(candidate: str, item: str, score: float | None, e2e: float = 10.0, **other: Any) -> tuple[Any, ...]:
    failure = other.get("failure", "none" if score == 1 else "wrong_result")
    return (candidate, item, score, e2e, other.get("outcome", "ok"), failure)


def reasons(frame: pd.DataFrame, each: int = 8) -> dict[str, tuple[str, ...]]:
    return {one.item: one.reasons for one in pick(frame, each)}


def test_the_most_surprising_flip_comes_first() -> None:
    good = [row("good", name, 1.0) for name in ("a", "b", "c")] + [row("good", "d", 0.0)]
    poor = [row("poor", name, 0.0) for name in ("a", "b", "c")] + [row("poor", "d", 1.0)]
    shown = pick(table(*good, *poor), 8)
    # d is wrong by the good one (0.75) and right by the poor one (0.25): 0.5 above the others' −0.5
    assert next(one.item for one in shown if "flipped" in one.reasons) == "d"
    assert shown[0].rows == (3, 7)  # the better candidate's record first


def test_all_right_is_neither_worst_nor_flipped() -> None:
    frame = table(row("a", "x", 1.0, 5.0), row("b", "x", 1.0, 9.0))
    assert reasons(frame) == {"x": ("slowest",)}


def test_kinds_of_failure_take_turns_among_the_worst() -> None:
    same = [row("a", f"i{n}", 0.0, failure="wrong_result") for n in range(5)]
    other = row("a", "z", 0.5, failure="omission")
    worst = [name for name, why in reasons(table(*same, other), each=2).items() if "worst" in why]
    assert worst == ["i0", "z"]


def test_the_slowest_of_each_candidate_before_the_second_of_any() -> None:
    frame = table(
        row("slow", "a", 1.0, 900), row("slow", "b", 1.0, 800), row("quick", "a", 1.0, 3), row("quick", "b", 1.0, 5)
    )
    slowest = [one.item for one in pick(frame, 2) if "slowest" in one.reasons]
    assert slowest == ["a", "b"]  # a by the slow one, b by the quick one


def test_a_kind_that_no_shown_item_has_gets_an_example() -> None:
    many = [row("a", f"i{n}", 0.0) for n in range(6)]
    hidden = row("a", "cut", None, outcome="http_error", failure="")
    frame = table(*many, ("a", "odd", 0.9, 1.0, "ok", "copied"), hidden)
    found = reasons(frame, each=1)
    assert found["odd"] == ("example",)
    assert "http_error" in set(frame.loc[frame["item"].isin(found), "outcome"])


def test_of_repeats_the_worst_is_shown() -> None:
    frame = table(row("a", "x", 1.0, 50.0), row("a", "x", 0.0, 10.0), row("a", "x", 1.0, 99.0))
    assert pick(frame, 8)[0].rows == (1,)


def test_all_items_come_after_the_picked_ones_in_the_order_of_the_run() -> None:
    frame = table(*[row("a", f"i{n}", float(n != 3), float(n)) for n in range(6)])
    picks = pick(frame, 1)
    everything = with_all(picks, frame)
    assert [one.item for one in everything[: len(picks)]] == [one.item for one in picks]
    rest = [one.item for one in everything[len(picks) :]]
    assert rest == sorted(rest) and len(everything) == 6
