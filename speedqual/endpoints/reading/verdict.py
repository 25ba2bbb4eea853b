"""How a reply ended: its outcome, and what went wrong. Decided once before its frames are read and once after."""

from __future__ import annotations

from typing import Any

from speedqual.endpoints.base import RawReply, Read
from speedqual.endpoints.reading.faults import Fault, fault_in, http_fault
from speedqual.endpoints.reading.framing import MAX_FRAME_BYTES, SseFramer
from speedqual.endpoints.reading.inflate import Inflated
from speedqual.endpoints.reading.reader import BLANK, Decoder, Framing
from speedqual.endpoints.reading.values import as_text, parse_json
from speedqual.records import Outcome

__all__ = ["after_the_stream", "before_the_stream"]

_FIELDS = (b":", b"data", b"event", b"id", b"retry", b"error")  # how a body of events begins
_HEAD_BYTES = 512


def before_the_stream(raw: RawReply, body: Inflated, framing: Framing) -> tuple[Outcome, Fault | None] | None:
    """The outcome of a reply that is no stream at all; None when there may be one."""
    if raw.status is None:
        return _without_reply(raw), Fault(message=raw.error or None, retryable=raw.ending != "cancelled")
    if raw.status >= 300:
        return "http_error", _status_fault(raw, body)
    head = _head(body.reads)
    if head.startswith(b"<"):
        text = _text(body.reads)
        return "not_stream", Fault(message=f"a web page instead of a stream: {http_fault(200, None, text).message}")
    if head.startswith((b"{", b"[")) and framing in ("sse", "aws"):
        return _json_body(raw, body)
    if framing in ("lines", "array") and "application/json" in raw.headers.get("content-type", ""):
        return _lone_error(body)
    return None


def _json_body(raw: RawReply, body: Inflated) -> tuple[Outcome, Fault | None]:
    if raw.ending in ("reset", "cut", "deadline", "cancelled"):
        return _broken_off(raw), Fault(message=raw.error or None, retryable=True)
    obj = _json(body.reads)
    found = _body_fault(obj)
    if found is not None:
        return "body_error", found
    return "not_stream", Fault(message="a plain JSON document instead of a stream")


def _lone_error(body: Inflated) -> tuple[Outcome, Fault | None] | None:
    """An endpoint that streams JSON says an error as one document of it."""
    found = _body_fault(_json(body.reads))
    return ("body_error", found) if found is not None else None


def _body_fault(obj: Any) -> Fault | None:
    if isinstance(obj, list) and len(obj) == 1:
        obj = obj[0]
    if not isinstance(obj, dict):
        return None
    has_words = isinstance(obj.get("message"), str) or any(obj.get(name) for name in ("detail", "errors", "err"))
    return fault_in(obj, expected=has_words and not obj.get("choices"))


def after_the_stream(raw: RawReply, body: Inflated, decoder: Decoder) -> tuple[Outcome, Fault | None]:
    out = decoder.out
    if out.fault is not None:
        return "stream_error", out.fault
    if out.t_end is None and decoder.reader.ends_with_body and raw.ending == "eof" and decoder.n_frames_seen:
        out.t_end = body.reads[-1].t_ns
    if out.t_end is None:
        return _incomplete(raw, body, decoder)
    if raw.ending in ("reset", "cut", "deadline"):
        out.flags.add("not_closed")
    if decoder.bad or body.fault:
        return "bad_payload", Fault(message=decoder.bad or body.fault)
    if not out.has_answer and out.stop == "filter":
        return "filtered", None
    if not out.events:
        return "empty", None
    if out.stop == "filter":
        out.flags.add("filtered")
    return "ok", None


def _incomplete(raw: RawReply, body: Inflated, decoder: Decoder) -> tuple[Outcome, Fault | None]:
    problem = decoder.bad or body.fault
    if raw.ending != "eof":
        return _broken_off(raw), Fault(message=problem or raw.error or None, retryable=raw.ending != "cancelled")
    head = _head(body.reads)
    if body.fault or (head and not decoder.n_frames_seen and not _begins_as_stream(head, decoder.framing, raw)):
        start = as_text(head[:80].decode("utf-8", "replace"))
        return "not_stream", Fault(message=body.fault or f"the body is no stream of this protocol: {start}")
    words = "the stream ended without the protocol's end marker"
    return "cut_off", Fault(message=f"{words}; {problem}" if problem else words, retryable=True)


def _begins_as_stream(head: bytes, framing: Framing, raw: RawReply) -> bool:
    """A stream without one readable event, as opposed to something else."""
    if framing == "sse":
        return head.startswith(_FIELDS)
    return head[:1] in (b"{", b"[") if framing != "aws" else "eventstream" in raw.headers.get("content-type", "")


def _without_reply(raw: RawReply) -> Outcome:
    return "unreachable" if raw.ending == "unreachable" else _broken_off(raw)


def _broken_off(raw: RawReply) -> Outcome:
    if raw.ending == "deadline":
        return "timeout"
    return "cancelled" if raw.ending == "cancelled" else "disconnect"


def _status_fault(raw: RawReply, body: Inflated) -> Fault:
    status = raw.status or 0
    if status < 400:
        target = raw.headers.get("location", "").partition("?")[0]
        return Fault(code=str(status), message=as_text(f"the endpoint redirects to {target}"))
    text = _text(body.reads)
    fault = http_fault(status, _json(body.reads) or _json_in_events(text), text)
    code = fault.code or as_text(raw.headers.get("x-amzn-errortype", "").partition(":")[0])
    return Fault(code, fault.message, fault.retryable, fault.retry_after_s)


def _json_in_events(text: str) -> Any:
    """The first JSON object of a body of events: some gateways send even errors so."""
    framer = SseFramer()
    for frame in [*framer.feed(text.encode("utf-8", "replace")), *framer.close()]:
        try:
            return parse_json(frame.data.decode("utf-8", "replace"))
        except ValueError:
            continue
    return None


def _head(reads: tuple[Read, ...]) -> bytes:
    """The first bytes that are neither space nor byte order mark."""
    held = b""
    for read in reads:
        held = (held + read.data).lstrip(BLANK)
        if len(held) >= _HEAD_BYTES:
            break
    return held[:_HEAD_BYTES]


def _text(reads: tuple[Read, ...]) -> str:
    return b"".join(read.data for read in reads[:64])[: 1 << 20].decode("utf-8", "replace")


def _json(reads: tuple[Read, ...]) -> Any:
    if sum(len(read.data) for read in reads) > MAX_FRAME_BYTES:
        return None
    try:
        return parse_json(b"".join(read.data for read in reads).decode("utf-8-sig", "replace"))
    except ValueError:
        return None
