"""How long somebody waited: for the first token, for the answer, for the end; from the send, the schedule, the user."""

from __future__ import annotations

from speedqual.timing.contract import Absent, Value, metric
from speedqual.timing.stream import MS, Stream

__all__: list[str] = []

NO_SEND = Absent("the request was never sent")
NO_EVENT = Absent("no token came")
NO_SCHEDULE = Absent("the trial had no scheduled time")


def _between(start: int | None, end: int | None, no_start: Absent, no_end: Absent) -> Value:
    if start is None:
        return no_start
    return no_end if end is None else (end - start) / MS


def _first(stream: Stream) -> int | None:
    return stream.events[0].t_ns if stream.events else None


def _last(stream: Stream) -> int | None:
    return stream.events[-1].t_ns if stream.events else None


@metric(
    unit="ms",
    formula="first counted event of any channel − t_send",
    undefined="nothing was sent, or no counted event came",
    source="client stamps",
)
def ttft_ms(stream: Stream) -> Value:
    """Time to first token. A role-only, empty, usage or keep-alive event is no token; a reasoning token is one.

    Other tools count from the first chunk of any kind, or from the headers.
    """
    return _between(stream.t_send, _first(stream), NO_SEND, NO_EVENT)


@metric(
    unit="ms",
    formula="first counted event that is not reasoning − t_send",
    undefined="only reasoning came, or nothing",
    source="client stamps",
)
def ttfa_ms(stream: Stream) -> Value:
    """Time to first answer: what a reader waits for when the model thinks first. A tool call counts."""
    event = stream.first_answer
    missing = Absent("only reasoning came, no answer") if stream.events else NO_EVENT
    return _between(stream.t_send, event.t_ns if event else None, NO_SEND, missing)


@metric(
    unit="ms",
    formula="last counted event − t_send",
    undefined="nothing was sent, or no counted event came",
    source="client stamps",
)
def e2e_ms(stream: Stream) -> Value:
    """The whole reply, without the usage chunk, the end marker and the closing that follow the last token."""
    return _between(stream.t_send, _last(stream), NO_SEND, NO_EVENT)


@metric(
    unit="ms",
    formula="t_close − last counted event",
    undefined="no counted event came, or the close was not seen",
    source="client stamps",
)
def close_lag_ms(stream: Stream) -> Value:
    """What came after the last token: finish, usage, end marker, close. Kept apart so that it is no decode time."""
    return _between(_last(stream), stream.attempt.timeline.t_close, NO_EVENT, Absent("the close was not seen"))


@metric(
    unit="ms",
    formula="t_send of the first attempt − t_sched",
    undefined="the trial had no scheduled time (closed loop), or nothing was sent",
    source="client stamps, arrival schedule",
    needs_success=False,
)
def sched_lag_ms(stream: Stream) -> Value:
    """How late the client was. It is the client's own delay: neither inside TTFT nor out of sight."""
    return _between(stream.t_sched, stream.t_user, NO_SCHEDULE, NO_SEND)


@metric(
    unit="ms",
    formula="last counted event − t_sched",
    undefined="the trial had no scheduled time (closed loop), or no counted event came",
    source="client stamps, arrival schedule",
)
def e2e_sched_ms(stream: Stream) -> Value:
    """The whole wait from the moment the schedule wanted the request: free of coordinated omission."""
    return _between(stream.t_sched, _last(stream), NO_SCHEDULE, NO_EVENT)


@metric(
    unit="ms",
    formula="first counted event of the successful attempt − t_send of the first attempt",
    undefined="no attempt succeeded",
    source="client stamps",
)
def ttft_user_ms(stream: Stream) -> Value:
    """What the user felt: failed attempts and the waits between them are in it."""
    return _between(stream.t_user, _first(stream), NO_SEND, NO_EVENT)


@metric(
    unit="ms",
    formula="last counted event of the successful attempt − t_send of the first attempt",
    undefined="no attempt succeeded",
    source="client stamps",
)
def e2e_user_ms(stream: Stream) -> Value:
    """The user's whole wait, retries included."""
    return _between(stream.t_user, _last(stream), NO_SEND, NO_EVENT)


@metric(
    unit="ms",
    formula="first counted event that is not reasoning − first reasoning event",
    undefined="no reasoning came, no answer came, or the answer came first",
    source="client stamps",
)
def thinking_ms(stream: Stream) -> Value:
    """How long the model thought in sight of the client before it answered."""
    thought, answer = stream.first_thought, stream.first_answer
    if thought is None:
        return Absent("no reasoning came")
    if answer is None:
        return Absent("only reasoning came, no answer")
    if answer.t_ns < thought.t_ns:
        return Absent("the answer came before any reasoning")
    return (answer.t_ns - thought.t_ns) / MS
