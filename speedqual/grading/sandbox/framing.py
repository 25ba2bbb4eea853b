"""Messages between the toolkit and its worker: four bytes of length, then JSON."""

from __future__ import annotations

import json
import os
import select
import time
from typing import Any

__all__ = ["read_frame", "write_frame"]

MAX_BYTES = 64 << 20


def write_frame(fd: int, message: Any) -> None:
    """Write one message whole."""
    body = json.dumps(message).encode("ascii")
    data = memoryview(len(body).to_bytes(4, "big") + body)
    while data:
        data = data[os.write(fd, data) :]


def read_frame(fd: int, *, timeout_s: float | None = None) -> Any:
    """Read one message; None at the end of the stream. Raises TimeoutError when ``timeout_s`` has passed."""
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    head = _read_exactly(fd, 4, deadline)
    if head is None:
        return None
    length = int.from_bytes(head, "big")
    body = _read_exactly(fd, length, deadline) if length <= MAX_BYTES else None
    return None if body is None else json.loads(body)


def _read_exactly(fd: int, length: int, deadline: float | None) -> bytes | None:
    parts = bytearray()
    while len(parts) < length:
        if deadline is not None:
            left_s = deadline - time.monotonic()
            if left_s <= 0 or not select.select([fd], [], [], left_s)[0]:
                raise TimeoutError("the sandbox worker did not answer")
        piece = os.read(fd, min(length - len(parts), 1 << 20))
        if not piece:
            return None
        parts += piece
    return bytes(parts)
