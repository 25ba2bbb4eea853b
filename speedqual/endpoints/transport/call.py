"""One request from the first look at the clock to the decoded attempt."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from typing import Any

import aiohttp
from yarl import URL

from speedqual.endpoints.access import bare_url, scrub
from speedqual.endpoints.base import Endpoint, HttpRequest, RawReply, ReadsInSteps
from speedqual.endpoints.deadlines import Deadlines, Watchdog
from speedqual.endpoints.live import LiveView, Watch
from speedqual.endpoints.slot import Slot, Until
from speedqual.endpoints.transport.connection import CALL, Exchange, Origin
from speedqual.endpoints.transport.errors import redirect_target, why_no_reply
from speedqual.endpoints.transport.lag import Vitals
from speedqual.endpoints.transport.reply import ClockCheck, raw_reply, waits_ns
from speedqual.endpoints.transport.sockets import realtime_offset_ns
from speedqual.endpoints.transport.turns import Turns
from speedqual.records import Attempt

__all__ = ["Call"]

CLOSING_S = 0.05  # how long a server's first reply is followed to see whether it closes the connection


class Call:
    """Sends once, waits for the end, and never raises for what the other side does."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        vitals: Vitals,
        turns: Turns,
        deadlines: Deadlines,
        endpoint: Endpoint,
        request: HttpRequest,
        secrets: tuple[str, ...],
        max_bytes: int,
        origin: Origin,
    ) -> None:
        self._origin = origin
        self._session, self._vitals, self._turns, self._deadlines = session, vitals, turns, deadlines
        self._endpoint, self._request, self._secrets = endpoint, request, secrets
        self._exchange = Exchange(endpoint.end_hints, self._is_complete, max_bytes, origin)
        self._clocks = ClockCheck(realtime_offset_ns())
        self._status: int | None = None
        self._deadline: str | None = None
        self._t_asked = 0

    async def run(self, number: int, slot: Slot, watch: Watch | None, t_asked: int) -> tuple[RawReply, Attempt]:
        """The raw reply and what the protocol makes of it. ``t_asked``: when it was asked for."""
        self._t_asked = time.perf_counter_ns()
        live = LiveView(self._endpoint, self._exchange, watch) if watch is not None else None
        try:
            await self._talk(slot.until)
        finally:
            if live is not None:
                live.stop()
        t_close = None if self._exchange.at_eof else time.perf_counter_ns()
        self._clocks = self._clocks.again(realtime_offset_ns())
        lag_ns = self._vitals.ticker.worst_since(t_asked)
        await self._see_whether_it_closes()
        if slot.over is not None and self._looks_whole():
            slot.over()
        await self._turns.take()
        raw = self._raw(t_sched=slot.t_sched, t_close=t_close, lag_ns=lag_ns)
        attempt = await self._turns.through(self._reading(raw))
        if changes := self._changes(attempt, raw, number):
            attempt = replace(attempt, **changes)
        self._vitals.note(attempt.timeline, t_asked, waits_ns(self._exchange, raw))
        return raw, attempt

    def _looks_whole(self) -> bool:
        """Without reading it."""
        exchange = self._exchange
        return self._status == HTTPStatus.OK and exchange.ending == "eof" and bool(exchange.arrivals)

    def _reading(self, raw: RawReply) -> Generator[None, None, Attempt]:
        if isinstance(self._endpoint, ReadsInSteps):
            return (yield from self._endpoint.decode_in_steps(raw))
        return self._endpoint.decode(raw)

    async def _see_whether_it_closes(self) -> None:
        """Once a server, after its first reply and outside all figures: the next request would be lost in a closing."""
        if self._origin.looked or not self._exchange.at_eof:
            return
        self._origin.looked = True
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSING_S):
                await self._origin.closing.wait()

    async def _talk(self, until: Until | None) -> None:
        token = CALL.set(self._exchange)
        try:
            async with asyncio.timeout(None) as scope:
                dog = Watchdog(self._deadlines, self._heard, lambda: self._exchange.t_send, scope, until)
                try:
                    await self._send_and_wait()
                finally:
                    dog.stop()
        except TimeoutError:
            self._deadline = dog.fired
        finally:
            CALL.reset(token)
            self._exchange.end("cancelled")

    async def _send_and_wait(self) -> None:
        request = self._request
        try:
            reply = await self._session.request(
                request.method,
                URL(request.url, encoded=True),
                data=request.body,
                headers={"Accept-Encoding": "identity", "User-Agent": "speedqual", **request.headers},
                allow_redirects=False,
            )
        except aiohttp.ConnectionTimeoutError:
            self._deadline = "connect"
            return
        except (aiohttp.ClientError, OSError) as exc:
            self._exchange.fail(*why_no_reply(exc, bare_url(request.url), begun=self._exchange.begun))
            return
        self._status = reply.status
        self._exchange.headers = {name.lower(): value for name, value in reply.headers.items()}
        try:
            if not self._exchange.begun:
                await self._read_plainly(reply)
            await asyncio.shield(self._exchange.ended)  # a deadline ends the waiting, not the exchange: it says how
        finally:
            if self._exchange.at_eof:
                reply.release()
            else:
                reply.close()

    async def _read_plainly(self, reply: aiohttp.ClientResponse) -> None:
        """The body by aiohttp's own means, dated when this task gets it."""
        exchange = self._exchange
        exchange.t_asked = self._t_asked
        exchange.head = (0, time.perf_counter_ns(), b"")
        try:
            async for data in reply.content.iter_any():
                exchange.last = arrival = (0, time.perf_counter_ns(), data)
                if not exchange.keep(arrival):
                    return
        except aiohttp.ClientError as exc:
            exchange.end("cut", f"broken HTTP body: {type(exc).__name__}")
        else:
            exchange.at_eof = True
            exchange.end("eof")

    def _raw(self, t_sched: int | None = None, t_close: int | None = None, lag_ns: int | None = None) -> RawReply:
        return raw_reply(
            self._exchange,
            self._clocks,
            status=self._status,
            deadline=self._deadline,
            secrets=self._secrets,
            t_sched=t_sched,
            t_close=t_close,
            client_lag_ns=lag_ns,
        )

    def _so_far(self) -> Attempt:
        """What has come until now, decoded: only when a deadline or an end marker seems to be there."""
        return self._endpoint.decode(self._raw())

    def _heard(self) -> int | None:
        events = self._so_far().timeline.events
        return events[-1].t_ns if events else None

    def _is_complete(self) -> bool:
        return self._so_far().timeline.t_end is not None

    def _changes(self, attempt: Attempt, raw: RawReply, number: int) -> dict[str, Any]:
        """What only the transport knows; and the key is taken out of what the other side may have echoed."""
        changes: dict[str, Any] = {}
        if number != attempt.number:
            changes["number"] = number
        if target := redirect_target(self._request.url, raw):
            message = f"{bare_url(self._request.url)} redirects to {target}; redirects are refused, use that URL"
            changes |= {"error_message": message, "retryable": False}
        if self._exchange.reused and self._exchange.last is None and raw.ending in ("reset", "cut"):
            changes |= {"retryable": True, "flags": (*attempt.flags, "stale_connection")}
        for name in ("error_message", "text", "reasoning") if self._secrets else ():
            said = changes.get(name, getattr(attempt, name)) or ""
            if (clean := scrub(said, self._secrets)) != said:
                changes[name] = clean
        return changes
