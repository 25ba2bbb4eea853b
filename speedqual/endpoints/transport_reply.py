"""An exchange that is over → ``RawReply``: which clock dates the reads, what is kept of the head, secrets out."""

from __future__ import annotations

from dataclasses import dataclass

from speedqual.endpoints.access import scrub, scrub_bytes
from speedqual.endpoints.base import RawReply, Read
from speedqual.endpoints.transport import Arrival, Exchange

__all__ = ["ClockCheck", "raw_reply", "waits_ns"]

STEP_NS = 50_000
"""CLOCK_REALTIME may move this far against the monotonic clock within one request; more is a step of the clock."""


@dataclass(frozen=True, slots=True)
class ClockCheck:
    """CLOCK_REALTIME − ``perf_counter_ns`` before a request and after it."""

    before_ns: int
    after_ns: int | None = None

    def again(self, after_ns: int) -> ClockCheck:
        """The same with the reading after the reply."""
        return ClockCheck(self.before_ns, after_ns)

    def stamps_hold(self, exchange: Exchange) -> bool:
        """Whether the kernel's stamps can date this reply: all there, no step, none later than our own reading."""
        seen = [a for a in (exchange.head, exchange.last, *exchange.arrivals) if a is not None]
        if not seen or (self.after_ns is not None and abs(self.after_ns - self.before_ns) > STEP_NS):
            return False
        offset = self.before_ns
        return all(a.real_ns and a.real_ns - offset <= a.read_ns + STEP_NS for a in seen)


def raw_reply(
    exchange: Exchange,
    clocks: ClockCheck,
    *,
    status: int | None,
    deadline: str | None,
    secrets: tuple[str, ...],
) -> RawReply:
    """The exchange as the protocols read it, whole or so far. ``t_close`` is the arrival of the last bytes."""
    by_kernel = clocks.stamps_hold(exchange)
    offset = clocks.before_ns if by_kernel else None
    last = exchange.last
    return RawReply(
        t_send=exchange.t_send,
        t_headers=stamp_ns(exchange.head, offset) if exchange.head is not None else None,
        t_close=None if last is None else stamp_ns(last, offset),
        status=status,
        headers={name: scrub(value, secrets) for name, value in exchange.headers.items()},
        reads=_reads(exchange.arrivals, offset, secrets),
        ending="deadline" if deadline else exchange.ending,
        deadline=deadline,
        error=scrub(exchange.error, secrets),
        stamp=_stamp(exchange, by_kernel=by_kernel),
        connection=("reused" if exchange.reused else "new") if exchange.begun else "",
    )


def _stamp(exchange: Exchange, *, by_kernel: bool) -> str:
    if exchange.last is None:
        return "none"
    if not exchange.begun:
        return "task"
    return "kernel" if by_kernel else "data_received"


def stamp_ns(arrival: Arrival, offset_ns: int | None) -> int:
    """When the bytes arrived, ``perf_counter_ns``: by the kernel when the offset is known, else by our reading."""
    return arrival.read_ns if offset_ns is None else min(arrival.real_ns - offset_ns, arrival.read_ns)


def _reads(arrivals: list[Arrival], offset: int | None, secrets: tuple[str, ...]) -> tuple[Read, ...]:
    return tuple(Read(stamp_ns(a, offset), scrub_bytes(a.data, secrets)) for a in arrivals)


def waits_ns(exchange: Exchange, clocks: ClockCheck) -> list[int]:
    """How long each read lay in the kernel before it was taken; empty when the kernel's stamps cannot be used."""
    if not clocks.stamps_hold(exchange):
        return []
    return [a.read_ns - (a.real_ns - clocks.before_ns) for a in exchange.arrivals]
