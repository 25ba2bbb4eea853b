"""The account of one stream while it is read: pieces, calls, counts and the end, each dated by the read at hand."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from speedqual.endpoints.reading.faults import Fault
from speedqual.endpoints.reading.stops import stop_of
from speedqual.endpoints.reading.usage import merge
from speedqual.endpoints.reading.values import clean_text, join_text
from speedqual.records import Channel, Event, ServerTimings, Stop, ToolCall, Usage

__all__ = ["Transcript"]


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class Transcript:
    """What a reader tells while it goes through the frames of one reply.

    The decoder sets ``t_ns`` and ``read`` before each frame and calls ``flush`` after it; a reader calls the rest.
    Empty text is never an event.
    """

    def __init__(self) -> None:
        self.t_ns = 0
        self.read = 0
        self.events: list[Event] = []
        self.n_frames = 0
        self.t_end: int | None = None
        self.t_usage: int | None = None
        self.usage: Usage | None = None
        self.usage_raw: Mapping[str, Any] | None = None
        self.server: ServerTimings | None = None
        self.fault: Fault | None = None
        self.served_model: str | None = None
        self.served_tier: str | None = None
        self.served_speed: str | None = None
        self.cost_usd: float | None = None
        self.request_id: str | None = None
        self.flags: set[str] = set()
        self._texts: dict[int, list[str]] = {}
        self._reasoning: list[str] = []
        self._calls: dict[Hashable, _Call] = {}
        self._finishes: dict[int, str] = {}
        self._pending: list[tuple[Channel, str]] = []
        self._running_total: int | None = None

    # ---------------------------------------------------------------- told by a reader

    def answer(self, text: str, choice: int = 0, channel: Channel = "answer") -> None:
        """A piece of answer text (or, on that channel, of a refusal, which is an answer too)."""
        if text:
            self.choice(choice).append(text)
            self._pending.append((channel, text))

    def refusal(self, text: str, choice: int = 0) -> None:
        """A piece of the model's refusal: answer text on a channel of its own."""
        if text:
            self.flags.add("refusal")
            self.answer(text, choice, "refusal")

    def reasoning(self, text: str, choice: int = 0) -> None:
        """A piece of the model's thinking."""
        if text:
            if not choice:
                self._reasoning.append(text)
            self._pending.append(("reasoning", text))

    def tool(
        self, key: Hashable, name: str = "", arguments: str | Mapping[str, Any] = "", *, call_id: str = ""
    ) -> None:
        """A piece of the call ``key``. A name that repeats is said once; another id under one key is a new call."""
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        call = self._calls.get(key)
        while call is not None and call_id and call.id and call.id != call_id:
            key = (key, call_id)
            call = self._calls.get(key)
        if call is None:
            call = self._calls[key] = _Call(id=call_id)
        new_name = "" if name == call.name else name
        call.name += new_name
        if arguments:
            call.arguments.append(arguments)
        if new_name or arguments:
            self._pending.append(("tool", new_name + arguments))

    def choice(self, index: int) -> list[str]:
        """The pieces of one choice's answer; asking for it makes it known."""
        return self._texts.setdefault(index, [])

    def finish(self, reason: str | None, choice: int = 0) -> None:
        """The finish reason of a choice, as sent. That alone makes a stream complete once all choices have one."""
        if reason and reason != "null":
            self._finishes[choice] = clean_text(reason)
            if all(index in self._finishes for index in self._texts):
                self.end()

    def end(self) -> None:
        """The protocol's own end marker; none after an error."""
        if self.fault is None:
            self.t_end = self.t_ns

    def fail(self, fault: Fault) -> None:
        """An error inside the stream: whatever else was seen, it did not end well."""
        self.fault, self.t_end = fault, None

    def count(self, usage: Usage, raw: Mapping[str, Any], *, running: bool = True) -> None:
        """Token counts; later ones replace earlier ones. ``running``: they count all that came up to this frame."""
        self.usage = merge(self.usage, usage)
        self.usage_raw, self.t_usage = raw, self.t_ns
        if running:
            self._running_total = usage.n_out

    def so_far(self, n_out: int | None) -> None:
        """This frame says how many tokens were sent up to and with it."""
        self._running_total = n_out

    def timed(self, server: ServerTimings | None) -> None:
        """Times as the server gives them."""
        if server is not None:
            self.server = merge(self.server, server)

    # ---------------------------------------------------------------- told by the decoder

    def flush(self) -> None:
        """The frame is read: its pieces become events, one a channel."""
        if self._pending:
            pieces, self._pending = self._pending, []
            self.n_frames += 1
            *before, (channel, text) = pieces if len(pieces) == 1 else _by_channel(pieces)
            for other, piece in before:
                self.events.append(Event(self.t_ns, other, clean_text(piece), self.read))
            self.events.append(Event(self.t_ns, channel, clean_text(text), self.read, self._running_total or None))
        self._running_total = None

    # ---------------------------------------------------------------- asked at the end

    @property
    def text(self) -> str:
        """The answer of choice 0."""
        return join_text(self._texts.get(0, []))

    @property
    def reasoning_text(self) -> str:
        """The thinking of choice 0."""
        return join_text(self._reasoning)

    @property
    def choices(self) -> tuple[str, ...]:
        """The answers of all choices, when there was more than one."""
        if len(self._texts) < 2:
            return ()
        return tuple(join_text(self._texts[index]) for index in sorted(self._texts))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls in the order in which they began."""
        return tuple(ToolCall(clean_text(c.name), join_text(c.arguments)) for c in self._calls.values())

    @property
    def finish_reason(self) -> str | None:
        """The finish reason of choice 0, as sent."""
        return self._finishes.get(0)

    @property
    def stop(self) -> Stop | None:
        """The finish reason, normalised."""
        return stop_of(self.finish_reason)

    @property
    def has_answer(self) -> bool:
        """Did choice 0 say anything but thoughts?"""
        return bool(self._texts.get(0) or self._calls)


def _by_channel(pieces: list[tuple[Channel, str]]) -> list[tuple[Channel, str]]:
    joined: dict[Channel, str] = {}
    for channel, text in pieces:
        joined[channel] = joined.get(channel, "") + text
    return list(joined.items())
