"""A live view of a stream: text decoded in samples beside the hot path, so that no read waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from speedqual.endpoints.base import Endpoint, RawReply, Read
from speedqual.endpoints.transport.connection import Exchange

__all__ = ["LiveView", "Watch"]

Watch = Callable[[str, str], None]
"""``watch(channel, piece)``: new text on a channel (answer, reasoning, tool, refusal), four times a second at most."""

SAMPLE_S = 0.25
_BREAKS = (b"\n\n", b"\r\n\r\n", b"\r\r")


class LiveView:
    """Every quarter of a second decodes the whole events that are new, as a reply of their own.

    Good enough to look at, never measured: the record is decoded from all bytes after the stream. What a sample cannot
    cut into whole events (binary frames) is not shown.
    """

    def __init__(self, endpoint: Endpoint, exchange: Exchange, watch: Watch) -> None:
        self._endpoint, self._exchange, self._watch = endpoint, exchange, watch
        self._seen = 0  # arrivals taken so far
        self._rest = b""  # bytes after the last whole event
        self._broken = False
        self._timer = asyncio.get_running_loop().call_later(SAMPLE_S, self._sample)

    def stop(self) -> None:
        """Show what is left, no more samples."""
        self._timer.cancel()
        self._show_safely()

    def _sample(self) -> None:
        self._show_safely()
        self._timer = asyncio.get_running_loop().call_later(SAMPLE_S, self._sample)

    def _show_safely(self) -> None:
        """A view that fails is told of where the loop tells its faults, and is not shown to again."""
        if self._broken:
            return
        try:
            self._show()
        except Exception as exc:
            self._broken = True
            asyncio.get_running_loop().call_exception_handler({"message": "a live view failed", "exception": exc})

    def _show(self) -> None:
        whole = self._new_events()
        if not whole:
            return
        raw = RawReply(t_send=0, status=200, headers=self._exchange.headers, reads=(Read(0, whole),), stamp="none")
        for event in self._endpoint.decode(raw).timeline.events:
            self._watch(event.channel, event.text)

    def _new_events(self) -> bytes:
        arrivals = self._exchange.arrivals
        new = b"".join(data for _, _, data in arrivals[self._seen :])
        self._seen = len(arrivals)
        seen = self._rest + new
        lines = "ndjson" in self._exchange.headers.get("content-type", "")
        end = max(seen.rfind(b) + len(b) if b in seen else 0 for b in ((b"\n",) if lines else _BREAKS))
        self._rest = seen[end:]
        return seen[:end]
