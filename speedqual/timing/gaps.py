"""How steady a stream was: gaps between chunks, stalls, and whether it slowed towards its end."""

from __future__ import annotations

import math
from bisect import bisect_left

from speedqual.timing.contract import Absent, Value, metric
from speedqual.timing.stream import MS, Stream

__all__ = ["DECAY_TOKENS", "STALL_MEDIANS", "STALL_NS"]

STALL_NS = 500 * MS
STALL_MEDIANS = 8
DECAY_TOKENS = 150

NO_GAP = Absent("fewer than two counted events")


def _gap_quantile(stream: Stream, q: float) -> Value:
    if not stream.gaps_ns:
        return NO_GAP
    ordered = sorted(stream.gaps_ns)
    place = q * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return (ordered[below] + (place - below) * (ordered[above] - ordered[below])) / MS


@metric(
    unit="ms",
    formula="median of the gaps between counted events, linear interpolation",
    undefined="fewer than two counted events",
    source="client stamps",
)
def chunk_gap_ms_p50(stream: Stream) -> Value:
    """The usual gap between chunks. Not an inter-token latency: a chunk can carry several tokens."""
    return _gap_quantile(stream, 0.50)


@metric(
    unit="ms",
    formula="95th percentile of the gaps between counted events, linear interpolation",
    undefined="fewer than two counted events",
    source="client stamps",
)
def chunk_gap_ms_p95(stream: Stream) -> Value:
    """The long gaps of this stream. Gaps inside one read count as 0, since their true value is hidden."""
    return _gap_quantile(stream, 0.95)


@metric(
    unit="ms",
    formula="largest gap between counted events",
    undefined="fewer than two counted events",
    source="client stamps",
)
def chunk_gap_ms_max(stream: Stream) -> Value:
    """The longest silence inside the reply."""
    return max(stream.gaps_ns) / MS if stream.gaps_ns else NO_GAP


def _stalls_ns(stream: Stream) -> list[int]:
    limit = max(STALL_NS, STALL_MEDIANS * (stream.median_gap_ns or 0))
    return [gap for gap in stream.gaps_ns if gap > limit]


@metric(
    unit="count",
    formula="gaps > max(0.5 s, 8 × the stream's median gap)",
    undefined="fewer than two counted events",
    source="client stamps",
)
def stalls(stream: Stream) -> Value:
    """How often the stream stood still."""
    return len(_stalls_ns(stream)) if stream.gaps_ns else NO_GAP


@metric(
    unit="share of 0 … 1",
    formula="sum of the stalled gaps / (last − first counted event)",
    undefined="fewer than two counted events, or all with one stamp",
    source="client stamps",
)
def stall_share(stream: Stream) -> Value:
    """The part of the decode time spent standing still."""
    if not stream.gaps_ns:
        return NO_GAP
    return sum(_stalls_ns(stream)) / stream.span_ns if stream.span_ns > 0 else Absent("all events bear one stamp")


@metric(
    unit="ratio",
    formula="tokens/s of the last third / tokens/s of the first third, thirds by token index",
    undefined=f"fewer than {DECAY_TOKENS} tokens; the stream was buffered; a third without any duration",
    source="client stamps; the server's running count, else n_out spread evenly over the events",
)
def decay_ratio(stream: Stream) -> Value:
    """Below 1: the stream slowed as its context grew.

    The first third runs from the first event to the one that completes a third of the tokens, the last from the one
    that completes two thirds to the end.
    """
    n_out, _ = stream.tokens
    running = stream.cumulative_tokens
    if n_out is None or running is None:
        return Absent("the number of tokens is unknown")
    if n_out < DECAY_TOKENS:
        return Absent(f"fewer than {DECAY_TOKENS} tokens")
    if stream.buffered:
        return Absent("not measurable: the stream was buffered on its way")
    total = running[-1]
    first = _rate(stream, running, 0, bisect_left(running, total / 3))
    last = _rate(stream, running, bisect_left(running, total * 2 / 3), len(running) - 1)
    return Absent("a third of the stream has no duration") if not first or not last else last / first


def _rate(stream: Stream, running: list[float], start: int, end: int) -> float | None:
    """Tokens a nanosecond between two events; None without duration."""
    span = stream.events[end].t_ns - stream.events[start].t_ns
    return (running[end] - running[start]) / span if span > 0 else None
