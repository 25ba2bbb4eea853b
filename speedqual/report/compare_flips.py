"""Items that went from right to wrong between two runs, or back: both answers, and what changed between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from speedqual.records import GRADED_OUTCOMES
from speedqual.report.items.differences import overlay
from speedqual.report.items.picks import Pick
from speedqual.report.items.views import AnswerView, ItemView, views
from speedqual.report.words import Words

if TYPE_CHECKING:
    import pandas as pd

    from speedqual.running import Run

__all__ = ["REASONS", "Flip", "flip_views", "flips"]

REASONS = ("lost", "gained")
"""Right before and wrong now; wrong before and right now."""


@dataclass(frozen=True, slots=True)
class Flip:
    """One item of one pair of candidates, and the numbers of the records that show it: a run's row is its record."""

    evalset: str
    item: str
    kind: str
    before: int
    after: int


def flips(base: pd.DataFrame, new: pd.DataFrame, pairs: Iterable[tuple[str, str]]) -> list[Flip]:
    """Every flip, the lost ones first, in the order of the base run. Right: the mean of the repeats reaches success."""
    found = [flip for a, b in pairs for flip in _of_pair(_judged(base, a), _judged(new, b))]
    return sorted(found, key=lambda flip: REASONS.index(flip.kind))


def _judged(df: pd.DataFrame, candidate: str) -> pd.DataFrame:
    """By eval set and item: right or not, the numbers of its best and its worst record; ungraded ones are left out."""
    rows = df[(df["phase"] == "main") & (df["candidate"] == candidate)]
    score = rows["score"].astype(float).where(rows["outcome"].isin(GRADED_OUTCOMES), 0.0)
    rows = rows.assign(delivered=score, number=rows.index)[score.notna()]
    by = rows.sort_values("delivered", kind="stable").groupby(["evalset", "item"], sort=False, observed=True)
    judged = by.agg(
        mean=("delivered", "mean"),
        success_at=("success_at", "first"),
        worst=("number", "first"),
        best=("number", "last"),
    )
    return judged.assign(right=judged["mean"] >= judged["success_at"] - 1e-12)


def _of_pair(before: pd.DataFrame, after: pd.DataFrame) -> Iterator[Flip]:
    both = before.add_suffix("_a").join(after.add_suffix("_b"), how="inner").sort_values("worst_a", kind="stable")
    for row in both[both["right_a"] != both["right_b"]].reset_index().to_dict("records"):
        lost = bool(row["right_a"])
        numbers = (row["best_a"], row["worst_b"]) if lost else (row["worst_a"], row["best_b"])
        yield Flip(str(row["evalset"]), str(row["item"]), REASONS[not lost], int(numbers[0]), int(numbers[1]))


def flip_views(
    base: Run, new: Run, found: Sequence[Flip], words: Words, *, redact: bool, each: int | None
) -> tuple[ItemView, ...]:
    """Up to ``each`` items of a kind (None = all) as a page shows them: the answer before, the answer after."""
    shown = [flip for kind in REASONS for flip in [one for one in found if one.kind == kind][:each]]
    before = views(base, [_pick(flip, flip.before) for flip in shown], words, redact=redact)
    after = views(new, [_pick(flip, flip.after) for flip in shown], words, redact=redact)
    return tuple(_merged(i, a, b, words) for i, (a, b) in enumerate(zip(before, after, strict=True), 1))


def _pick(flip: Flip, number: int) -> Pick:
    return Pick(flip.evalset, flip.item, (flip.kind,), (number,))


def _merged(number: int, before: ItemView, after: ItemView, words: Words) -> ItemView:
    """One item with both answers; over the later one lies what changed since the earlier."""
    a, b = before.answers[0], after.answers[0]
    old = _of_run(a, f"item-{number}-1", words("compare.base"))
    now = _of_run(b, f"item-{number}-2", words("compare.new"))
    now = replace(now, segments=tuple(overlay(_text(a), _text(b))))
    return replace(after, id=f"item-{number}", head=b.candidate, answers=(replace(old, segments=()), now))


def _of_run(answer: AnswerView, name: str, run: str) -> AnswerView:
    return replace(answer, id=name, candidate=f"{run} · {answer.candidate}")


def _text(answer: AnswerView) -> str:
    return "".join(text for channel, _, text in answer.tracks if channel == "answer")
