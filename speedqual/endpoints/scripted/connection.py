"""One connection of the scripted endpoint: reads requests, plays plans, logs the true times."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import time
from typing import TYPE_CHECKING, Any

from speedqual.endpoints.scripted.plan import Plan, Step, plain_reply

if TYPE_CHECKING:
    from speedqual.endpoints.scripted.server import ScriptedServer

__all__ = ["Connection", "HttpHead"]

_MAX_HEAD = 1 << 16
_MAX_BODY = 64 << 20
_TURN_STEPS = 64  # overdue steps written before other connections get their turn


class HttpHead:
    """Request line and headers; raises ValueError when they are none."""

    def __init__(self, head: bytes) -> None:
        first, *lines = head.decode("latin-1").split("\r\n")
        self.method, self.path, _ = first.split(" ", 2)
        pairs = (line.partition(":") for line in lines if line)
        self.headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        self.size = int(self.headers.get("content-length") or 0)
        if not 0 <= self.size <= _MAX_BODY or "transfer-encoding" in self.headers:
            raise ValueError("a request needs a content-length of at most 64 MiB")


class Connection(asyncio.Protocol):
    """HTTP/1.1, one request after the other."""

    def __init__(self, server: ScriptedServer) -> None:
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport
        self._buffer = b""
        self._served = 0
        self._plan: Plan | None = None
        self._at = 0
        self._t_start = 0
        self._entry: dict[str, Any] = {}
        self._timer: asyncio.Handle | None = None
        self._paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        sock = transport.get_extra_info("socket")
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._server.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.connections.discard(self)
        if self._timer is not None:
            self._timer.cancel()
        if self._plan is not None:
            self._done("disconnected")

    def pause_writing(self) -> None:
        self._paused = True
        self._entry["blocked"] = True

    def resume_writing(self) -> None:
        self._paused = False
        if self._plan is not None:
            self._play()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._plan is None:
            self._next_request()

    def close(self) -> None:
        """Drop the connection."""
        self._transport.abort()

    def _next_request(self) -> None:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > _MAX_HEAD:
                self.close()
            return
        try:
            head = HttpHead(self._buffer[:end])
        except ValueError as fault:
            self._transport.write(plain_reply(400, "text/plain", str(fault).encode(), "connection: close\r\n"))
            self._transport.close()
            return
        if len(self._buffer) < end + 4 + head.size:
            return
        body, self._buffer = self._buffer[end + 4 : end + 4 + head.size], self._buffer[end + 4 + head.size :]
        self._served += 1
        self._serve(head, body, time.perf_counter_ns())

    def _serve(self, head: HttpHead, body: bytes, t_request: int) -> None:
        if head.method == "GET":
            self._transport.write(self._server.look(head.path))
            self._next_request()
            return
        plan, entry = self._server.plan(head, body)
        entry |= {"t_request": t_request, "connection": "new" if self._served == 1 else "reused"}
        self._plan, self._entry, self._at = plan, entry, 0
        self._server.take_slot(self.start)

    def start(self) -> None:
        """A slot is free: the schedule begins."""
        self._t_start = self._entry["t_start"] = time.perf_counter_ns()
        self._play()

    def _play(self) -> None:
        plan = self._plan
        if plan is None or self._paused:
            return
        for _ in range(_TURN_STEPS):
            if self._at == len(plan.steps):
                self._end(plan)
                return
            step = plan.steps[self._at]
            wait_ns = self._t_start + step.at_ns - time.perf_counter_ns()
            if wait_ns > 0:
                self._timer = self._loop.call_later(wait_ns / 1e9, self._play)
                return
            self._write(step)
            if self._paused or self._plan is not plan:
                return
        self._timer = self._loop.call_soon(self._play)

    def _write(self, step: Step) -> None:
        self._at += 1
        now = time.perf_counter_ns()
        self._server.note_write(now - self._t_start - step.at_ns, len(step.data))
        entry = self._entry
        if step.tokens:
            entry["sent"].append(now)
            entry["tokens"].append(step.tokens)
        if step.kind == "head":
            entry["t_head"] = now
        elif step.kind == "end":
            entry["t_end"] = now
        if step.data:
            self._transport.write(step.data)

    def _end(self, plan: Plan) -> None:
        if plan.end == "hang":
            return
        self._done("sent")
        if plan.end == "close":
            self._transport.close()
        elif plan.end == "reset":
            sock = self._transport.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._transport.abort()
        elif self._buffer:
            self._loop.call_soon(self._next_request)

    def _done(self, how: str) -> None:
        self._plan = None
        self._entry["end"] = how
        self._server.finish(self._entry, self.start)


def as_json(value: Any) -> bytes:
    """A JSON body."""
    return plain_reply(200, "application/json", json.dumps(value, ensure_ascii=False).encode())
