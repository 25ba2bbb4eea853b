"""One candidate's reply as it came: pieces of text with their times, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from speedqual.display.safe import LIMIT, visible
from speedqual.errors import UsageError
from speedqual.records import Attempt, EvalSet, Grade, Item, Record
from speedqual.running import Run
from speedqual.running.codec import decode_record, key_of

__all__ = ["Lane", "Piece", "item_of", "lane_of", "records_of", "shortened", "telling_item"]

Piece = tuple[float, bool, str]
"""Milliseconds after the request was sent, whether it is thinking, and the text made harmless."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """``outcome`` is empty while the reply is still coming. ``lost``: characters beyond what is shown."""

    name: str
    pieces: tuple[Piece, ...] = ()
    ttft_ms: float | None = None
    end_ms: float | None = None
    outcome: str = ""
    attempt: int = 1
    grade: Grade | None = None
    lost: int = 0

    @property
    def text(self) -> str:
        return "".join(text for _, _, text in self.pieces)


def lane_of(name: str, attempt: Attempt, grade: Grade | None = None) -> Lane:
    """The attempt that counted, with the times of its own events after its own send."""
    line = attempt.timeline
    sent = line.t_send
    timed = [((event.t_ns - sent) / 1e6, event) for event in line.events] if sent is not None else []
    pieces, lost = shortened((ms, event.channel == "reasoning", event.text) for ms, event in timed)
    end = line.t_close if not timed else line.events[-1].t_ns
    return Lane(
        name=name,
        pieces=pieces,
        ttft_ms=timed[0][0] if timed else None,
        end_ms=None if sent is None or end is None else (end - sent) / 1e6,
        outcome=attempt.outcome,
        attempt=attempt.number,
        grade=grade,
        lost=lost,
    )


def shortened(pieces: Iterable[Piece], shown: int = 0) -> tuple[tuple[Piece, ...], int]:
    """The pieces up to ``LIMIT`` characters, each made harmless, and how many characters that leaves out."""
    kept: list[Piece] = []
    room, lost = max(0, LIMIT - shown), 0
    for ms, thinking, text in pieces:
        taken = text[:room]
        room, lost = room - len(taken), lost + len(text) - len(taken)
        if taken:
            kept.append((ms, thinking, visible(taken)))
    return tuple(kept), lost


def item_of(evalset: EvalSet, item: str) -> Item:
    """The item with an id, the first where none is named. Raises UsageError for an id that the set has not."""
    for one in evalset.items:
        if item in ("", one.id):
            return one
    some = ", ".join(one.id for one in evalset.items[:3])
    raise UsageError(f"{evalset.name} has no item {item!r}", where="item", fix=f"Give an id such as {some}")


def records_of(run: Run, evalset: str, item: str) -> Iterator[Record]:
    """What each candidate replied to an item the first time it was asked, with the stamped events."""
    grades = run.grades
    for line in run.layout.lines(run.layout.records):
        trial = line["trial"]
        if (trial["evalset"], trial["item"], trial.get("repeat", 0)) == (evalset, item, 0):
            yield decode_record(line, run.layout.read_events(line.get("events")), grades.get(key_of(line)))


def telling_item(run: Run, evalset: str, item: str, candidates: Iterable[str]) -> tuple[str, str]:
    """The eval set and item that are meant; where none is named, the first on which the verdicts differ.

    Raises UsageError for one that nobody was asked.
    """
    frame = run.df[run.df["phase"] == "main"]
    wanted = list(candidates)
    frame = frame[frame["candidate"].isin(wanted)] if wanted else frame
    for column, value in (("evalset", evalset), ("item", item)):
        frame = frame[frame[column] == value] if value else frame
    if frame.empty:
        what = " ".join(filter(None, [evalset, item])) or "any item"
        raise UsageError(f"nobody in this run was asked {what}", where="item", fix="Take one from run.df")
    verdicts: Any = frame.groupby(["evalset", "item"], sort=False)["verdict"].nunique()
    differing = verdicts[verdicts > 1]
    chosen = (differing if len(differing) else verdicts).index[0]
    return str(chosen[0]), str(chosen[1])
