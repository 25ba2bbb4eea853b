"""What a server delivered to all its users together, and whether the client asked as fast as it meant to."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from speedqual.records import Attempt
from speedqual.timing.stream import MS, Stream
from speedqual.timing.summary import mean, quantile

__all__ = ["Flow", "Offered", "Throughput", "flow_of", "offered", "throughput"]

STEADY_SHARE = 0.9
BIN_NS = 1_000_000_000
STEADY_LEAST_S = 1.0
"""The rate of a shorter steady time is that of a few clumps; half of the run is enough where that is less."""


@dataclass(frozen=True, slots=True)
class Flow:
    """One reply as a flow of tokens: ``tokens[i]`` came at ``times_ns[i]``; in flight from ``t_send`` to the last."""

    t_send: int
    times_ns: tuple[int, ...]
    tokens: tuple[float, ...]

    @property
    def t_last(self) -> int:
        return self.times_ns[-1]


def flow_of(attempt: Attempt) -> Flow | None:
    """The flow of a reply; None when nothing was sent, nothing came or nobody counted its tokens.

    Tokens are the server's running count where it sends one, else spread evenly over the events.
    """
    stream = Stream((attempt,))
    running = stream.cumulative_tokens
    if stream.t_send is None or running is None:
        return None
    each = (running[0], *(after - before for before, after in pairwise(running)))
    return Flow(stream.t_send, tuple(event.t_ns for event in stream.events), each)


@dataclass(frozen=True, slots=True)
class Throughput:
    """Aggregate rates over the whole run, and over the steady time with at least 90 % of the peak concurrency.

    ``steady_tok_s`` is None where that time is shorter than a second and than half of the run. ``peak_tok_s`` is the
    best of equal bins of about a second that tile the run, so that it is never under the average.
    """

    n: int
    window_s: float | None
    tok_s: float | None
    req_s: float | None
    steady_window_s: float | None
    steady_tok_s: float | None
    peak_tok_s: float | None
    peak_concurrency: int


def throughput(flows: Iterable[Flow]) -> Throughput:
    """Tokens of counted events inside the window / window. Never the mean speed, nor tokens / mean latency."""
    seen = list(flows)
    if not seen:
        return Throughput(0, None, None, None, None, None, None, 0)
    start, end = min(flow.t_send for flow in seen), max(flow.t_last for flow in seen)
    if end <= start:
        return Throughput(len(seen), None, None, None, None, None, None, len(seen))
    seconds = (end - start) / 1e9
    times, running = _token_clock(seen)
    peak, spans = _steady_spans(seen)
    steady_s = sum(b - a for a, b in spans) / 1e9
    enough = steady_s >= min(STEADY_LEAST_S, seconds / 2)
    steady = sum(_tokens_in(times, running, a, b) for a, b in spans) / steady_s if enough else None
    return Throughput(
        n=len(seen),
        window_s=seconds,
        tok_s=running[-1] / seconds,
        req_s=len(seen) / seconds,
        steady_window_s=steady_s or None,
        steady_tok_s=steady,
        peak_tok_s=max(_best_bin(times, running, start, end), steady or 0.0),
        peak_concurrency=peak,
    )


def _token_clock(flows: Sequence[Flow]) -> tuple[list[int], list[float]]:
    """All events of all replies in order of time, and the tokens that had come by each."""
    arrivals = sorted((t, n) for flow in flows for t, n in zip(flow.times_ns, flow.tokens, strict=True))
    running, total = [], 0.0
    for _, n in arrivals:
        total += n
        running.append(total)
    return [t for t, _ in arrivals], running


def _tokens_in(times: Sequence[int], running: Sequence[float], after: int, until: int) -> float:
    """Tokens with ``after < t <= until``."""
    before, upto = bisect_right(times, after), bisect_right(times, until)
    return (running[upto - 1] if upto else 0.0) - (running[before - 1] if before else 0.0)


def _steady_spans(flows: Sequence[Flow]) -> tuple[int, list[tuple[int, int]]]:
    """``(peak, spans)``: the peak concurrency, and where at least 90 % of it was in flight."""
    changes = sorted([(flow.t_send, 1) for flow in flows] + [(flow.t_last, -1) for flow in flows])
    levels: list[tuple[int, int]] = []
    level = 0
    for t, change in changes:
        level += change
        levels.append((t, level))
    peak = max(n for _, n in levels)
    return peak, [(a, b) for (a, n), (b, _) in pairwise(levels) if n >= STEADY_SHARE * peak and b > a]


def _best_bin(times: Sequence[int], running: Sequence[float], start: int, end: int) -> float:
    n_bins = max(1, math.ceil((end - start) / BIN_NS))
    edges = [start + (end - start) * i // n_bins for i in range(n_bins + 1)]
    edges[0] -= 1  # the first bin holds its left edge too
    width_s = (end - start) / n_bins / 1e9
    return max(_tokens_in(times, running, a, b) for a, b in pairwise(edges)) / width_s


@dataclass(frozen=True, slots=True)
class Offered:
    """What the schedule wanted against what was sent. ``client_limited``: the client, not the server, set the pace."""

    n: int
    offered_s: float | None
    achieved_s: float | None
    ratio: float | None
    lag_mean_ms: float | None
    lag_p99_ms: float | None
    lag_max_ms: float | None
    client_limited: bool


LAG_LIMIT_MS = 50.0
RATIO_LIMIT = 0.98


def offered(t_sched_ns: Sequence[int], t_send_ns: Sequence[int]) -> Offered:
    """Achieved over offered request rate, with the lag of each send behind its schedule. Pairs in the same order."""
    lags = sorted((sent - wanted) / MS for wanted, sent in zip(t_sched_ns, t_send_ns, strict=True))
    wanted, sent = _rate(t_sched_ns), _rate(t_send_ns)
    p99 = quantile(lags, 0.99).value
    ratio = sent / wanted if wanted and sent else None
    late = p99 is not None and p99 > LAG_LIMIT_MS
    slow = ratio is not None and ratio < RATIO_LIMIT
    return Offered(len(lags), wanted, sent, ratio, mean(lags), p99, lags[-1] if lags else None, late or slow)


def _rate(times_ns: Sequence[int]) -> float | None:
    """Requests a second between the first and the last; None for fewer than two moments."""
    span = max(times_ns) - min(times_ns) if times_ns else 0
    return (len(times_ns) - 1) * 1e9 / span if span > 0 else None
