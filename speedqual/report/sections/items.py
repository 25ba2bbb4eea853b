"""Items one by one: the worst, the slowest, those that flipped between candidates; each answer with its stream."""

from __future__ import annotations

from speedqual.report.context import Context
from speedqual.report.items.picks import REASONS
from speedqual.report.items.views import AnswerView, ItemView
from speedqual.report.page import Part, fill

__all__ = ["section"]

_BLANK = ItemView(id="", key="", evalset="", reasons=(), tags=(), head="")
_BLANK_ANSWER = AnswerView(id="", candidate="", kind="", how="", head="", times="")


def section(context: Context) -> Part | None:
    """Absent when nothing was asked."""
    shown, words = context.shown, context.words
    if not shown.plain:
        return None
    reasons = [name for name in REASONS if any(name in item.reasons for item in shown.plain)]
    body = fill(
        "items.html.j2",
        words,
        items=shown.plain,
        n_packed=len(shown.packed),
        total=shown.total,
        reasons=[(name, words(f"items.reason_{name}")) for name in reasons],
        redact=context.redact,
        blank=_BLANK,
        blank_answer=_BLANK_ANSWER,
    )
    return Part("items", words("items.heading"), body)
