"""HTTP/1.1 chunked framing taken off as bytes arrive, so that the hot path needs no wake-up and no look at the body."""

from __future__ import annotations

import re

__all__ = ["ChunkedFraming"]

_HEX = re.compile(rb"[0-9A-Fa-f]{1,16}")
_SIZE_LINE = 20  # where to look for the end of a size line without extensions
_SIZES_KEPT = 1000
_sizes: dict[bytes, int] = {}  # size line without CRLF → size: the few that streams use, learnt as they come
_MAX_LINE = 4096  # of a chunk-size line with its extensions, and of a trailer line


class ChunkedFraming:
    """Feed raw bytes, get body bytes. ``done`` turns true at the end of the last trailer; ``extra`` holds what follows.

    ``fault`` says what is wrong once the bytes are no chunked framing; the body before it is still given. Memory is
    bounded: only an unfinished size line or trailer line is kept between calls.
    """

    __slots__ = ("_crlf", "_left", "_line", "_trailers", "done", "extra", "fault")

    def __init__(self) -> None:
        self.done = False
        self.extra = b""
        self.fault = ""
        self._line = b""  # an unfinished line
        self._left = 0  # bytes of the open chunk still to come
        self._crlf = False  # the chunk is complete, its CRLF is not
        self._trailers = False

    def feed(self, data: bytes) -> bytes:
        """The body bytes in ``data``."""
        if not (self._left or self._line or self._crlf or self._trailers or self.fault):
            end = data.find(b"\r\n", 0, _SIZE_LINE)
            size = _sizes.get(data[:end])
            if size is not None and len(data) == end + size + 4 and data.endswith(b"\r\n"):
                return data[end + 2 : -2]  # one whole chunk of a known size: nearly every read of a stream
        return self._feed(data)

    def _feed(self, data: bytes) -> bytes:
        pieces: list[bytes] = []
        if self._line:
            data, self._line = self._line + data, b""
        at, size = 0, len(data)
        while at < size and not self.done and not self.fault:
            if self._left:
                piece = data[at : at + self._left]
                pieces.append(piece)
                at += len(piece)
                self._left -= len(piece)
                self._crlf = not self._left
                continue
            if not self._crlf and not self._trailers:
                at = self._whole_chunks(data, at, pieces)
            end = data.find(b"\n", at, at + _MAX_LINE)
            if end < 0:
                self._keep(data[at:])
                break
            self._take_line(data[at:end])
            at = end + 1
        if self.done:
            self.extra = data[at:]
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _whole_chunks(self, data: bytes, at: int, pieces: list[bytes]) -> int:
        """Take the chunks that are whole and of a size seen before; where they end."""
        sizes, find, startswith = _sizes, data.find, data.startswith
        while (end := find(b"\r\n", at, at + _SIZE_LINE)) > 0:
            size = sizes.get(data[at:end])
            if size is None:
                break
            stop = end + 2 + size
            if not startswith(b"\r\n", stop):
                break
            pieces.append(data[end + 2 : stop])
            at = stop + 2
        return at

    def _keep(self, line: bytes) -> None:
        if len(line) >= _MAX_LINE:
            self.fault = "a chunk-size line never ends"
        else:
            self._line = line

    def _take_line(self, line: bytes) -> None:
        if line.endswith(b"\r"):
            line = line[:-1]
        if self._crlf:
            if line:
                self.fault = "a chunk is longer than its size says"
            self._crlf = False
        elif self._trailers:
            self.done = not line
        else:
            self._open_chunk(line)

    def _open_chunk(self, line: bytes) -> None:
        digits = line.split(b";", 1)[0].strip()
        if not _HEX.fullmatch(digits):
            self.fault = "a chunk size is missing or no number"
            return
        self._left = int(digits, 16)
        self._trailers = not self._left
        if self._left and len(_sizes) < _SIZES_KEPT:
            _sizes[line] = self._left
