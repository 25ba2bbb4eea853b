"""Items one by one: the worst, the slowest, those that flipped between candidates; each answer with its stream."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from speedqual.report.context import Context
from speedqual.report.items.picks import REASONS
from speedqual.report.items.views import AnswerView, ItemView
from speedqual.report.page import Part, fill
from speedqual.report.words import Words

__all__ = ["items_part", "section"]

_BLANK = ItemView(id="", key="", evalset="", reasons=(), tags=(), head="")
_BLANK_ANSWER = AnswerView(id="", candidate="", kind="", how="", head="", times="")


def section(context: Context) -> Part | None:
    """Absent when nothing was asked."""
    shown = context.shown
    if not shown.plain:
        return None
    return items_part(
        shown.plain, REASONS, context.words, n_packed=len(shown.packed), total=shown.total, redact=context.redact
    )


def items_part(
    items: Sequence[ItemView],
    reasons: Iterable[str],
    words: Words,
    *,
    total: int,
    n_packed: int = 0,
    redact: bool = False,
) -> Part:
    """Items with their answers, in the order given; those ``reasons`` that occur are offered to choose by."""
    known = [name for name in reasons if any(name in item.reasons for item in items)]
    body = fill(
        "items.html.j2",
        words,
        items=items,
        n_packed=n_packed,
        total=total,
        reasons=[(name, words(f"items.reason_{name}")) for name in known],
        redact=redact,
        blank=_BLANK,
        blank_answer=_BLANK_ANSWER,
    )
    return Part("items", words("items.heading"), body)
