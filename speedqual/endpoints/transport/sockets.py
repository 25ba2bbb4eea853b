"""Sockets that date their bytes: ``send`` notes the start, ``recv`` takes the kernel's arrival time along.

Linux stamps each packet on CLOCK_REALTIME when it arrives (SO_TIMESTAMPNS); where that is missing the stamp is 0 and
the protocol's own clock reading dates the bytes. A read that merges packets carries the stamp of the last one.
"""

from __future__ import annotations

import socket
import struct
import sys
import time
from typing import Any
from weakref import WeakValueDictionary

__all__ = ["SocketBook", "StampedSocket", "realtime_offset_ns"]

SO_TIMESTAMPNS = 35  # asm-generic/socket.h; the socket module does not export it
READ_BYTES = 1 << 16  # larger buffers make malloc map and unmap pages for every read
_TIMESPEC = struct.Struct("qq")
_ANCILLARY_BYTES = 64


class StampedSocket(socket.socket):
    """``t_send``: ``perf_counter_ns`` of the first send since it was cleared. ``real_ns``: the kernel's stamp of the
    last read, CLOCK_REALTIME; 0 = none."""

    __slots__ = ("real_ns", "t_send")

    def __init__(self, family: int, kind: int, proto: int) -> None:
        super().__init__(family, kind, proto)
        self.t_send: int | None = None
        self.real_ns = 0

    def stamp_arrivals(self) -> bool:
        """Ask the kernel for arrival stamps; False where it has none."""
        if not sys.platform.startswith("linux"):
            return False
        try:
            self.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        except OSError:
            return False
        return True

    def send(self, data: Any, flags: int = 0, /) -> int:
        if self.t_send is None:
            self.t_send = time.perf_counter_ns()
        return super().send(data, flags)

    def sendmsg(self, buffers: Any, *args: Any) -> int:
        if self.t_send is None:
            self.t_send = time.perf_counter_ns()
        return super().sendmsg(buffers, *args)

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        data, ancillary, _, _ = self.recvmsg(min(size, READ_BYTES), _ANCILLARY_BYTES, flags)
        self._note(ancillary)
        return data

    def recv_into(self, buffer: Any, nbytes: int = 0, flags: int = 0) -> int:
        view = memoryview(buffer)
        size, ancillary, _, _ = self.recvmsg_into([view[:nbytes] if nbytes else view], _ANCILLARY_BYTES, flags)
        self._note(ancillary)
        return size

    def _note(self, ancillary: list[tuple[int, int, bytes]]) -> None:
        self.real_ns = 0
        for level, kind, data in ancillary:
            if kind == SO_TIMESTAMPNS and level == socket.SOL_SOCKET and len(data) == _TIMESPEC.size:
                seconds, ns = _TIMESPEC.unpack(data)
                self.real_ns = seconds * 1_000_000_000 + ns


class SocketBook:
    """Makes the sockets of a connector and finds them again by file number, TLS or not."""

    def __init__(self) -> None:
        self._sockets: WeakValueDictionary[int, StampedSocket] = WeakValueDictionary()

    def make(self, addr_info: tuple[Any, ...]) -> StampedSocket:
        """The connector's ``socket_factory``."""
        made = StampedSocket(*addr_info[:3])
        made.stamp_arrivals()
        self._sockets[made.fileno()] = made
        return made

    def find(self, fileno: int) -> StampedSocket | None:
        """The open socket with this file number, None when it was not made here."""
        return self._sockets.get(fileno)


def realtime_offset_ns() -> int:
    """CLOCK_REALTIME − ``perf_counter_ns``: the tightest of three readings."""
    best_width, best = 1 << 62, 0
    for _ in range(3):
        before = time.perf_counter_ns()
        real = time.time_ns()
        after = time.perf_counter_ns()
        if after - before < best_width:
            best_width, best = after - before, real - (before + after) // 2
    return best
