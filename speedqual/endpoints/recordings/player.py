"""Plays recordings over a real local socket at their recorded times, in a process of its own.

``python -m speedqual.endpoints.recordings.player FILE…`` prints its port and answers any request under ``/r/NAME/…``
with the recording of that file name. It ends with its standard input.
"""

from __future__ import annotations

import contextlib
import json
import socket
import socketserver
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from threading import Thread
from urllib.parse import quote, unquote

from speedqual.endpoints.recordings.files import Recording, read_recording
from speedqual.errors import EndpointError

__all__ = ["Playing", "play"]

_SPIN_S = 0.0015  # a sleep may be late by a millisecond: the last part is waited for awake
_MAX_REQUEST_BYTES = 64 << 20


class Playing:
    """A running player."""

    def __init__(self, port: int) -> None:
        self.port = port

    def url(self, name: str) -> str:
        """The base URL under which the recording ``name`` (a file name without its suffix) is played."""
        return f"http://127.0.0.1:{self.port}/r/{quote(name, safe='')}"


@contextmanager
def play(files: Sequence[Path]) -> Iterator[Playing]:
    """Start a player for these files, stop it at the end. Raises EndpointError when it does not start."""
    command = [sys.executable, "-m", "speedqual.endpoints.recordings.player", *map(str, files)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdin is not None and child.stdout is not None
    try:
        port = child.stdout.readline().strip()
        if not port.isdigit():
            raise EndpointError("the player of recordings did not start", where="player", fix="See its words above")
        yield Playing(int(port))
    finally:
        child.stdin.close()
        try:
            child.wait(timeout=5)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        child.stdout.close()


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 1024

    def __init__(self, recordings: Mapping[str, Recording]) -> None:
        self.recordings = recordings
        super().__init__(("127.0.0.1", 0), _Connection)


class _Connection(socketserver.BaseRequestHandler):
    """HTTP/1.1, one request after the other."""

    server: _Server
    request: socket.socket

    def setup(self) -> None:
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.stream = self.request.makefile("rb")

    def finish(self) -> None:
        self.stream.close()

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError, ValueError):
            while (path := self._read_request()) is not None:
                recording = self.server.recordings.get(unquote(path.split("/")[2]) if path.startswith("/r/") else "")
                if recording is None:
                    self._refuse()
                elif not self._play(recording, time.perf_counter()):
                    return

    def _read_request(self) -> str | None:
        first = self.stream.readline(1 << 16)
        if not first:
            return None
        size = 0
        while (line := self.stream.readline(1 << 16)).strip():
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                size = min(int(value), _MAX_REQUEST_BYTES)
        self.stream.read(size)
        return first.split(b" ")[1].decode("latin-1")

    def _refuse(self) -> None:
        body = json.dumps({"error": {"message": "no such recording", "code": "unknown_recording"}}).encode()
        self.request.sendall(_head(404, {"content-type": "application/json", "content-length": str(len(body))}) + body)

    def _play(self, recording: Recording, start: float) -> bool:
        """Send it all; False when the connection ends with it."""
        first_ms = recording.chunks[0][0] if recording.chunks else 0.0
        head_ms = min(5.0, first_ms) if recording.head_ms is None else recording.head_ms
        closes = recording.framing == "close" or recording.end != "eof"
        _wait(start, head_ms)
        self.request.sendall(_head(recording.status or 200, _headers(recording, closes=closes)))
        for ms, data in recording.chunks:
            _wait(start, ms)
            if data:
                self.request.sendall(b"%x\r\n%b\r\n" % (len(data), data) if recording.framing == "chunked" else data)
        if recording.end_ms is not None:
            _wait(start, recording.end_ms)
        if recording.end == "reset":
            self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif recording.framing == "chunked" and recording.end == "eof":
            self.request.sendall(b"0\r\n\r\n")
        return not closes


def _headers(recording: Recording, *, closes: bool) -> dict[str, str]:
    headers = {name.lower(): value for name, value in recording.headers.items()}
    if recording.framing == "chunked":
        headers["transfer-encoding"] = "chunked"
    elif recording.framing == "length":
        size = sum(len(data) for _, data in recording.chunks)
        headers["content-length"] = str(size if recording.length is None else recording.length)
    if closes:
        headers["connection"] = "close"
    return headers


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Status"
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} {phrase}\r\n{lines}\r\n".encode("latin-1", "replace")


def _wait(start: float, ms: float) -> None:
    """Until ``ms`` after ``start``, to a few microseconds."""
    until = start + ms / 1000
    left = until - time.perf_counter()
    if left > _SPIN_S:
        time.sleep(left - _SPIN_S)
    while time.perf_counter() < until:
        time.sleep(0)


def main(files: Sequence[str]) -> None:
    """Serve until standard input ends."""
    with _Server({Path(file).stem: read_recording(Path(file)) for file in files}) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        print(server.server_address[1], flush=True)
        sys.stdin.read()
        server.shutdown()


if __name__ == "__main__":
    main(sys.argv[1:])
