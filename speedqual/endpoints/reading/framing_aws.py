"""Bytes → frames: the binary event stream of AWS (``application/vnd.amazon.eventstream``).

A message is: total length (4 bytes), length of the headers (4), CRC-32 of these eight bytes (4), headers, payload,
CRC-32 of all before it (4); big-endian. Source: the AWS event stream encoding of the Smithy specification.
"""

from __future__ import annotations

import json
import struct
from zlib import crc32

from speedqual.endpoints.reading.framing import BROKEN, MAX_FRAME_BYTES, Frame

__all__ = ["AwsEventFramer"]

_PRELUDE = struct.Struct(">III")
_OVERHEAD = _PRELUDE.size + 4
_FIXED_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}  # header value types of a known length
_BYTES, _STRING = 6, 7


class AwsEventFramer:
    """Messages with both checksums verified.

    ``Frame.kind`` is the event's type, or ``exception:TYPE`` for an exception or error message. A message whose own
    checksum fails becomes one ``BROKEN`` frame; when the prelude's fails there is no way to find the next message, so
    the rest of the body is dropped.
    """

    def __init__(self, limit: int = MAX_FRAME_BYTES) -> None:
        self._limit = limit
        self._held = bytearray()
        self._lost = False

    def feed(self, data: bytes) -> list[Frame]:
        frames: list[Frame] = []
        if self._lost:
            return frames
        self._held += data
        at = 0
        while not self._lost and len(self._held) - at >= _PRELUDE.size:
            total, n_headers, check = _PRELUDE.unpack_from(self._held, at)
            if fault := self._fault(at, total, n_headers, check):
                self._lost = True
                frames.append(Frame(BROKEN, fault))
            elif len(self._held) - at >= total:
                frames.append(_message(bytes(self._held[at : at + total]), n_headers))
                at += total
            else:
                break
        if self._lost:
            self._held.clear()
        else:
            del self._held[:at]
        return frames

    def close(self) -> list[Frame]:
        """A cut message is not given back: its checksum never came."""
        self._held.clear()
        return []

    def _fault(self, at: int, total: int, n_headers: int, check: int) -> bytes:
        if crc32(self._held[at : at + 8]) != check:
            return b"the checksum of a message's prelude is wrong"
        if total < _OVERHEAD + n_headers:
            return b"a message is shorter than its own headers"
        return b"a message passes the limit of 16 MiB" if total > self._limit else b""


def _message(raw: bytes, n_headers: int) -> Frame:
    if crc32(raw[:-4]) != int.from_bytes(raw[-4:], "big"):
        return Frame(BROKEN, b"the checksum of a message is wrong")
    start = _PRELUDE.size + n_headers
    try:
        headers = _headers(raw[_PRELUDE.size : start])
    except (IndexError, KeyError):
        return Frame(BROKEN, b"the headers of a message are damaged")
    payload = raw[start:-4]
    if not payload.strip(b"{} ") and ":error-message" in headers:  # an error message says it in a header
        payload = json.dumps({"message": headers[":error-message"]}).encode()
    return Frame(_kind(headers), payload)


def _kind(headers: dict[str, str]) -> str:
    message_type = headers.get(":message-type", "event")
    if message_type == "event":
        return headers.get(":event-type", "")
    name = headers.get(":exception-type") or headers.get(":error-code") or message_type
    return f"exception:{name}"


def _headers(block: bytes) -> dict[str, str]:
    """The headers that are strings. Raises IndexError or KeyError on damage."""
    found: dict[str, str] = {}
    at = 0
    while at < len(block):
        name_end = at + 1 + block[at]
        name = block[at + 1 : name_end].decode("utf-8", "replace")
        kind = block[name_end]
        at = name_end + 1
        if kind in (_BYTES, _STRING):
            size = block[at] << 8 | block[at + 1]
            at += 2
        else:
            size = _FIXED_SIZES[kind]
        if at + size > len(block):
            raise IndexError(name)
        if kind == _STRING:
            found[name] = block[at : at + size].decode("utf-8", "replace")
        at += size
    return found
