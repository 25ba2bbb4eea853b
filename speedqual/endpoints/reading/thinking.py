"""``<think>`` tags that a server without a reasoning parser leaves in the answer: split out on demand.

The record keeps the text as it was sent. This gives another reading of it, in which the thinking is reasoning.
"""

from __future__ import annotations

import re
from dataclasses import replace

from speedqual.records import Attempt, Channel, Event

__all__ = ["has_think_tags", "split_think"]

_OPEN = re.compile(r"\s*<(think|thinking|thought|reasoning)>\n?")


def has_think_tags(attempt: Attempt) -> bool:
    """Does the answer begin with an opening tag?"""
    return not attempt.reasoning and _OPEN.match(attempt.text) is not None


def split_think(attempt: Attempt) -> Attempt:
    """The attempt with the tagged part as reasoning and the rest, without leading blanks, as the answer.

    An event that holds the end of the thinking and the begin of the answer becomes two; tags alone are no events. An
    answer that was cut off before the closing tag is all reasoning.
    """
    opened = _OPEN.match(attempt.text)
    if opened is None or attempt.reasoning:
        return attempt
    close = f"</{opened.group(1)}>"
    end = attempt.text.find(close, opened.end())
    thought_end = len(attempt.text) if end < 0 else end
    rest = "" if end < 0 else attempt.text[end + len(close) :]
    answer = rest.lstrip()
    answer_start = len(attempt.text) - len(answer)
    events = _relabel(attempt.timeline.events, opened.end(), thought_end, answer_start)
    return replace(
        attempt,
        text=answer,
        reasoning=attempt.text[opened.end() : thought_end].strip(),
        timeline=replace(attempt.timeline, events=events),
        flags=(*attempt.flags, "think_tags_split"),
    )


def _relabel(events: tuple[Event, ...], begin: int, thought_end: int, answer_start: int) -> tuple[Event, ...]:
    """Answer events cut at the borders of thinking ``[begin, thought_end)`` and answer ``[answer_start, …)``."""
    made: list[Event] = []
    at = 0
    for event in events:
        if event.channel != "answer":
            made.append(event)
            continue
        after = at + len(event.text)
        borders: tuple[tuple[Channel, int, int], ...] = (
            ("reasoning", max(at, begin), min(after, thought_end)),
            ("answer", max(at, answer_start), after),
        )
        for channel, lo, hi in borders:
            if lo < hi:
                made.append(replace(event, channel=channel, text=event.text[lo - at : hi - at]))
        at = after
    return tuple(made)
