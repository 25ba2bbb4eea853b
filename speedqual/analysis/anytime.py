"""Anytime quality: what the part of an answer that has come by time t is worth, where a grader can judge a part.

An extraction whose first fields are right, a text whose facts stand in its first lines: the partial score (after
repairs) of the prefix. Where nothing has come yet the worth is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from speedqual.analysis.base import Result, records
from speedqual.analysis.intervals import mean_interval
from speedqual.display.numbers import digits, percent
from speedqual.errors import UsageError
from speedqual.grading.base import Grader, grade_all
from speedqual.records import Answer, Attempt, Item

__all__ = ["Anytime", "AnytimeResult", "text_by"]

_MS = 1_000_000


@dataclass(frozen=True)
class Anytime:
    """``at_ms``: moments after the request was sent; empty = ``points`` between the first token and the last."""

    at_ms: tuple[float, ...] = ()
    points: int = 8

    def __call__(self, replies: Sequence[tuple[Attempt, Item]], grader: Grader) -> AnytimeResult:
        """Grade the prefixes of successful replies of one candidate, one reply an item."""
        good = [(a, item) for a, item in replies if a.outcome == "ok" and a.timeline.events]
        if not good:
            raise UsageError("no reply has an event to look at", fix="Keep events when you run")
        moments = self.at_ms or tuple(_moments([a for a, _ in good], self.points))
        rows = [self.row(t, good, grader, failed=len(replies) - len(good)) for t in moments]
        table = pd.DataFrame(rows)
        return AnytimeResult(table, _verdict(table), _notes(table, len(good)))

    def row(self, t: float, replies: Sequence[tuple[Attempt, Item]], grader: Grader, failed: int) -> dict[str, Any]:
        texts = [text_by(attempt, t) for attempt, _ in replies]
        ended = [attempt.timeline.events[-1].t_ns <= _limit(attempt, t) for attempt, _ in replies]
        pairs = [
            (Answer(text=text, stop="stop" if done else "length"), item)
            for text, done, (_, item) in zip(texts, ended, replies, strict=True)
            if text
        ]
        grades = grade_all(grader, pairs)
        scores = [g.score_lenient if g.score_lenient is not None else g.score for g in grades]
        known = [s for s in scores if s is not None]
        worth = np.array([*known, *[0.0] * (len(replies) - len(pairs) + failed)])
        got = mean_interval(worth)
        row: dict[str, Any] = {"t_ms": t, "quality": got.value, "quality_lo": got.lo, "quality_hi": got.hi}
        return row | {"begun": len(pairs), "ended": sum(ended), "ungraded": len(scores) - len(known)}


@dataclass(frozen=True, eq=False, repr=False)
class AnytimeResult(Result):
    """``table``: ``t_ms, quality, quality_lo, quality_hi, begun, ended, ungraded``."""

    def to_dict(self) -> dict[str, Any]:
        """``moments[]``; strict JSON."""
        moments = records(self.table)
        return {"kind": "anytime", "verdict": self.verdict, "notes": list(self.notes), "moments": moments}


def text_by(attempt: Attempt, t_ms: float) -> str:
    """The answer text that had come ``t_ms`` after the send; reasoning is no answer."""
    limit = _limit(attempt, t_ms)
    return "".join(e.text for e in attempt.timeline.events if e.channel == "answer" and e.t_ns <= limit)


def _limit(attempt: Attempt, t_ms: float) -> int:
    return (attempt.timeline.t_send or 0) + round(t_ms * _MS)


def _moments(attempts: Sequence[Attempt], points: int) -> list[float]:
    """Evenly spaced on a log axis from the first event of all to the last."""
    first = min(a.timeline.events[0].t_ns - (a.timeline.t_send or 0) for a in attempts) / _MS
    last = max(a.timeline.events[-1].t_ns - (a.timeline.t_send or 0) for a in attempts) / _MS
    if last <= first:
        return [last]
    between = np.geomspace(max(first, 1e-3), last, points)
    return [*(float(t) for t in between[:-1]), last]


def _notes(table: pd.DataFrame, n: int) -> tuple[str, ...]:
    ungraded = int(table["ungraded"].sum())
    return (f"{ungraded} of {n * len(table)} prefixes could not be graded and are left out",) if ungraded else ()


def _verdict(table: pd.DataFrame) -> str:
    known = table[table["quality"].notna()]
    if known.empty or not known["quality"].max():
        return "No part of any answer is worth anything before its end."
    end = float(known["quality"].iloc[-1])
    half = known[known["quality"] >= end / 2].iloc[0]
    return f"Half of the final quality of {percent(end)} is there after {digits(half['t_ms'] / 1000, 2)} s."
