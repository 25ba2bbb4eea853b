"""How fast the tokens flowed once they flowed."""

from __future__ import annotations

from speedqual.timing.contract import Absent, Value, metric
from speedqual.timing.stream import MS, Stream

__all__: list[str] = []


def _unmeasurable(stream: Stream) -> Absent | None:
    """Why no speed can be read off this stream, whatever the unit; None when one can."""
    if not stream.events:
        return Absent("no token came")
    if len(stream.events) == 1:
        return Absent("everything came in one chunk")
    if len(stream.events_by_read) == 1:
        return Absent("everything came in one read")
    if stream.buffered:
        return Absent("not measurable: the stream was buffered on its way")
    return Absent("all events bear one stamp") if stream.span_ns <= 0 else None


def _tokens_after_first(stream: Stream) -> int | Absent:
    n_out, _ = stream.tokens
    if n_out is None:
        return Absent("the number of tokens is unknown")
    if n_out <= 1:
        return Absent("a reply of one token has no rate")
    if len(stream.attempt.choices) > 1:
        return Absent("the usage counts several choices together")
    rest = n_out - (stream.first_chunk_tokens or 1)
    return rest if rest > 0 else Absent("all tokens came in the first chunk")


@metric(
    unit="ms",
    formula="(last − first counted event) / (n_out − tokens of the first chunk; 1 where unknown, flagged)",
    undefined="n_out unknown or ≤ 1; everything in one chunk or one read; the stream was buffered",
    source="client stamps; tokens as token_source says",
)
def tpot_ms(stream: Stream) -> Value:
    """Time per output token after the first chunk. Chunks are not tokens: a gap between chunks is no TPOT.

    Other tools divide the whole time, or the time up to the usage chunk, by the number of chunks.
    """
    rest = _tokens_after_first(stream)
    if isinstance(rest, Absent):
        return rest
    return _unmeasurable(stream) or stream.span_ns / rest / MS


@metric(
    unit="tokens/s",
    formula="1 / tpot of this request",
    undefined="as tpot_ms",
    source="client stamps; tokens as token_source says",
)
def decode_tok_s(stream: Stream) -> Value:
    """Single-stream decode speed without the wait for the first token. Summaries are taken of the rates themselves."""
    rest = _tokens_after_first(stream)
    if isinstance(rest, Absent):
        return rest
    return _unmeasurable(stream) or rest * 1e9 / stream.span_ns


@metric(
    unit="characters/s",
    formula="characters of the counted events after the first / (last − first counted event)",
    undefined="everything in one chunk or one read; the stream was buffered",
    source="client stamps, text",
)
def decode_char_s(stream: Stream) -> Value:
    """Decode speed that needs no tokenizer: comparable between models whose tokens differ, and with reading speed."""
    missing = _unmeasurable(stream)
    if missing is not None:
        return missing
    return sum(len(event.text) for event in stream.events[1:]) * 1e9 / stream.span_ns
