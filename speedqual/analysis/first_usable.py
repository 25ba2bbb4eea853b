"""When the first complete usable part of an answer was there, and how early a wrong direction could have been seen.

The part is the first field that is closed (JSON), the first function whose source up to its end compiles (code), or the
first element that can be shown (HTML). ``first_usable_ms = (event.t_ns - t_send) / 1e6`` of the event on the answer
channel that completed it; undefined, with a reason, where there is no such part. Graders never see these times.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import pandas as pd

from speedqual.analysis.base import Result, records
from speedqual.analysis.first_usable_reply import ReplyReader
from speedqual.analysis.first_usable_signs import Sign
from speedqual.analysis.intervals import quantile_interval
from speedqual.display.numbers import digits
from speedqual.errors import UsageError
from speedqual.grading.text import blank_thinking
from speedqual.records import Attempt, Item, Record
from speedqual.timing.stream import Stream

if TYPE_CHECKING:
    from speedqual.running.run import Run

__all__ = ["FirstUsable", "FirstUsableResult"]

_MS = 1_000_000
_COLUMNS = ["candidate", "evalset", "item", "repeat", "part", "first_usable_ms", "e2e_ms", "share", "reason"]
_SIGN_COLUMNS = ["wrong", "sign", "sign_ms", "sign_share", "tokens_saved", "sign_why"]


@dataclass(frozen=True)
class FirstUsable:
    """``tries``: functions of one answer that are compiled before the search ends; in slow languages four at most."""

    tries: int = 12
    level: float = 0.95

    def __call__(self, run: Run) -> FirstUsableResult:
        """Look at every graded reply of a run whose task is code or an extraction."""
        rows: list[dict[str, Any]] = []
        graders = {evalset.name: (evalset, ReplyReader(evalset, self.tries)) for evalset in run.evalsets}
        items = {(e.name, item.id): item for e, _ in graders.values() for item in e.items}
        for record in run.records:
            trial = record.trial
            item = items.get((trial.evalset, trial.item))
            if trial.phase == "main" and item is not None:
                rows.append(_row(record, graders[trial.evalset][1], item))
        if not rows:
            raise UsageError("the run has no finished trial", fix="Give a run with records")
        return self.conclude(pd.DataFrame(rows, columns=[*_COLUMNS, *_SIGN_COLUMNS]))

    def conclude(self, rows: pd.DataFrame) -> FirstUsableResult:
        """Summarise one row a reply."""
        asked = rows[rows["part"].notna()]
        groups = [(c, p, own) for (c, p), own in asked.groupby(["candidate", "part"], sort=False)]
        table = pd.DataFrame([_summary(c, p, own, self.level) for c, p, own in groups])
        wrong = pd.DataFrame([_signs(c, p, own, self.level) for c, p, own in groups])
        missing = rows[rows["first_usable_ms"].isna()]
        why = missing.groupby(["candidate", "reason"], sort=False)["item"].size().rename("n").reset_index()
        return FirstUsableResult(table, _verdict(table, wrong), _notes(rows), rows, wrong, why)


@dataclass(frozen=True, eq=False, repr=False)
class FirstUsableResult(Result):
    """``table``: ``candidate, part, n, undefined, first_usable_ms`` (median) and ``p95_ms`` with ``_lo`` and ``_hi``,
    ``share`` (median of first_usable_ms / e2e_ms).

    ``rows``: one row a reply. ``wrong``: ``candidate, part, wrong, seen`` (wrong answers with a sign), ``sign_ms`` with
    bounds, ``sign_share`` of e2e, ``tokens_saved`` when stopped there (medians), and a count for each kind of sign.
    ``undefined``: ``candidate, reason, n``.
    """

    rows: pd.DataFrame
    wrong: pd.DataFrame
    undefined: pd.DataFrame

    def to_dict(self) -> dict[str, Any]:
        """``candidates[]``, ``wrong[]``, ``undefined[]`` and ``replies[]``; strict JSON."""
        return {
            "kind": "first_usable",
            "verdict": self.verdict,
            "notes": list(self.notes),
            "candidates": records(self.table),
            "wrong": records(self.wrong),
            "undefined": records(self.undefined),
            "replies": records(self.rows),
        }


# ------------------------------------------------------------------------------------------------ one reply


def _row(record: Record, reader: ReplyReader, item: Item) -> dict[str, Any]:
    trial, attempt = record.trial, record.last
    part = reader.part(item)
    row: dict[str, Any] = {"candidate": trial.candidate, "evalset": trial.evalset, "item": trial.item}
    row |= {"repeat": trial.repeat, "part": part, "e2e_ms": record.metrics.get("e2e_ms")}
    wrong = record.grade is not None and record.grade.verdict in ("fail", "partial")
    row["wrong"] = wrong if part else None
    events = [event for event in attempt.timeline.events if event.channel == "answer"]
    start = attempt.timeline.t_send
    reason = _unusable(attempt, part, bool(events), start)
    if reason:
        return row | {"reason": reason}
    text = blank_thinking("".join(event.text for event in events))
    found = reader.find(text, item, ended=attempt.stop != "length", wrong=wrong)
    arrived = list(accumulate(len(event.text) for event in events))
    when = partial(_moment_ms, attempt, arrived)
    row |= {"first_usable_ms": when(found.end), "reason": found.reason or None}
    row["share"] = _ratio(row["first_usable_ms"], row["e2e_ms"])
    return row | _sign_row(found.sign, attempt, arrived, when, row["e2e_ms"])


def _unusable(attempt: Attempt, part: str | None, has_answer: bool, start: int | None) -> str:
    if part is None:
        return "no part of this task is usable alone"
    if attempt.outcome != "ok":
        return "the request failed" if attempt.outcome != "empty" else "the answer is empty"
    return "" if has_answer and start is not None else "the answer is empty"


def _moment_ms(attempt: Attempt, arrived: list[int], end: int | None) -> float | None:
    """When ``end`` characters of the answer had come, in ms after the request was sent."""
    if end is None:
        return None
    events = [event for event in attempt.timeline.events if event.channel == "answer"]
    return (events[bisect_left(arrived, end)].t_ns - (attempt.timeline.t_send or 0)) / _MS


def _sign_row(
    sign: Sign | None, attempt: Attempt, arrived: list[int], when: Callable[[int], float | None], e2e_ms: Any
) -> dict[str, Any]:
    if sign is None:
        return {}
    at_ms = when(sign.end)
    row = {"sign": sign.kind, "sign_ms": at_ms, "sign_share": _ratio(at_ms, e2e_ms), "sign_why": sign.why}
    return row | {"tokens_saved": _tokens_after(attempt, bisect_left(arrived, sign.end))}


def _tokens_after(attempt: Attempt, answer_event: int) -> float | None:
    """Tokens that came after this event of the answer channel; None when nobody counted tokens."""
    stream = Stream([attempt])
    running = stream.cumulative_tokens
    if running is None:
        return None
    places = [i for i, event in enumerate(stream.events) if event.channel == "answer"]
    return running[-1] - running[places[answer_event]]


def _ratio(part: Any, whole: Any) -> float | None:
    return float(part) / float(whole) if part is not None and whole else None


# ------------------------------------------------------------------------------------------------- summaries


def _summary(candidate: Any, part: Any, rows: pd.DataFrame, level: float) -> dict[str, Any]:
    times = pd.to_numeric(rows["first_usable_ms"], errors="coerce")
    middle, tail = quantile_interval(times, 0.5, level), quantile_interval(times, 0.95, level)
    return {
        "candidate": candidate,
        "part": part,
        "n": middle.n,
        "undefined": int(times.isna().sum()),
        "first_usable_ms": middle.value,
        "first_usable_ms_lo": middle.lo,
        "first_usable_ms_hi": middle.hi,
        "p95_ms": tail.value,
        "p95_ms_lo": tail.lo,
        "p95_ms_hi": tail.hi,
        "share": _median(rows["share"]),
    }


def _signs(candidate: Any, part: Any, rows: pd.DataFrame, level: float) -> dict[str, Any]:
    wrong = rows[rows["wrong"].eq(True)]
    seen = wrong[wrong["sign"].notna()]
    middle = quantile_interval(pd.to_numeric(seen["sign_ms"], errors="coerce"), 0.5, level)
    row: dict[str, Any] = {"candidate": candidate, "part": part, "wrong": len(wrong), "seen": len(seen)}
    row |= {"sign_ms": middle.value, "sign_ms_lo": middle.lo, "sign_ms_hi": middle.hi}
    row |= {"sign_share": _median(seen["sign_share"]), "tokens_saved": _median(seen["tokens_saved"])}
    kinds = ("refusal", "grammar", "wrong_field", "wrong_name", "does_not_compile")
    return row | {kind: int((seen["sign"] == kind).sum()) for kind in kinds}


def _median(values: Iterable[Any]) -> float | None:
    known = pd.to_numeric(pd.Series(values), errors="coerce").dropna()
    return float(known.median()) if len(known) else None


def _notes(rows: pd.DataFrame) -> tuple[str, ...]:
    aside = int(rows["part"].isna().sum())
    return (f"{aside} replies are to tasks of which no part is usable alone",) if aside else ()


def _verdict(table: pd.DataFrame, wrong: pd.DataFrame) -> str:
    known = table[table["first_usable_ms"].notna()] if len(table) else table
    if known.empty:
        return "No answer has a part that is usable before its end."
    best = known.sort_values("first_usable_ms", kind="stable").iloc[0]
    share = f", {best['share']:.0%} of the way to its end" if pd.notna(best["share"]) else ""
    what = f"a {best['part']} after {digits(best['first_usable_ms'], 4)} ms{share}"
    said = f"First usable part soonest: {best['candidate']}, {what}"
    n_wrong, n_seen = int(wrong["wrong"].sum()), int(wrong["seen"].sum())
    told = f"; {n_seen} of {n_wrong} wrong answers could have been told before their end" if n_wrong else ""
    return f"{said}{told}."
