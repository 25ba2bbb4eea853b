"""Why requests failed, in a line a candidate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from speedqual.display.safe import visible
from speedqual.records import GRADED_OUTCOMES

if TYPE_CHECKING:
    from speedqual.records import Attempt
    from speedqual.running import Run

__all__ = ["cause_of", "causes", "nothing_answered"]

_NAMED = 3  # kinds of failure that a candidate's line names; the others are counted
_LONG = 200  # characters of what an endpoint said


def nothing_answered(run: Run) -> bool:
    """Whether something was asked, and no trial of any candidate got a usable reply."""
    outcomes = run.df["outcome"]
    return len(outcomes) > 0 and not outcomes.isin(GRADED_OUTCOMES).any()


def causes(run: Run) -> Iterator[str]:
    """``small: 2 × http_error 500: scripted error``, the most frequent first; nothing where all was answered."""
    from speedqual.running.codec import decode_record

    if run.df["outcome"].isin(GRADED_OUTCOMES).all():
        return
    found: dict[str, Counter[str]] = {}
    for line in run.layout.lines(run.layout.records):
        record = decode_record(line)  # without its events, which may be many
        if record.last.outcome not in GRADED_OUTCOMES:
            found.setdefault(record.trial.candidate, Counter())[cause_of(record.last)] += 1
    for name, counts in found.items():
        shown = [f"{n:,} × {cause}" for cause, n in counts.most_common(_NAMED)]
        more = counts.total() - sum(n for _, n in counts.most_common(_NAMED))
        yield f"{visible(name, _LONG)}: {'; '.join(shown)}" + (f"; {more:,} others" if more else "")


def cause_of(attempt: Attempt) -> str:
    """How an attempt ended: outcome, HTTP status where it is an error's, and what the endpoint said."""
    status = f" {attempt.status}" if attempt.status is not None and attempt.status >= 400 else ""
    said = f": {attempt.error_message}" if attempt.error_message else ""
    return visible(" ".join(f"{attempt.outcome}{status}{said}".split()), _LONG)
