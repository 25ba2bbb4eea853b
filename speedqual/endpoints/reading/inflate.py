"""Compressed bodies. We ask for none, but some gateways compress all the same."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from speedqual.endpoints.base import Read

__all__ = ["MAX_BODY_BYTES", "Inflated", "inflate"]

MAX_BODY_BYTES = 256 * 1024 * 1024
"""Where inflating stops: no answer is that long, a decompression bomb is."""

_GZIP_MAGIC = b"\x1f\x8b"
_ANY_ZLIB = 32 + zlib.MAX_WBITS


class _Inflater(Protocol):
    def decompress(self, data: bytes, max_length: int = ..., /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Inflated:
    """The reads with their data in the clear, each still dated by its arrival; ``fault`` says why they stop early."""

    reads: tuple[Read, ...]
    was_compressed: bool = False
    fault: str = ""


def inflate(reads: tuple[Read, ...], headers: Mapping[str, str]) -> Inflated:
    """Undo ``content-encoding``. A transport that did so already is recognised by the data."""
    encoding = headers.get("content-encoding", "").strip().lower()
    if encoding in ("", "identity") or not reads:
        return Inflated(reads)
    head = b"".join(read.data for read in reads[:4])[:2]
    if encoding in ("gzip", "x-gzip"):
        return _through(reads, zlib.decompressobj(_ANY_ZLIB)) if head == _GZIP_MAGIC else Inflated(reads)
    if encoding == "deflate":
        is_zlib = len(head) == 2 and head[0] & 0x0F == 8 and int.from_bytes(head, "big") % 31 == 0
        inflated = _through(reads, zlib.decompressobj(_ANY_ZLIB if is_zlib else -zlib.MAX_WBITS))
        return inflated if inflated.reads or is_zlib else Inflated(reads)
    return Inflated((), True, f"the body is compressed with {encoding[:20]}, which was not asked for")


def _through(reads: tuple[Read, ...], inflater: _Inflater) -> Inflated:
    clear: list[Read] = []
    left = MAX_BODY_BYTES
    for read in reads:
        try:
            data = inflater.decompress(read.data, left)
        except zlib.error:
            return Inflated(tuple(clear), True, "the compressed body is damaged")
        left -= len(data)
        clear.append(Read(read.t_ns, data))
        if left <= 0:
            return Inflated(tuple(clear), True, f"the body inflates to more than {MAX_BODY_BYTES >> 20} MiB")
    return Inflated(tuple(clear), True)
