"""The client: sends a prompt, keeps the reply as stamped bytes, decodes it when the stream is over.

Faults of an endpoint are outcomes of the ``Attempt``, never exceptions. Only ConfigError and MissingKeyError are raised
by ``ask``; a cancelled call closes its socket. No redirect is followed and nothing is retried here: a POST that died on
a kept-alive connection before any byte came back carries the flag ``stale_connection``, and the run repeats it as an
attempt of its own. Servers that close each connection right after its reply, whatever they announce, are found out by
waiting 50 ms after their first reply; from then on each of their requests has a connection of its own.
"""

from __future__ import annotations

import gc
import os
import ssl
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Self

import aiohttp

from speedqual.endpoints.access import bare_url, base_url_of, key_of, known_keys, split_credentials
from speedqual.endpoints.base import RawReply
from speedqual.endpoints.deadlines import Deadlines
from speedqual.endpoints.live import Watch
from speedqual.endpoints.preflight import TINY, raise_for
from speedqual.endpoints.registry import endpoint as endpoint_named
from speedqual.endpoints.slot import Slot
from speedqual.endpoints.transport.call import Call
from speedqual.endpoints.transport.connection import MAX_REPLY_BYTES, Origin, make_connector
from speedqual.endpoints.transport.lag import ClientHealth, Vitals
from speedqual.endpoints.transport.sockets import SocketBook
from speedqual.endpoints.transport.turns import Turns
from speedqual.errors import UsageError
from speedqual.records import Attempt, Candidate, Prompt

__all__ = ["Client", "Deadlines", "Watch"]


class Client:
    """Sends requests and times them. One per event loop; ``async with`` it.

    ``trust_env``: whether proxies and netrc of the environment are used (off by default: a proxy would be measured with
    the endpoint); the manifest states it. ``max_reply_bytes`` bounds what is kept of one reply.
    """

    def __init__(
        self,
        *,
        deadlines: Deadlines | None = None,
        environ: Mapping[str, str] | None = None,
        trust_env: bool = False,
        max_reply_bytes: int = MAX_REPLY_BYTES,
    ) -> None:
        self.deadlines = deadlines or Deadlines()
        self.trust_env = trust_env
        self._environ = os.environ if environ is None else environ
        self._max_bytes = max_reply_bytes
        self._session: aiohttp.ClientSession | None = None
        self._vitals: Vitals | None = None
        self._turns: Turns | None = None
        self._origins: defaultdict[str, Origin] = defaultdict(Origin)

    async def __aenter__(self) -> Self:
        self._session = self._new_session()
        self.settle()
        self._vitals, self._turns = Vitals(), Turns()
        self._vitals.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        gc.unfreeze()
        if self._vitals is not None:
            self._vitals.stop()
        if self._session is not None:
            await self._session.close()

    def settle(self) -> None:
        """Collect garbage and freeze what is left, so that no collection walks it while streams are open.

        Call it between phases: it takes milliseconds.
        """
        gc.collect()
        gc.freeze()

    def rest(self) -> None:
        """Others send in its stead: watch the event loop no longer."""
        self._open()[1].stop()

    @asynccontextmanager
    async def new_connections(self) -> AsyncIterator[None]:
        """Inside, each request makes a connection of its own; those that are kept stay so for afterwards."""
        kept = self._open()[0]
        try:
            async with self._new_session(force_close=True) as self._session:
                yield
        finally:
            self._session = kept

    def _new_session(self, *, force_close: bool = False) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=make_connector(SocketBook(), ssl=ssl.create_default_context(), force_close=force_close),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, connect=self.deadlines.connect_s),
            trust_env=self.trust_env,
            auto_decompress=False,
            max_line_size=1 << 16,
            max_field_size=1 << 16,
        )

    def health(self) -> ClientHealth:
        """What the client did to the figures so far."""
        return self._open()[1].health(trust_env=self.trust_env)

    async def ask(
        self,
        candidate: Candidate,
        prompt: Prompt,
        *,
        number: int = 1,
        slot: Slot | None = None,
        watch: Watch | None = None,
        deadlines: Deadlines | None = None,
    ) -> Attempt:
        """Send ``prompt`` once and return all that came back. ``slot``: its place in a load test's time.

        ``deadlines`` of this request go before those of the client, except the one to connect.
        """
        return (await self._call(candidate, prompt, number, slot, watch, deadlines))[1]

    async def listen(self, candidate: Candidate, prompt: Prompt) -> tuple[RawReply, Attempt]:
        """As ``ask``, with the stamped bytes beside what they say: what recordings are made of."""
        return await self._call(candidate, prompt)

    async def check(self, candidate: Candidate) -> Attempt:
        """Preflight: one tiny request. Raises the EndpointError that says what is wrong and how to mend it."""
        raw, attempt = await self._call(candidate, TINY)
        url = bare_url(base_url_of(candidate, endpoint_named(candidate.endpoint), self._environ))
        raise_for(attempt, raw, candidate, url, self._environ)
        return attempt

    async def warm_up(self, candidate: Candidate) -> Attempt:
        """One request for no record: names are resolved, a connection is open and the model is loaded after it."""
        return await self.ask(candidate, TINY)

    def _open(self) -> tuple[aiohttp.ClientSession, Vitals, Turns]:
        if self._session is None or self._vitals is None or self._turns is None:
            raise UsageError("the client is not open", where="Client", fix="Use it in 'async with Client() as client'")
        return self._session, self._vitals, self._turns

    async def _call(
        self,
        candidate: Candidate,
        prompt: Prompt,
        number: int = 1,
        slot: Slot | None = None,
        watch: Watch | None = None,
        deadlines: Deadlines | None = None,
    ) -> tuple[RawReply, Attempt]:
        session, vitals, turns = self._open()
        t_asked = time.perf_counter_ns()
        await turns.take(first=True)
        endpoint = endpoint_named(candidate.endpoint)
        base_url = base_url_of(candidate, endpoint, self._environ)
        key = key_of(candidate, endpoint, base_url, self._environ)
        request, password = split_credentials(endpoint.request(candidate, prompt, base_url, key))
        secrets = (*known_keys(candidate, endpoint, self._environ), *filter(None, [password]))
        origin = self._origins["/".join(request.url.split("/", 3)[:3])]
        limits = deadlines or self.deadlines
        call = Call(session, vitals, turns, limits, endpoint, request, secrets, self._max_bytes, origin)
        return await call.run(number, slot or Slot(), watch, t_asked)
