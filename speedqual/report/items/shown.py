"""The items of a page: those in its markup within a budget of bytes; the rest, compressed, where all are wanted."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from speedqual.report import EACH
from speedqual.report.items.picks import pick, with_all
from speedqual.report.items.views import ItemView, views
from speedqual.report.words import Words

if TYPE_CHECKING:
    import pandas as pd

    from speedqual.running import Run

__all__ = ["Shown", "shown"]

_BUDGET = 900_000
"""Bytes that items may add to a page; the first one always comes."""
_AROUND = 600
"""Bytes of markup around an answer."""


@dataclass(frozen=True, slots=True)
class Shown:
    """``plain``: in the markup. ``packed``: the others, in the form that the script unfolds. ``total``: of the run."""

    plain: tuple[ItemView, ...]
    packed: tuple[dict[str, Any], ...]
    total: int

    @property
    def streams(self) -> dict[str, Any]:
        """Anchor of an answer → the steps of its stream."""
        answers = (answer for item in self.plain for answer in item.answers)
        return {answer.id: answer.stream for answer in answers if answer.stream}


def shown(run: Run, main: pd.DataFrame, words: Words, *, each: int | None, redact: bool) -> Shown:
    """The items of ``main``: ``each`` of a kind, None = all of them."""
    picks = pick(main, EACH if each is None else each)
    chosen = len(picks)
    if each is None:
        picks = with_all(picks, main)
    repeats = int(main["repeat"].max()) + 1 if len(main) else 1
    made = list(views(run, picks, words, redact=redact, n_repeats=repeats))
    within = _within_budget(made[:chosen])
    rest = made[within:] if each is None else []
    return Shown(tuple(made[:within]), tuple(item.to_dict() for item in rest), len(with_all(picks, main)))


def _within_budget(made: list[ItemView]) -> int:
    """How many of the first items fit; at least one where there is one."""
    spent = accumulate(_size(item) for item in made)
    return max(sum(size <= _BUDGET for size in spent), min(1, len(made)))


def _size(item: ItemView) -> int:
    """About how many bytes an item adds: its texts, its streams, the markup around each answer."""
    return len(json.dumps(item.to_dict(), ensure_ascii=False).encode("utf-8", "replace")) + _AROUND * len(item.answers)
