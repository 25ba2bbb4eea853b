"""Streams by hand: milliseconds and texts in, an Attempt out."""

from collections.abc import Callable
from typing import Any

import pytest

from speedqual.records import Attempt, Event, Timeline, Usage

MS = 1_000_000


def build(
    *events: tuple[float, str, str] | tuple[float, str, str, int],
    usage: Usage | None = None,
    close: float | None = None,
    reads: list[int] | None = None,
    start: float = 0,
    sched: float | None = None,
    outcome: str = "ok",
    lag: float | None = None,
    **fields: Any,
) -> Attempt:
    """``events``: ``(ms, channel, text[, running token count])``; ``reads``: the read number of each event."""
    numbers = reads or list(range(1, len(events) + 1))
    seen = tuple(
        Event(int(event[0] * MS), event[1], event[2], read, event[3] if len(event) == 4 else None)
        for event, read in zip(events, numbers, strict=True)
    )
    timeline = Timeline(
        t_send=int(start * MS),
        t_sched=None if sched is None else int(sched * MS),
        events=seen,
        t_close=None if close is None else int(close * MS),
        client_lag_ns=None if lag is None else int(lag * MS),
    )
    text = "".join(event.text for event in seen if event.channel in ("answer", "refusal"))
    usage = usage or Usage()
    return Attempt(**{"number": 1, "text": text, **fields}, outcome=outcome, timeline=timeline, usage=usage)


@pytest.fixture
def reply() -> Callable[..., Attempt]:
    return build
