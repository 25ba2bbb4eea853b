"""What this server can send on one core of this machine, measured on the spot."""

from __future__ import annotations

import asyncio
import json
import socket
import time

from speedqual.endpoints.scripted.script import Script
from speedqual.endpoints.scripted.server import ScriptedServer

__all__ = ["frames_per_cpu_second"]

_FRAMES = 500  # few enough for the socket's buffer: a blocked socket would merge writes
_REPLIES = 20


async def frames_per_cpu_second() -> float:
    """Frames, one a write and undelayed, for each second of this thread's CPU time."""
    script = Script(ttft_ms=0, tok_s=0, n=_FRAMES, text="token ")
    async with ScriptedServer(script) as server:
        port = int(server.root_url.rpartition(":")[2])
        started = time.thread_time()
        await asyncio.to_thread(_drain, port)
        used_s = time.thread_time() - started
    return _FRAMES * _REPLIES / used_s


def _drain(port: int) -> None:
    """A reader that looks at nothing, in a thread that seldom holds the interpreter."""
    body = json.dumps({"model": "m", "stream": True, "messages": []}).encode()
    request = b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
    buffer = bytearray(1 << 20)
    with socket.create_connection(("127.0.0.1", port)) as sock:
        for _ in range(_REPLIES):
            sock.sendall(request)
            tail = b""
            while not tail.endswith(b"0\r\n\r\n") and (n := sock.recv_into(buffer)):
                tail = bytes(buffer[max(0, n - 5) : n])
