"""One trial's attempts as the metric definitions see them: the attempt that counts, its events, its tokens.

Definitions never look at what an answer says; they see stamps, lengths and counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from statistics import median

from speedqual.records import Attempt, Event, Price
from speedqual.timing.tokenizer import Tokenizer

__all__ = ["MS", "Stream"]

MS = 1_000_000
"""Nanoseconds in a millisecond."""

BUFFERED_EVENTS_A_READ = 8
BUFFERED_IDLE_NS = 50 * MS


@dataclass
class Stream:
    """The attempts of one trial. ``attempt`` is the successful one, else the last; latencies are its own.

    A reply that the check of a route turned down (flag ``rejected``) is no success.
    """

    attempts: Sequence[Attempt]
    price: Price | None = None
    tokenizer: Tokenizer | None = None
    notes: list[str] = field(default_factory=list)  # flags that a definition raised on its way

    @cached_property
    def attempt(self) -> Attempt:
        good = [attempt for attempt in self.attempts if attempt.outcome == "ok" and "rejected" not in attempt.flags]
        return good[-1] if good else self.attempts[-1]

    @property
    def events(self) -> tuple[Event, ...]:
        return self.attempt.timeline.events

    @property
    def first(self) -> Event | None:
        return self.events[0] if self.events else None

    @property
    def t_send(self) -> int | None:
        return self.attempt.timeline.t_send

    @property
    def t_user(self) -> int | None:
        """When the user's waiting began: the first attempt that reached the socket."""
        sent = (attempt.timeline.t_send for attempt in self.attempts)
        return next((t for t in sent if t is not None), None)

    @property
    def t_sched(self) -> int | None:
        return self.attempts[0].timeline.t_sched

    @cached_property
    def first_answer(self) -> Event | None:
        return next((event for event in self.events if event.channel != "reasoning"), None)

    @cached_property
    def first_thought(self) -> Event | None:
        return next((event for event in self.events if event.channel == "reasoning"), None)

    @cached_property
    def gaps_ns(self) -> list[int]:
        """Nanoseconds between neighbouring counted events; 0 within one read. Shape [n_events - 1]."""
        times = [event.t_ns for event in self.events]
        return [after - before for before, after in pairwise(times)]

    @cached_property
    def median_gap_ns(self) -> float | None:
        return median(self.gaps_ns) if self.gaps_ns else None

    @property
    def span_ns(self) -> int:
        """Last counted event minus the first."""
        return self.events[-1].t_ns - self.events[0].t_ns if self.events else 0

    @cached_property
    def events_by_read(self) -> Counter[int]:
        return Counter(event.read for event in self.events)

    @cached_property
    def n_coalesced(self) -> int:
        """Events that share their read, and so their stamp, with another."""
        return sum(n for n in self.events_by_read.values() if n > 1)

    @cached_property
    def buffered(self) -> bool:
        """Whether something between server and client let the events through in clumps.

        At least half of the events coalesced, at least 8 events a read, and either a single read or a median idle time
        of at least 50 ms between reads. A fast server sends many small reads and is not caught.
        """
        n, reads = len(self.events), len(self.events_by_read)
        if n < BUFFERED_EVENTS_A_READ or 2 * self.n_coalesced < n or n < BUFFERED_EVENTS_A_READ * reads:
            return False
        if reads == 1:
            return True
        stamps = sorted({event.read: event.t_ns for event in self.events}.values())
        idle = [after - before for before, after in pairwise(stamps)]
        return median(idle) >= BUFFERED_IDLE_NS

    @cached_property
    def tokens(self) -> tuple[int | None, str]:
        """``(n_out, source)`` of the attempt that counts; reasoning is included once."""
        usage = self.attempt.usage
        if usage.n_out:
            return usage.n_out, usage.source
        last = self.events[-1].n_tokens if self.events else None
        if last:
            return last, "usage"
        if usage.n_out == 0 and not self.events:
            return 0, usage.source
        if self.tokenizer is not None and self.events:
            return self._tokenized(self.tokenizer), f"tokenizer:{self.tokenizer.name}"
        return None, "none"

    def _tokenized(self, tokenizer: Tokenizer) -> int:
        """The whole text of each channel in one call: per-chunk calls count special tokens again and again."""
        whole: dict[str, list[str]] = {}
        for event in self.events:
            whole.setdefault(event.channel, []).append(event.text)
        return sum(tokenizer.count("".join(pieces)) for pieces in whole.values())

    @cached_property
    def first_chunk_tokens(self) -> int | None:
        """Tokens of the first event: the server's running count, else the tokenizer; None = unknown."""
        if self.first is None:
            return None
        if self.first.n_tokens is not None:
            return self.first.n_tokens
        return self.tokenizer.count(self.first.text) if self.tokenizer is not None else None

    @cached_property
    def cumulative_tokens(self) -> list[float] | None:
        """Tokens out after each event. Where the server gives no running count, spread evenly over the events."""
        running = [event.n_tokens for event in self.events]
        if running and all(n is not None for n in running):
            return [float(n) for n in running if n is not None]
        n_out, _ = self.tokens
        if not n_out or not self.events:
            return None
        return [n_out * (i + 1) / len(self.events) for i in range(len(self.events))]
