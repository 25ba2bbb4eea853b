"""An exchange that is over → ``RawReply``: which clock dates the reads, what is kept of the head, secrets out."""

from __future__ import annotations

from dataclasses import dataclass

from speedqual.endpoints.access import scrub, scrub_bytes
from speedqual.endpoints.base import RawReply, Read
from speedqual.endpoints.transport.connection import Arrival, Exchange

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

    def offset_ns(self, exchange: Exchange) -> int | None:
        """The offset, if the kernel's stamps can date this reply: all there, no step, none later than our reading."""
        marks = [a for a in (exchange.head, exchange.last) if a is not None]
        stepped = self.after_ns is not None and abs(self.after_ns - self.before_ns) > STEP_NS
        if not marks or stepped:
            return None
        latest = self.before_ns + STEP_NS
        for real_ns, read_ns, _ in (*marks, *exchange.arrivals):
            if not real_ns or real_ns - read_ns > latest:
                return None
        return self.before_ns


def raw_reply(
    exchange: Exchange,
    clocks: ClockCheck,
    *,
    status: int | None,
    deadline: str | None,
    secrets: tuple[str, ...],
    t_sched: int | None = None,
    t_close: int | None = None,
    client_lag_ns: int | None = None,
) -> RawReply:
    """The exchange as the protocols read it, whole or so far.

    ``t_close``: when we gave up, None = the arrival of the last bytes.
    """
    offset = clocks.offset_ns(exchange)
    last = exchange.last
    return RawReply(
        t_send=exchange.t_send,
        t_sched=t_sched,
        client_lag_ns=client_lag_ns,
        t_headers=stamp_ns(exchange.head, offset) if exchange.head is not None else None,
        t_close=stamp_ns(last, offset) if t_close is None and last is not None else t_close,
        status=status,
        headers={name: scrub(value, secrets) for name, value in exchange.headers.items()},
        reads=_reads(exchange.arrivals, offset, secrets),
        ending="deadline" if deadline else exchange.ending,
        deadline=deadline,
        error=scrub(exchange.error, secrets),
        stamp=_stamp(exchange, by_kernel=offset is not None),
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
    real_ns, read_ns, _ = arrival
    return read_ns if offset_ns is None else min(real_ns - offset_ns, read_ns)


def _reads(arrivals: list[Arrival], offset: int | None, secrets: tuple[str, ...]) -> tuple[Read, ...]:
    if secrets:
        arrivals = [(real_ns, read_ns, scrub_bytes(data, secrets)) for real_ns, read_ns, data in arrivals]
    if offset is None:
        return tuple([Read(read_ns, data) for _, read_ns, data in arrivals])
    return tuple([Read(min(real_ns - offset, read_ns), data) for real_ns, read_ns, data in arrivals])


def waits_ns(exchange: Exchange, raw: RawReply) -> list[int]:
    """How long each read lay in the kernel before it was taken; empty when the kernel's stamps were not used."""
    if raw.stamp != "kernel":
        return []
    return [read_ns - read.t_ns for (_, read_ns, _), read in zip(exchange.arrivals, raw.reads, strict=True)]
