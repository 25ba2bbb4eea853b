"""Bytes → frames: server-sent events and JSON lines.

A framer is fed the body read by read and gives back the frames that became whole with that read, so that the caller
can date each one by the read that completed it. How the bytes were cut into reads never changes the frames. A frame
longer than ``MAX_FRAME_BYTES`` is dropped as it grows, and a frame of the kind ``OVERSIZE`` stands in its place: memory
stays bounded whatever arrives.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

__all__ = ["BARE", "BROKEN", "MAX_FRAME_BYTES", "OVERSIZE", "Frame", "Framer", "LineFramer", "SseFramer"]

MAX_FRAME_BYTES = 16 * 1024 * 1024
"""No protocol here sends more in one frame; whole reasoning traces of some 300 KB have been seen."""

OVERSIZE = "!oversize"
"""Kind of the frame that replaces one of more than ``MAX_FRAME_BYTES``."""
BROKEN = "!broken"
"""Kind of the frame that replaces one whose framing is damaged; ``data`` says how, in ASCII."""
BARE = "!bare"
"""Kind of a line of JSON that stands in an event stream without ``data:`` (some gateways send errors so)."""

_BOM = b"\xef\xbb\xbf"


class Frame(NamedTuple):
    """One whole unit of a protocol. ``kind`` is the name of an SSE event or of a binary message, else ``""``."""

    kind: str
    data: bytes


class Framer(Protocol):
    """Cuts a body into frames."""

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that ``data`` completes."""
        ...

    def close(self) -> list[Frame]:
        """The body has ended: the last frame, if it had no terminator."""
        ...


class _Lines:
    """Whole lines out of pieces: LF, CRLF and CR all end a line, a CR at once and not when its LF comes.

    Only these three: U+2028 and U+0085 are text. A line over the limit is given back as None, once.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held: list[bytes] = []
        self._size = 0
        self._dropping = False
        self._after_cr = False
        self._start = b""  # the body's first bytes, until they are known to be a byte order mark or not
        self._started = False

    def feed(self, data: bytes) -> list[bytes | None]:
        if not self._started:
            data = self._past_bom(data)
        if self._after_cr and data:
            self._after_cr = False
            data = data.removeprefix(b"\n")
        if b"\r" in data:
            self._after_cr = data.endswith(b"\r")
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        pieces = data.split(b"\n")
        if len(pieces) == 1:
            self._hold(data)
            return []
        lines: list[bytes | None] = [self._first(pieces[0]), *pieces[1:-1]]
        if len(data) > self._limit:
            lines = [line if line is None or len(line) <= self._limit else None for line in lines]
        self._hold(pieces[-1])
        return lines

    def pass_over(self) -> bool:
        """Whole lines that begin with no byte order mark and no LF went by unseen; False when a line is still open."""
        if self._size or self._start:
            return False
        self._started, self._after_cr = True, False
        return True

    def rest(self) -> bytes | None:
        """What stands after the last line end; None when it passed the limit."""
        if not self._started:
            self._started = True
            self._hold(self._start)
        return self._first(b"")

    def _past_bom(self, data: bytes) -> bytes:
        data = self._start + data
        if len(data) < len(_BOM) and _BOM.startswith(data):
            self._start = data
            return b""
        self._start, self._started = b"", True
        return data.removeprefix(_BOM)

    def _hold(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._limit:
            self._held.clear()
            self._dropping = True
        elif piece:
            self._held.append(piece)

    def _first(self, piece: bytes) -> bytes | None:
        if not self._size:
            return piece
        self._hold(piece)
        line = None if self._dropping else b"".join(self._held)
        self._held.clear()
        self._size, self._dropping = 0, False
        return line


class SseFramer:
    """Server-sent events after the WHATWG rules, with three allowances that real endpoints need.

    An unterminated last event is kept (its reader decides whether the data is whole); a field named ``error`` is an
    event of that name (older llama.cpp); a line that begins with ``{`` is a frame of the kind ``BARE``. Comments,
    ``id``, ``retry`` and unknown fields are nothing, and so is an event without data.
    """

    def __init__(self, limit: int = MAX_FRAME_BYTES) -> None:
        self._lines = _Lines(limit)
        self._limit = limit
        self._kind = ""
        self._data: list[bytes] = []
        self._size = 0
        self._oversize = False

    def feed(self, data: bytes) -> list[Frame]:
        if data.startswith(b"data: ") and data.endswith(b"\n\n") and (events := self._whole_events(data)):
            return events
        frames: list[Frame] = []
        for line in self._lines.feed(data):
            if line:
                self._field(line, frames)
            elif line is None:
                self._oversize = True
            elif self._data or self._kind or self._oversize:
                self._dispatch(frames)
        return frames

    def _whole_events(self, data: bytes) -> list[Frame]:
        """The usual case at a fraction of the cost: a read of whole events of one ``data:`` line each. Else nothing."""
        if self._data or self._kind or self._oversize or len(data) > self._limit or b"\r" in data:
            return []
        events = data[:-2].split(b"\n\n")
        if not all(len(event) > 6 and event.startswith(b"data: ") and b"\n" not in event for event in events):
            return []
        return [Frame("", event[6:]) for event in events] if self._lines.pass_over() else []

    def close(self) -> list[Frame]:
        frames: list[Frame] = []
        line = self._lines.rest()
        if line is None:
            self._oversize = True
        elif line:
            self._field(line, frames)
        self._dispatch(frames)
        return frames

    def _field(self, line: bytes, frames: list[Frame]) -> None:
        if line.startswith(b"data: "):  # nearly every line
            self._add(line[6:])
            return
        name, _, value = line.partition(b":")
        if name == b"data":
            self._add(value)
        elif name == b"event":
            self._kind = value.removeprefix(b" ").decode("utf-8", "replace")
        elif name == b"error":
            self._kind = "error"
            self._add(value.removeprefix(b" "))
        elif line.startswith(b"{"):
            frames.append(Frame(BARE, line))

    def _add(self, value: bytes) -> None:
        self._size += len(value) + 1
        if self._size > self._limit + 1:
            self._oversize = True
            self._data.clear()
        else:
            self._data.append(value)

    def _dispatch(self, frames: list[Frame]) -> None:
        if self._oversize:
            frames.append(Frame(OVERSIZE, b""))
        elif self._data:
            data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
            if data:
                frames.append(Frame(self._kind, data))
        self._kind, self._size, self._oversize = "", 0, False
        self._data.clear()


class LineFramer:
    """One JSON text a line (NDJSON); empty lines are nothing."""

    def __init__(self, limit: int = MAX_FRAME_BYTES) -> None:
        self._lines = _Lines(limit)

    def feed(self, data: bytes) -> list[Frame]:
        return [_line_frame(line) for line in self._lines.feed(data) if line is None or line.strip()]

    def close(self) -> list[Frame]:
        line = self._lines.rest()
        return [_line_frame(line)] if line is None or line.strip() else []


def _line_frame(line: bytes | None) -> Frame:
    return Frame(OVERSIZE, b"") if line is None else Frame("", line)
