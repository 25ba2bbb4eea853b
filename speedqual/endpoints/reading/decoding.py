"""Stamped bytes → ``Attempt``: the part that all protocols share.

A protocol brings a ``Reader``, which tells a ``Transcript`` what each frame says. No bytes make it raise.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager

from speedqual.endpoints.base import RawReply, Read
from speedqual.endpoints.reading.faults import Fault
from speedqual.endpoints.reading.inflate import Inflated, inflate
from speedqual.endpoints.reading.reader import Decoder, Framing, Reader
from speedqual.endpoints.reading.reply_headers import cost_usd, rate_limits, request_id, retry_after_s, served_tier
from speedqual.endpoints.reading.transcript import Transcript
from speedqual.endpoints.reading.values import clean_json, clean_text
from speedqual.endpoints.reading.verdict import after_the_stream, before_the_stream
from speedqual.records import Attempt, Outcome, Timeline, Usage

__all__ = ["decode", "decode_in_steps"]

STEP_BYTES = 8192  # some 50 tokens: a few tenths of a millisecond


def decode(raw: RawReply, make_reader: Callable[[Transcript], Reader], framing: Framing) -> Attempt:
    """What the reply says, as attempt number 1."""
    steps = decode_in_steps(raw, make_reader, framing)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            attempt: Attempt = end.value
            return attempt


def decode_in_steps(
    raw: RawReply, make_reader: Callable[[Transcript], Reader], framing: Framing
) -> Generator[None, None, Attempt]:
    """The same, with a break after every ``STEP_BYTES`` or a little more."""
    body = inflate(raw.reads, raw.headers)
    decoder = Decoder(make_reader, framing)
    verdict = before_the_stream(raw, body, framing)
    if verdict is None:
        for reads in _pieces(body.reads):
            with _no_collection():
                for read in reads:
                    decoder.feed(read.t_ns, read.data)
            yield
        decoder.close()
        verdict = after_the_stream(raw, body, decoder)
    return _attempt(raw, body, decoder.out, *verdict)


def _pieces(reads: Sequence[Read]) -> Iterator[Sequence[Read]]:
    first = n_bytes = 0
    for number, read in enumerate(reads, 1):
        n_bytes += len(read.data)
        if n_bytes >= STEP_BYTES:
            yield reads[first:number]
            first, n_bytes = number, 0
    yield reads[first:]


@contextmanager
def _no_collection() -> Iterator[None]:
    """Nothing made here is part of a cycle: looking for cycles would cost a fifth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _attempt(raw: RawReply, body: Inflated, out: Transcript, outcome: Outcome, fault: Fault | None) -> Attempt:
    fault = fault or Fault()
    if body.was_compressed:
        out.flags.add("compressed")
    complete = outcome in ("ok", "empty", "filtered", "bad_payload")
    wait_s = retry_after_s(raw.headers)
    return Attempt(
        number=1,
        outcome=outcome,
        timeline=_timeline(raw, out, complete=complete),
        status=raw.status,
        text=out.text,
        reasoning=out.reasoning_text,
        tool_calls=out.tool_calls,
        choices=out.choices,
        finish_reason=out.finish_reason,
        stop=out.stop,
        usage=out.usage or Usage(),
        usage_raw=clean_json(out.usage_raw),
        server=out.server,
        error_code=fault.code,
        error_message=fault.message,
        retryable=fault.retryable,
        retry_after_s=fault.retry_after_s if wait_s is None else wait_s,
        deadline=raw.deadline if outcome == "timeout" else None,
        served_model=out.served_model,
        served_tier=out.served_tier or served_tier(raw.headers),
        served_speed=out.served_speed,
        rate=rate_limits(raw.headers),
        cost_usd=cost_usd(raw.headers) if out.cost_usd is None else out.cost_usd,
        request_id=clean_text(request_id(raw.headers) or out.request_id or "") or None,
        flags=tuple(sorted(out.flags)),
    )


def _timeline(raw: RawReply, out: Transcript, *, complete: bool) -> Timeline:
    return Timeline(
        t_send=raw.t_send,
        t_sched=raw.t_sched,
        t_headers=raw.t_headers,
        events=tuple(out.events),
        t_usage=out.t_usage,
        t_end=out.t_end if complete else None,
        t_close=raw.t_close,
        n_reads=len(raw.reads),
        n_frames=out.n_frames,
        stamp=raw.stamp,
        connection=raw.connection,
        client_lag_ns=raw.client_lag_ns,
    )
