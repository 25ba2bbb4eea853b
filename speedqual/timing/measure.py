"""All metrics of one trial, each from its one definition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from speedqual.records import Attempt, Price
from speedqual.timing import cost, decoding, gaps, latency, tokens
from speedqual.timing.contract import METRICS, Absent, Metric
from speedqual.timing.stream import MS, Stream
from speedqual.timing.tokenizer import Tokenizer

__all__ = ["DEFINITIONS", "LAG_LIMIT_NS", "Measured", "measure"]

_CHAPTERS = [chapter.__name__ for chapter in (latency, decoding, tokens, gaps, cost)]

DEFINITIONS: tuple[Metric, ...] = tuple(
    sorted(METRICS.values(), key=lambda definition: _CHAPTERS.index(definition.apply.__module__))
)
"""Every metric of a trial in the order in which they are shown."""

LAG_LIMIT_NS = 5 * MS
LAG_SHARE_OF_GAP = 0.05
LAG_RESOLUTION_NS = 1_500_000  # an event loop's timer cannot tell less


@dataclass(frozen=True, slots=True)
class Measured:
    """``metrics`` holds every name of the contract; ``missing`` says why a value is None; ``flags`` taint them."""

    metrics: dict[str, float | int | str | None]
    missing: dict[str, str]
    flags: tuple[str, ...]


def measure(
    attempts: Sequence[Attempt],
    *,
    price: Price | None = None,
    tokenizer: Tokenizer | None = None,
    failed_too: bool = False,
) -> Measured:
    """Every metric of a trial from its attempts.

    Numbers that describe a complete reply are None when no attempt ended ``ok``, so that a failure never enters a
    percentile. ``failed_too`` gives what was seen of a failed reply instead: to look at one stream, not to summarise.
    """
    if not attempts:
        raise ValueError("a trial has at least one attempt")
    stream = Stream(attempts, price, tokenizer)
    failure = None if failed_too or stream.attempt.outcome == "ok" else stream.attempt.outcome
    metrics: dict[str, float | int | str | None] = {}
    missing: dict[str, str] = {}
    for definition in DEFINITIONS:
        name, value = definition.name, _apply(definition, stream, failure)
        if isinstance(value, Absent):
            metrics[name], missing[name] = None, str(value)
        else:
            metrics[name] = value
    return Measured(metrics, missing, _flags(stream, metrics))


def _apply(definition: Metric, stream: Stream, failure: str | None) -> float | int | str | Absent:
    if failure is not None and definition.needs_success:
        return Absent(f"no attempt succeeded: {failure}")
    return definition.apply(stream)


def client_lagged(stream: Stream) -> bool:
    """Whether the client's own event loop was late by more than 5 ms, or 5 % of the median gap, in this request's time.

    The second limit never falls under 1.5 ms, since an event loop's timer ticks in milliseconds.
    """
    lag = stream.attempt.timeline.client_lag_ns
    if lag is None:
        return False
    gap = stream.median_gap_ns
    by_gap = LAG_LIMIT_NS if gap is None else max(LAG_SHARE_OF_GAP * gap, LAG_RESOLUTION_NS)
    return lag > min(LAG_LIMIT_NS, by_gap)


def _flags(stream: Stream, metrics: dict[str, float | int | str | None]) -> tuple[str, ...]:
    """What a reader must know beside the numbers, in a fixed order, each once."""
    attempt = stream.attempt
    answered = bool(attempt.text or attempt.tool_calls)
    raised = {
        "coalesced": stream.n_coalesced > 0,
        "buffered": stream.buffered,
        "first_chunk_unknown": metrics["tpot_ms"] is not None and stream.first_chunk_tokens is None,
        "zero_usage": attempt.usage.n_out == 0 and bool(stream.events),
        "filtered": attempt.stop == "filter" and answered,
        "client_lag": client_lagged(stream),
        "rate_limited": any(tried.status == 429 for tried in stream.attempts),
    }
    named = (name for name, is_so in raised.items() if is_so)
    return tuple(dict.fromkeys(chain(attempt.flags, named, stream.notes)))
