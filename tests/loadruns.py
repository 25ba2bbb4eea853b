"""Load tests made of records with known stamps: what a run offers to an analysis, without any server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd

from speedqual.records import (
    Attempt,
    Candidate,
    EvalSet,
    Event,
    Grade,
    GraderSpec,
    Item,
    Place,
    Record,
    ServerTimings,
    Timeline,
    Trial,
    Usage,
)
from speedqual.running.table import Rows, frame_of
from speedqual.timing import measure

MS = 1_000_000
START_NS = 7_000 * MS  # the run begins here on the client's clock


def attempt(
    sent_ms: float,
    *,
    first_ms: float = 100.0,
    tokens: int = 10,
    gap_ms: float = 10.0,
    stall_ms: float = 0.0,
    outcome: str = "ok",
    number: int = 1,
    sched_ms: float | None = None,
    took_ms: float | None = None,
    n_prompt: int | None = None,
    n_cached: int | None = None,
    load_ms: float | None = None,
    connection: str = "reused",
    **facts: Any,
) -> Attempt:
    """A reply whose first token comes ``first_ms`` after the send and the others every ``gap_ms``, after the first one
    ``stall_ms`` later; closed with the last one, or ``took_ms`` after the send. A failed attempt has no token."""
    sent = START_NS + round(sent_ms * MS)
    count = tokens if outcome == "ok" else 0
    at = [sent + round((first_ms + i * gap_ms + bool(i) * stall_ms) * MS) for i in range(count)]
    events = tuple(Event(t, "answer", "x", i, i + 1) for i, t in enumerate(at))
    close = sent + round(took_ms * MS) if took_ms is not None else at[-1] if at else sent + round(first_ms * MS)
    timeline = Timeline(
        t_send=sent, t_sched=None if sched_ms is None else START_NS + round(sched_ms * MS), events=events,
        t_close=close, n_reads=count, stamp="scripted", connection=connection,
    )  # fmt: skip
    usage = Usage(n_prompt=n_prompt, n_out=count or None, n_cached=n_cached, source="usage" if count else "none")
    server = None if load_ms is None else ServerTimings(load_ms=load_ms)
    return Attempt(
        number=number, outcome=outcome, timeline=timeline, text="x" * count, usage=usage, server=server, **facts
    )  # type: ignore[arg-type]


def record(
    level: str,
    x: float,
    number: int,
    *attempts: Attempt,
    layer: str = "concurrency",
    candidate: str = "fast",
    item: str | None = None,
    traffic: str = "",
    note: str = "",
    score: float | None = None,
    failure: str = "",
) -> Record:
    """One request of a level."""
    place = Place(layer=layer, level=level, x=x, number=number, traffic=traffic, note=note)
    sched = attempts[0].timeline.t_sched
    trial = Trial(
        candidate=candidate, evalset="set", item=item or f"i{number}", repeat=number, load=place,
        t_sched_ns=None if sched is None else sched - START_NS,
    )  # fmt: skip
    found = measure(attempts)
    grade = None
    if score is not None:
        kind: Any = failure or ("none" if score >= 1 else "wrong_result")
        grade = Grade(score=score, verdict="pass" if score >= 1 else "fail", failure=kind)
    return Record(trial=trial, attempts=attempts, metrics=found.metrics, missing=found.missing, grade=grade)


def entry(level: str, x: float, start_ms: float, end_ms: float, **facts: Any) -> dict[str, Any]:
    """What the manifest says of one level."""
    own = {
        "candidate": "fast",
        "layer": "concurrency",
        "level": level,
        "x": x,
        "unit": "users",
        "arrivals": f"users:{x:g}",
    }
    own |= {"n_planned": None, "n_sent": None, "start_ms": start_ms, "end_ms": end_ms, "drained_ms": end_ms}
    own |= {"warmup_s": 0.0, "cooldown_s": 0.0, "ended": "completed", "why": "", "client": {}}
    return own | facts


@dataclass
class Made:
    """A run of these records."""

    made: Sequence[Record]
    levels: Sequence[dict[str, Any]] = ()
    slos: Sequence[dict[str, Any]] = ()
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def manifest(self) -> dict[str, Any]:
        return {"load": {"levels": list(self.levels), "slos": list(self.slos), **self.facts}}

    @property
    def records(self) -> Iterator[Record]:
        return iter(self.made)

    @cached_property
    def df(self) -> pd.DataFrame:
        asked: dict[str, dict[str, None]] = {}
        for one in self.made:
            asked.setdefault(one.trial.evalset, {})[one.trial.item] = None
        sets = [
            EvalSet(
                name=name, task="load", grader=GraderSpec(name="exact"),
                items=tuple(Item(id=item, row={"id": item}) for item in items),
            )
            for name, items in asked.items()
        ]  # fmt: skip
        names = dict.fromkeys(r.trial.candidate for r in self.made)
        rows = Rows("made", [Candidate(name=name) for name in names], sets, {0: START_NS})
        return frame_of(rows.row(one, 0) for one in self.made)


def closed_loop(users: int, rounds: int, *, first_ms: float = 100.0, at_ms: float = 0.0, **reply: Any) -> list[Record]:
    """``users`` who ask again as soon as they have their reply of 10 tokens, 10 ms apart: each stays first_ms + 90 ms."""
    level, stay = f"{users} users", first_ms + 90.0
    sends = [(at_ms + turn * stay, user) for turn in range(rounds) for user in range(users)]
    return [
        record(level, users, n, attempt(sent, first_ms=first_ms, **reply), item=f"i{n % 5}")
        for n, (sent, _) in enumerate(sends)
    ]
