"""How many tokens, and who counted them."""

from __future__ import annotations

from speedqual.timing.contract import Absent, Value, metric
from speedqual.timing.stream import Stream

__all__: list[str] = []


@metric(
    unit="tokens",
    formula="server usage (a running count: its last value), reasoning included once; else a tokenizer; else none",
    undefined="the server did not say and no tokenizer was given",
    source="as token_source says",
    needs_success=False,
)
def n_out(stream: Stream) -> Value:
    """Output tokens. Never the number of chunks, never the limit that was asked for."""
    n, _ = stream.tokens
    return Absent("the server did not say, and no tokenizer was given") if n is None else n


@metric(
    unit="tokens",
    formula="reasoning tokens as the server counts them, already inside n_out",
    undefined="the server did not say",
    source="server usage",
    needs_success=False,
)
def n_reasoning(stream: Stream) -> Value:
    """Tokens of thought, billed as output."""
    n = stream.attempt.usage.n_reasoning
    return Absent("the server did not say") if n is None else n


@metric(
    unit="tokens",
    formula="all prompt tokens, those read from or written to a cache included",
    undefined="the server did not say",
    source="server usage",
    needs_success=False,
)
def n_prompt(stream: Stream) -> Value:
    """Input tokens, normalised over protocols that leave the cached ones out."""
    n = stream.attempt.usage.n_prompt
    return Absent("the server did not say") if n is None else n


@metric(
    unit="tokens",
    formula="prompt tokens read from the server's prefix cache, already inside n_prompt",
    undefined="the server did not say",
    source="server usage",
    needs_success=False,
)
def n_cached(stream: Stream) -> Value:
    """What the prefix cache saved."""
    n = stream.attempt.usage.n_cached
    return Absent("the server did not say") if n is None else n


@metric(
    unit="name",
    formula="usage | server_timings | tokenizer:NAME | none",
    undefined="never; none means that nobody counted",
    source="where n_out came from",
    needs_success=False,
)
def token_source(stream: Stream) -> Value:
    """Who counted the output tokens. Two sources are never compared in one chart without saying so."""
    return stream.tokens[1]
