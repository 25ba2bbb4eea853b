"""Stock aiohttp connections that keep the body as stamped bytes instead of waking a task for every read.

``StampingProtocol`` stands between the socket and aiohttp's parser. The head goes to aiohttp. The body of a chunked
reply (what nearly every stream of tokens is) stays here: dated, unframed, appended; aiohttp is told of its end so that
it reuses the connection. Any other body passes through aiohttp's parser and is taken out at once.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Protocol

from aiohttp import StreamReader, TCPConnector
from aiohttp.client_proto import ResponseHandler

from speedqual.endpoints.base import Ending
from speedqual.endpoints.transport.chunked import ChunkedFraming
from speedqual.endpoints.transport.sockets import SocketBook, StampedSocket

__all__ = ["CALL", "Arrival", "Exchange", "Origin", "StampingProtocol", "make_connector"]

DRAIN_S = 0.1  # how long the rest of the body may take after the protocol's end
MAX_REPLY_BYTES = 32 << 20
SOON_NS = 1_000_000_000  # a server that closes an idle connection this soon does not keep connections


Arrival = tuple[int, int, bytes]
"""One read: the kernel's stamp (CLOCK_REALTIME, 0 = none), ours (``perf_counter_ns``), body bytes. A plain tuple: it is
made for every read of every stream, and the garbage collector soon stops looking at it."""


class Origin:
    """What is known of one server's connections. Some close each after its reply although they announce keep-alive
    (llama.cpp's server after a stream): a request sent into that closing is lost."""

    __slots__ = ("closing", "looked")

    def __init__(self) -> None:
        self.closing = asyncio.Event()  # set: it has closed a connection right after a reply; use each only once
        self.looked = False  # the first reply is over, after which a closing was waited for


class Exchange:
    """One request on one connection, filled by the protocol and read by the client."""

    def __init__(
        self, hints: tuple[bytes, ...], is_complete: Callable[[], bool], max_bytes: int, origin: Origin | None = None
    ) -> None:
        self.origin = origin
        self.arrivals: list[Arrival] = []
        self.head: Arrival | None = None  # when the reply's head was complete
        self.last: Arrival | None = None  # the last read of any kind
        self.sock: StampedSocket | None = None
        self.reused = False
        self.begun = False  # a connection was had
        self.t_asked: int | None = None  # stands for t_send where that cannot be known
        self.ending: Ending = "eof"
        self.error = ""
        self.headers: dict[str, str] = {}  # of the reply, names in lower case
        self.at_eof = False  # the body is over by HTTP's own rules: the connection can be used again
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._hints, self._is_complete = hints, is_complete
        self._overlap = max(1, *(len(hint) - 1 for hint in hints)) if hints else 1
        self._left = max_bytes
        self._limit = max_bytes
        self._tail = b""
        self._t_send: int | None = None
        self._drain: asyncio.TimerHandle | None = None

    @property
    def t_send(self) -> int | None:
        """When the first byte of the request was handed to the socket; unknown without our protocol."""
        if self.ended.done():
            return self._t_send  # the socket may serve another request by now
        return self.sock.t_send if self.sock is not None else self.t_asked

    def begin(self, sock: StampedSocket | None, *, reused: bool) -> None:
        """A connection was had and the request is about to go out."""
        self.sock, self.reused, self.begun = sock, reused, True
        if sock is not None:
            sock.t_send = None

    def keep(self, arrival: Arrival) -> bool:
        """Keep body bytes. False when the reply has grown past its limit: nothing more is kept."""
        data = arrival[2]
        self._left -= len(data)
        if self._left < 0:
            self.end("cut", f"the reply is larger than {self._limit >> 20} MiB")
            return False
        self.arrivals.append(arrival)
        if self._hints:
            seen = self._tail + data
            self._tail = seen[-self._overlap :]
            for hint in self._hints:
                if hint in seen:
                    self._begin_drain()
        return True

    def _begin_drain(self) -> None:
        if self._drain is None:
            self._drain = asyncio.get_running_loop().call_later(DRAIN_S, self._after_drain)

    def _after_drain(self) -> None:
        """The protocol may have ended and the body has not: stop here if it really has."""
        self._drain = None
        if not self.ended.done() and self._is_complete():
            self.end("eof")

    def end(self, ending: Ending, error: str = "") -> None:
        """The reply is over; the first call wins."""
        if self._drain is not None:
            self._drain.cancel()
            self._drain = None
        if not self.ended.done():
            self.ending, self.error, self._t_send = ending, error, self.t_send
            self.ended.set_result(None)

    def fail(self, ending: Ending, error: str) -> None:
        """No reply came, and aiohttp knows why better than the closing of the socket does."""
        self.end(ending)
        self.ending, self.error = ending, error


CALL: ContextVar[Exchange | None] = ContextVar("speedqual_exchange", default=None)
"""The exchange of the running call; the protocol takes it up when aiohttp hands it the request."""


class _Message(Protocol):
    """The head of a reply as aiohttp's parser gives it."""

    code: int
    headers: Any
    chunked: bool
    upgrade: bool


class StampingProtocol(ResponseHandler):
    """aiohttp's client protocol with the body taken out before the parser."""

    def __init__(self, loop: asyncio.AbstractEventLoop, book: SocketBook) -> None:
        super().__init__(loop=loop)
        self._book = book
        self._sock: StampedSocket | None = None
        self._exchange: Exchange | None = None
        self._framing: ChunkedFraming | None = None
        self._message: _Message | None = None
        self._body: StreamReader | None = None
        self._head_tail = b""
        self._used = False
        self._origin: Origin | None = None
        self._idle_since: int | None = None  # ``perf_counter_ns`` of a reply's end, until the next one begins

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        sock = transport.get_extra_info("socket")
        self._sock = self._book.find(sock.fileno()) if sock is not None else None

    def set_response_params(self, **params: Any) -> None:
        """aiohttp calls this once a request, on the connection it chose and in the caller's task."""
        self._exchange = exchange = CALL.get()
        self._framing = self._message = self._body = None
        self._head_tail = b""
        if exchange is not None:
            exchange.begin(self._sock, reused=self._used)
            self._origin = exchange.origin
            if exchange.origin is not None and exchange.origin.closing.is_set():
                self.force_close()
        self._used = True
        super().set_response_params(**params)

    def feed_data(self, data: Any, size: int = 0) -> None:
        """aiohttp's parser has a message: note it on its way to the response."""
        if not 100 <= data[0].code < 200:
            self._message, self._body = data
        super().feed_data(data, size)

    def data_received(self, data: bytes) -> None:
        exchange = self._exchange
        if exchange is None or not data:
            super().data_received(data)
            return
        sock = self._sock
        self._idle_since = None
        read_ns = time.perf_counter_ns()
        real_ns = sock.real_ns if sock is not None else 0
        if self._framing is not None:
            body = self._framing.feed(data)
            exchange.last = arrival = (real_ns, read_ns, body)
            self._take_chunked(exchange, self._framing, arrival)
            return
        exchange.last = arrival = (real_ns, read_ns, data)
        if self._message is not None:
            self._take_parsed(exchange, arrival)
        else:
            self._take_head(exchange, arrival)

    def connection_lost(self, exc: BaseException | None) -> None:
        exchange, self._exchange = self._exchange, None
        super().connection_lost(exc)
        idle_since = self._idle_since
        if self._origin is not None and idle_since is not None and time.perf_counter_ns() - idle_since < SOON_NS:
            self._origin.closing.set()
        if exchange is None or exchange.ended.done():
            return
        body = self._body
        if body is not None and body.is_eof() and body.exception() is None and self._framing is None:
            exchange.end("eof")  # a body that the closing of the connection ends
            return
        how = "reset" if exc is not None else "closed"
        where = "before the reply" if self._message is None else "inside the body"
        exchange.end("reset" if exc is not None else "cut", f"the connection was {how} {where}")

    def _take_head(self, exchange: Exchange, arrival: Arrival) -> None:
        real_ns, read_ns, data = arrival
        at_boundary = False
        while data and self._message is None:
            seen = self._head_tail + data
            end = seen.find(b"\r\n\r\n")
            at_boundary = end >= 0
            cut = end + 4 - len(self._head_tail) if at_boundary else len(data)
            self._head_tail = b"" if at_boundary else seen[-3:]
            super().data_received(data[:cut])
            data = data[cut:]
        if self._message is None:
            return
        exchange.head = (real_ns, read_ns, b"")
        untouched = self._body is not None and not self._body.total_bytes and not self._body.is_eof()
        if at_boundary and untouched and _is_chunked(self._message):
            self._framing = framing = ChunkedFraming()
            self._take_chunked(exchange, framing, (real_ns, read_ns, framing.feed(data)))
        else:
            self._take_parsed(exchange, (real_ns, read_ns, data))

    def _take_chunked(self, exchange: Exchange, framing: ChunkedFraming, arrival: Arrival) -> None:
        if arrival[2] and not exchange.keep(arrival):
            return
        if framing.fault:
            exchange.end("cut", f"broken HTTP framing: {framing.fault}")
        elif framing.done:
            self._finish(exchange, clean=not framing.extra)

    def _finish(self, exchange: Exchange, *, clean: bool) -> None:
        """The last chunk is here: let aiohttp see an empty body end, so that it takes the connection back."""
        self._exchange = None
        self._idle_since = time.perf_counter_ns()
        if not clean:
            self.force_close()
        exchange.at_eof = True
        super().data_received(b"0\r\n\r\n")
        exchange.end("eof")

    def _take_parsed(self, exchange: Exchange, arrival: Arrival) -> None:
        body = self._body
        assert body is not None
        real_ns, read_ns, raw = arrival
        if raw:
            super().data_received(raw)
        while body.exception() is None and (data := body.read_nowait()):
            if not exchange.keep((real_ns, read_ns, data)):
                return
        if body.exception() is not None:
            exchange.end("cut", f"broken HTTP body: {type(body.exception()).__name__}")
        elif body.is_eof():
            self._exchange = None
            self._idle_since = time.perf_counter_ns()
            exchange.at_eof = True
            exchange.end("eof")


def _is_chunked(message: _Message) -> bool:
    """Chunked and nothing else: other transfer codings go to aiohttp's parser. Compression is the decoder's matter."""
    encoding = str(message.headers.get("Transfer-Encoding", ""))
    return message.chunked and encoding.strip().lower() == "chunked" and not message.upgrade


def make_connector(book: SocketBook, **options: Any) -> TCPConnector:
    """A stock connector whose sockets and protocols are ours; no limit on connections.

    The protocol factory is no public name of aiohttp. Should it be gone one day, replies are read the plain way and
    dated when our task gets them (``Call`` sees that no protocol took its exchange up).
    """
    loop = asyncio.get_running_loop()
    connector = TCPConnector(limit=0, socket_factory=book.make, **options)
    if callable(getattr(connector, "_factory", None)):
        connector._factory = lambda: StampingProtocol(loop, book)  # type: ignore[assignment]
    return connector
