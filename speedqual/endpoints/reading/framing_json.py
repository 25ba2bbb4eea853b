"""Bytes → frames: a JSON array that arrives in pieces (Gemini without ``alt=sse``)."""

from __future__ import annotations

import re

from speedqual.endpoints.reading.framing import MAX_FRAME_BYTES, OVERSIZE, Frame

__all__ = ["JsonArrayFramer"]

_STRUCTURE = re.compile(rb'["{}\[\]]')
_STRING_STOP = re.compile(rb'["\\]')


class JsonArrayFramer:
    """The objects of a top-level array, each whole at its closing brace, not at the comma that may follow later.

    Works as well on objects that simply follow one another. Braces inside strings are text; strings may be cut
    anywhere, also behind a backslash.
    """

    def __init__(self, limit: int = MAX_FRAME_BYTES) -> None:
        self._limit = limit
        self._held: list[bytes] = []
        self._size = 0
        self._depth = 0
        self._in_string = False
        self._escaped = False

    def feed(self, data: bytes) -> list[Frame]:
        frames: list[Frame] = []
        start = at = 0
        while at < len(data):
            if self._in_string:
                at = self._through_string(data, at)
                continue
            found = _STRUCTURE.search(data, at)
            if found is None:
                break
            at, mark = found.end(), found.group()
            if mark == b'"':
                self._in_string = self._depth > 0
            elif mark == b"{" or (mark == b"[" and self._depth):
                if not self._depth:
                    start = at - 1
                self._depth += 1
            elif self._depth:
                self._depth -= 1
                if not self._depth:
                    frames.append(self._whole(data[start:at]))
        if self._depth:
            self._hold(data[start:])
        return frames

    def close(self) -> list[Frame]:
        """An object that never closed is given back as it is: its reader will find it unreadable."""
        if not self._depth:
            return []
        self._depth = 0
        return [self._whole(b"")]

    def _through_string(self, data: bytes, at: int) -> int:
        """Skip to behind the string's closing quote, or to the end of ``data``."""
        if self._escaped:
            self._escaped = False
            return at + 1
        found = _STRING_STOP.search(data, at)
        if found is None:
            return len(data)
        if found.group() == b'"':
            self._in_string = False
        else:
            self._escaped = True
        return found.end()

    def _hold(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._limit:
            self._held.clear()
        else:
            self._held.append(piece)

    def _whole(self, piece: bytes) -> Frame:
        self._hold(piece)
        frame = Frame(OVERSIZE, b"") if self._size > self._limit else Frame("", b"".join(self._held))
        self._held.clear()
        self._size = 0
        return frame
