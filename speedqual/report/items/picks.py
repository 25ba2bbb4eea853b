"""Which items a reader should see: the worst, the slowest, those that one candidate has right and another wrong."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from speedqual.records import GRADED_OUTCOMES

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["REASONS", "Pick", "pick", "with_all"]

REASONS = ("flipped", "worst", "slowest", "example")
"""Why an item is shown; ``example``: it has the first failure of some kind."""

Key = tuple[str, str]
"""Eval set and item."""


@dataclass(frozen=True, slots=True)
class Pick:
    """An item, why it was picked, and the number of one record a candidate: its worst repeat, then its slowest."""

    evalset: str
    item: str
    reasons: tuple[str, ...]
    rows: tuple[int, ...]


def pick(main: pd.DataFrame, each: int) -> list[Pick]:
    """Up to ``each`` items a reason, the most telling first; a reason's items do not crowd out another's."""
    answers = _one_each(main)
    columns = [_flipped(answers), _worst(answers), _slowest(answers)]
    found: dict[Key, list[str]] = {}
    for row in zip_longest(*(column[:each] for column in columns)):
        for reason, key in zip(REASONS, row, strict=False):
            if key is not None:
                found.setdefault(key, []).append(reason)
    for key in _examples(answers, set(found)):
        found[key] = ["example"]
    return _picks(answers, found)


def with_all(picks: list[Pick], main: pd.DataFrame) -> list[Pick]:
    """The same, and after them every other item in the order of the run."""
    found = {(p.evalset, p.item): list(p.reasons) for p in picks}
    for key in zip(main["evalset"].astype(str), main["item"].astype(str), strict=True):
        found.setdefault(key, [])
    return _picks(_one_each(main), found)


def _trouble(row: pd.Series) -> tuple[str, bool]:
    """What went wrong with a trial, and whether the endpoint is to blame; empty for nothing."""
    if row["outcome"] not in GRADED_OUTCOMES:
        return str(row["outcome"]), True
    return ("", False) if row["failure"] in ("none", "") else (str(row["failure"]), False)


def _one_each(main: pd.DataFrame) -> pd.DataFrame:
    """One row per item and candidate with ``delivered`` (NaN = not graded), ``took`` and ``number`` of the record."""
    reached = main["outcome"].isin(GRADED_OUTCOMES)
    took = main["e2e_user_ms"].fillna(main["e2e_ms"])
    rows = main.assign(delivered=main["score"].astype(float).where(reached, 0.0), took=took, number=main.index)
    rows = rows.assign(right=(rows["delivered"] >= rows["success_at"] - 1e-12).where(rows["delivered"].notna()))
    rows = rows.sort_values(["delivered", "took", "number"], ascending=[True, False, True], kind="stable")
    rows = rows.drop_duplicates(["evalset", "item", "candidate"]).sort_values("number", kind="stable")
    quality = rows.groupby("candidate")["delivered"].transform("mean")
    return rows.assign(quality=quality)


def _keys(rows: pd.DataFrame) -> list[Key]:
    return list(dict.fromkeys(zip(rows["evalset"].astype(str), rows["item"].astype(str), strict=True)))


def _flipped(answers: pd.DataFrame) -> list[Key]:
    """Most surprising first: wrong by a candidate that is good on the whole, right by one that is not."""
    known = answers[answers["right"].notna()]
    right = known["right"].astype(bool)
    by = ["evalset", "item"]
    best_wrong = known[~right].groupby(by, sort=False)["quality"].max().rename("best_wrong")
    worst_right = known[right].groupby(by, sort=False)["quality"].min().rename("worst_right")
    both = best_wrong.to_frame().join(worst_right, how="inner").reset_index()
    both = both.assign(surprise=both["best_wrong"] - both["worst_right"])
    return _keys(both.sort_values("surprise", ascending=False, kind="stable"))


def _worst(answers: pd.DataFrame) -> list[Key]:
    """Lowest mean over the candidates first, the eval sets and kinds of failure taking turns."""
    by = ["evalset", "item"]
    table = answers.groupby(by, sort=False).agg(mean=("delivered", "mean"), kind=("failure", _usual)).reset_index()
    table = table[table["mean"] < 1].sort_values("mean", kind="stable")
    turn = table.groupby(["evalset", "kind"], sort=False).cumcount()
    return _keys(table.assign(turn=turn).sort_values(["turn", "mean"], kind="stable"))


def _usual(kinds: pd.Series) -> str:
    """The most frequent kind of failure; the first of equals."""
    failed = kinds[~kinds.isin(["none", ""])]
    return str(failed.value_counts(sort=False).idxmax()) if len(failed) else ""


def _slowest(answers: pd.DataFrame) -> list[Key]:
    """Longest wait first, the candidates taking turns: else the slowest of them would fill the list."""
    table = answers[answers["took"].notna()].sort_values("took", ascending=False, kind="stable")
    turn = table.groupby("candidate", sort=False).cumcount()
    return _keys(table.assign(turn=turn).sort_values(["turn", "took"], ascending=[True, False], kind="stable"))


def _examples(answers: pd.DataFrame, shown: set[Key]) -> list[Key]:
    """Items that have the first failure of a kind which no shown item has."""
    kinds = [(_trouble(row), (str(row["evalset"]), str(row["item"]))) for _, row in answers.iterrows()]
    seen = {kind for kind, key in kinds if key in shown}
    found: dict[tuple[str, bool], Key] = {}
    for kind, key in kinds:
        if kind[0] and kind not in seen:
            found.setdefault(kind, key)
    return list(dict.fromkeys(found.values()))


def _picks(answers: pd.DataFrame, found: dict[Key, list[str]]) -> list[Pick]:
    order = {name: i for i, name in enumerate(_by_quality(answers))}
    ranked = answers.assign(order=answers["candidate"].map(order)).sort_values("order", kind="stable")
    numbers: dict[Key, list[int]] = {}
    for evalset, item, number in zip(ranked["evalset"], ranked["item"], ranked["number"], strict=True):
        numbers.setdefault((str(evalset), str(item)), []).append(int(number))
    return [Pick(*key, tuple(reasons), tuple(numbers[key])) for key, reasons in found.items()]


def _by_quality(answers: pd.DataFrame) -> list[str]:
    best = answers.drop_duplicates("candidate").sort_values("quality", ascending=False, kind="stable")
    return [str(name) for name in best["candidate"]]
