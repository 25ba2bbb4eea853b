"""What a trial cost, every attempt included."""

from __future__ import annotations

import math

from speedqual.records import Attempt, Price, Usage
from speedqual.timing.contract import Absent, Value, metric
from speedqual.timing.stream import Stream

__all__ = ["usage_cost_usd"]

PER_MTOK = 1e-6


def _input_cost(usage: Usage, price: Price, notes: list[str]) -> float | Absent:
    """Fresh, cached and cache-written prompt tokens, each at its own price."""
    if usage.n_prompt is None:
        return Absent("the server did not say how many prompt tokens it read")
    if price.input_usd_per_mtok is None:
        return Absent("the price of input tokens is unknown")
    cached, written = usage.n_cached or 0, usage.n_cache_write or 0
    fresh = max(0, usage.n_prompt - cached - written)
    total = fresh * price.input_usd_per_mtok
    for n, own, note in (
        (cached, price.cached_usd_per_mtok, "cached_at_input_price"),
        (written, price.cache_write_usd_per_mtok, "cache_write_at_input_price"),
    ):
        if n and own is None:
            notes.append(note)
        total += n * (price.input_usd_per_mtok if own is None else own)
    return total * PER_MTOK


def usage_cost_usd(usage: Usage, price: Price, notes: list[str] | None = None) -> float | Absent:
    """USD of one reply by its usage: input, cached input, cache writes, and output with reasoning once.

    A cached token without a price of its own costs as much as any input token, and ``notes`` says so.
    """
    read = _input_cost(usage, price, [] if notes is None else notes)
    if isinstance(read, Absent):
        return read
    if usage.n_out is None:
        return Absent("the server did not say how many tokens it wrote")
    if price.output_usd_per_mtok is None:
        return Absent("the price of output tokens is unknown")
    return read + usage.n_out * price.output_usd_per_mtok * PER_MTOK


def _attempt_cost(attempt: Attempt, stream: Stream) -> float | Absent:
    if attempt.cost_usd is not None and 0 <= attempt.cost_usd < math.inf:
        stream.notes.append("cost_from_endpoint")
        return attempt.cost_usd
    if _unbilled(attempt):
        return 0.0
    if stream.price is None:
        return Absent("the price of this candidate is unknown")
    return usage_cost_usd(attempt.usage, stream.price, stream.notes)


def _unbilled(attempt: Attempt) -> bool:
    """A request that was turned away before any model ran, or never arrived, costs nothing."""
    return attempt.outcome == "unreachable" or (attempt.outcome == "http_error" and attempt.usage.n_out is None)


@metric(
    unit="USD",
    formula="Σ over attempts: (prompt − cached − cache-written) × input + cached × cached price"
    " + cache-written × its price + n_out × output price; what the endpoint sends as cost goes first",
    undefined="the price or a token count is unknown; unknown is never free",
    source="server usage and the dated price table, or the endpoint (flag cost_from_endpoint)",
    needs_success=False,
)
def cost_usd(stream: Stream) -> Value:
    """Money spent on this trial. Reasoning is inside n_out and is paid once; refused requests cost nothing."""
    total = 0.0
    for attempt in stream.attempts:
        cost = _attempt_cost(attempt, stream)
        if isinstance(cost, Absent):
            return cost if len(stream.attempts) == 1 else Absent(f"attempt {attempt.number}: {cost}")
        total += cost
    return total


@metric(
    unit="count",
    formula="attempts made for this trial",
    undefined="never",
    source="client",
    needs_success=False,
)
def attempts(stream: Stream) -> Value:
    """Requests sent until one succeeded or the retries were used up. Each is kept on its own in the record."""
    return len(stream.attempts)
