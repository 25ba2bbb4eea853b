"""Frames → transcript: what a protocol brings, and the loop that all share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from speedqual.endpoints.reading.faults import Fault, fault_in, may_be_fault
from speedqual.endpoints.reading.framing import (
    BARE,
    BROKEN,
    MAX_FRAME_BYTES,
    OVERSIZE,
    Frame,
    Framer,
    LineFramer,
    SseFramer,
)
from speedqual.endpoints.reading.framing_aws import AwsEventFramer
from speedqual.endpoints.reading.framing_json import JsonArrayFramer
from speedqual.endpoints.reading.transcript import Transcript
from speedqual.endpoints.reading.values import as_text, parse_json

__all__ = ["BLANK", "Decoder", "Framing", "Reader"]

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
BLANK = b"\xef\xbb\xbf \t\r\n"  # spaces, and the bytes of a byte order mark


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
        start = data.lstrip(BLANK)[:1]
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
            if obj is not None:  # null is a keep-alive
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
