"""Stamped bytes → ``Attempt``: the part that all protocols share.

A protocol brings a ``Reader``, which tells a ``Transcript`` what each frame says. Everything else is here: inflating,
telling a stream from an error page, bad frames, in-band errors, and the outcome. No bytes make it raise.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

from speedqual.endpoints.base import RawReply, Read
from speedqual.endpoints.faults import Fault, fault_in, http_fault, may_be_fault
from speedqual.endpoints.framing import BARE, BROKEN, MAX_FRAME_BYTES, OVERSIZE, Frame, Framer, LineFramer, SseFramer
from speedqual.endpoints.framing_aws import AwsEventFramer
from speedqual.endpoints.framing_json import JsonArrayFramer
from speedqual.endpoints.inflate import Inflated, inflate
from speedqual.endpoints.reply_headers import cost_usd, rate_limits, request_id, retry_after_s, served_tier
from speedqual.endpoints.transcript import Transcript
from speedqual.endpoints.values import as_text, clean_json, clean_text, parse_json
from speedqual.records import Attempt, Outcome, Timeline, Usage

__all__ = ["Decoder", "Framing", "Reader", "decode"]

Framing = Literal["sse", "lines", "array", "aws"]
_FRAMERS: dict[Framing, Callable[[], Framer]] = {
    "sse": SseFramer,
    "lines": LineFramer,
    "array": JsonArrayFramer,
    "aws": AwsEventFramer,
}
_DONE = b"[DONE]"
_SHORT = 16  # longer data is not looked at for the marker
_KEEP_ALIVE = frozenset({"ping", "keepalive", "keep-alive", "heartbeat"})
_FIELDS = (b":", b"data", b"event", b"id", b"retry", b"error")  # how a body of events begins
_HEAD_BYTES = 512
_BLANK = b"\xef\xbb\xbf \t\r\n"  # spaces, and the bytes of a byte order mark


class Reader:
    """Reads the frames of one reply. A protocol overrides ``take``, and the others where it differs."""

    ends_with_body = False
    """True for a protocol without an end marker: a clean end of the body is its end."""

    def __init__(self, out: Transcript) -> None:
        self.out = out

    def take(self, obj: Mapping[str, Any], kind: str) -> None:
        """One frame that is a JSON object and no error."""
        raise NotImplementedError

    def fault(self, obj: Mapping[str, Any], kind: str) -> Fault | None:
        """The error that this frame is, if it is one."""
        named = kind == "error" or kind.startswith("exception:")
        found = fault_in(obj, expected=named)
        if found and kind.startswith("exception:"):
            as_code = fault_in({"error": {"code": kind.partition(":")[2], "message": found.message}})
            return as_code or found
        return found

    def done(self) -> None:
        """The frame ``[DONE]``."""
        self.out.end()

    def close(self) -> None:
        """The body is over; called once, before the outcome is decided."""


class Decoder:
    """Reads one reply piece by piece; for a live view as well as, in one go, by ``decode``."""

    def __init__(self, make_reader: Callable[[Transcript], Reader], framing: Framing) -> None:
        self.out = Transcript()
        self.reader = make_reader(self.out)
        self.framing = framing
        self.n_frames_seen = 0
        self.bad = ""  # what was wrong with the first frame that could not be read
        self.over = False  # nothing counts after the end of the protocol or an error
        self._framer: Framer | None = None

    def feed(self, t_ns: int, data: bytes) -> None:
        """The next read."""
        if self.over:
            return
        self.out.t_ns = t_ns
        framer = self._framer or self._choose(data)
        for frame in framer.feed(data):
            self._frame(frame)
        self.out.read += 1

    def _choose(self, data: bytes) -> Framer:
        """A reply that was to be an array may come as events: the first byte that is no space tells."""
        start = data.lstrip(_BLANK)[:1]
        framing: Framing = "sse" if self.framing == "array" and start not in (b"[", b"{", b"") else self.framing
        framer = _FRAMERS[framing]()
        if start or framing != "array":
            self._framer = framer
        return framer

    def close(self) -> None:
        """No more reads: an unterminated last frame belongs to the last one."""
        if self._framer is not None and not self.over:
            self.out.read -= 1
            for frame in self._framer.close():
                self._frame(frame, last=True)
            self.out.read += 1
        self.reader.close()
        self.out.flush()

    def _frame(self, frame: Frame, *, last: bool = False) -> None:
        kind, data = frame
        if self.over:
            return
        if len(data) < _SHORT and data.strip() == _DONE:
            self.n_frames_seen += 1
            self.over = True
            self.reader.done()
            return
        if kind and kind in (OVERSIZE, BROKEN):
            self._bad(data.decode("ascii") or f"an event of more than {MAX_FRAME_BYTES >> 20} MiB was cut off")
            return
        try:
            obj = parse_json(self._text(data))
        except ValueError:
            self._unreadable(kind, data, last=last)
            return
        self._object(kind, obj)

    def _text(self, data: bytes) -> str:
        """As UTF-8. Bytes that are none become U+FFFD, as the standard of event streams has it, and a flag."""
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            self.out.flags.add("bad_utf8")
            return data.decode("utf-8", "replace")

    def _object(self, kind: str, obj: Any) -> None:
        if not isinstance(obj, dict):
            self._bad("an event is no JSON object")
            return
        fault = self.reader.fault(obj, kind) if kind or may_be_fault(obj) else None
        if kind == BARE and fault is None:
            return
        self.n_frames_seen += 1
        if fault is not None:
            self._take_besides(obj, kind)
            self.out.fail(fault)
            self.over = True
            return
        self.reader.take(obj, kind)
        self.out.flush()
        if self.out.fault is not None:
            self.over = True

    def _take_besides(self, obj: Mapping[str, Any], kind: str) -> None:
        """An error may ride on an ordinary chunk: what that says besides is kept."""
        if obj.get("choices"):
            self.reader.take(obj, kind)
            self.out.flush()

    def _unreadable(self, kind: str, data: bytes, *, last: bool) -> None:
        if kind == "error":
            self.n_frames_seen += 1
            self.out.fail(Fault(message=as_text(data.decode("utf-8", "replace").strip())))
            self.over = True
        elif kind == BARE or kind in _KEEP_ALIVE or last:
            return  # no field at all; no event of ours; a frame that the end of the body cut
        elif b"\n" in data:
            for line in data.split(b"\n"):  # events set apart by one line end instead of two
                if line.strip():
                    self._frame(Frame(kind, line))
        else:
            self._bad("an event is no JSON")

    def _bad(self, why: str) -> None:
        self.bad = self.bad or why


def decode(raw: RawReply, make_reader: Callable[[Transcript], Reader], framing: Framing) -> Attempt:
    """What the reply says, as attempt number 1."""
    body = inflate(raw.reads, raw.headers)
    decoder = Decoder(make_reader, framing)
    verdict = _before_the_stream(raw, body, framing)
    if verdict is None:
        with _no_collection():
            for read in body.reads:
                decoder.feed(read.t_ns, read.data)
            decoder.close()
        verdict = _after_the_stream(raw, body, decoder)
    return _attempt(raw, body, decoder.out, *verdict)


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


def _before_the_stream(raw: RawReply, body: Inflated, framing: Framing) -> tuple[Outcome, Fault | None] | None:
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
    looks_like_one = "message" in obj and ("code" in obj or "status" in obj) and not obj.get("choices")
    return fault_in(obj, expected=looks_like_one or "detail" in obj)


def _after_the_stream(raw: RawReply, body: Inflated, decoder: Decoder) -> tuple[Outcome, Fault | None]:
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
        held = (held + read.data).lstrip(_BLANK)
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
