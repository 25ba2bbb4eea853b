"""Odd but honest inputs: nothing breaks, nothing warns, and what cannot be said is said so."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from speedqual.analysis import Cliffs, Frontier, from_table
from speedqual.analysis.budgets import Budgets
from speedqual.analysis.cost import Cost
from speedqual.analysis.deadlines import Deadlines
from speedqual.analysis.routing import Routing
from speedqual.analysis.tails import Tails
from speedqual.errors import UsageError


def board(**columns: Any) -> Any:
    names = {"q": "quality", "s": "seconds", "c": "cost"}
    frame = pd.DataFrame({"m": [f"c{i}" for i in range(len(columns["q"]))], **columns})
    given = {names[k]: k for k in columns}
    return from_table(frame, candidate="m", n=50, **given)


def run(outcomes: tuple[str, str] = ("timeout", "ok"), score: float = 1.0) -> pd.DataFrame:
    rows = [(name, str(i), outcome) for name, outcome in zip("ab", outcomes, strict=True) for i in range(3)]
    frame = pd.DataFrame(rows, columns=["candidate", "item", "outcome"])
    ok = frame["outcome"] == "ok"
    return frame.assign(
        phase="main", evalset="e", score=np.where(ok, score, np.nan), e2e_ms=np.where(ok, 10.0, np.nan), started_ms=0.0
    )


def whole(result: Any) -> Any:
    """The result after its JSON and its plot were made."""
    json.dumps(result.to_dict(), allow_nan=False)
    assert result.plot().alt_text == result.verdict or result.verdict in result.plot().alt_text
    return result


def test_a_single_candidate() -> None:
    assert whole(Frontier(floor=0.9)(board(q=[1.0], s=[1.0]))).front == ("c0",)


def test_a_time_that_never_ends_is_beaten_by_any_that_does() -> None:
    assert whole(Frontier()(board(q=[0.5, 0.6, 0.7], s=[1.0, np.inf, 2.0]))).front == ("c0", "c2")
    whole(Frontier()(board(q=[0.5, 0.6], s=[np.inf, np.inf])))


def test_a_time_of_zero_cannot_stand_on_a_log_axis_but_on_the_front() -> None:
    assert whole(Frontier()(board(q=[0.5, 0.6], s=[0.0, 1.0]))).front == ("c0", "c1")


def test_all_costs_unknown_is_an_error_that_says_so() -> None:
    with pytest.raises(UsageError, match="no candidate has a cost_usd"):
        Frontier(x="cost")(board(q=[0.5, 0.6], c=[0.0, 0.0]))


@pytest.mark.parametrize(
    "ask", [Frontier(), Frontier(floor=0.5), Deadlines(), Cost(), Routing(), Tails(metric="e2e_ms"), Budgets()], ids=str
)
def test_a_candidate_that_always_fails(ask: Any) -> None:
    whole(ask(run()))


def test_a_candidate_that_always_fails_is_worth_nothing_and_on_no_front() -> None:
    got = Frontier()(run())
    table = got.table.set_index("candidate")
    assert got.front == ("b",) and table.loc["a", "quality"] == 0.0 and np.isnan(table.loc["a", "e2e_ms"])


def test_a_run_that_was_never_graded() -> None:
    frame = run(("ok", "ok"), score=np.nan)
    got = whole(Frontier()(frame))
    assert got.front == () and got.verdict.startswith("No candidate has both")
    assert any("6 answers could not be graded" in note for note in got.notes)
    with pytest.raises(UsageError, match="graded answers"):
        Routing()(frame)


def test_an_empty_run_is_refused() -> None:
    with pytest.raises(UsageError, match="no finished trial"):
        Frontier()(run().head(0))


def test_text_columns_of_numbers_categories_and_none_are_read_alike() -> None:
    plain = Frontier()(run(("ok", "ok"))).table
    frame = run(("ok", "ok"))
    assert Frontier()(frame.astype(object).where(frame.notna(), None)).table.equals(plain)
    categories = frame.assign(
        candidate=frame["candidate"].astype("category"), outcome=frame["outcome"].astype("category")
    )
    assert Frontier()(categories).table.equals(plain)


def test_one_cluster_gives_no_bounds() -> None:
    frame = pd.concat([run(("ok", "ok")).assign(item=lambda d, k=k: d["item"] + str(k)) for k in range(10)])
    got = whole(Frontier(floor=0.5)(frame.assign(cluster="x", score=np.arange(60) % 2)))
    assert got.table["floor"].tolist() == ["cannot tell", "cannot tell"]


def test_ladders_without_enough_rungs() -> None:
    frame = pd.DataFrame({"l": ["L"] * 3, "r": list("abc"), "q": [0.9, 0.8, np.nan]})
    two = whole(Cliffs()(from_table(frame, candidate="r", ladder="l", quality="q", n=100)))
    assert two.ladders["n_rungs"].tolist() == [2]
    none = whole(Cliffs()(from_table(frame.head(1), candidate="r", ladder="l", quality="q", n=100)))
    assert none.verdict == "There is no ladder of two or more rungs." and none.to_dict()["ladders"] == []
