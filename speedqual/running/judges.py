"""A candidate as the ``ask`` of the LLM judge: prompt in, text out, with its cost counted.

Judges run after the timed window, or beside it on a thread; the client has an event loop of its own, so that a grader
can ask from plain code. A request that fails gives "" (a missing verdict), and is counted under ``faults``.
"""

from __future__ import annotations

import asyncio
import threading
from types import TracebackType
from typing import Self

from speedqual.endpoints.client import Client, Deadlines
from speedqual.endpoints.prices import price_of
from speedqual.records import Attempt, Candidate, Message, Price, Prompt
from speedqual.timing.cost import usage_cost_usd

__all__ = ["JudgeModel"]


class JudgeModel:
    """``with JudgeModel(candidate) as ask: ask("…")``. ``max_tokens`` bounds one verdict with its reasons.

    ``requests``, ``faults``, ``n_prompt``, ``n_out`` (tokens as the endpoint states them) and ``cost_usd`` count up;
    ``cost_usd`` is None once one reply had neither a cost of its own, nor a price and token counts.
    """

    def __init__(self, candidate: Candidate, *, deadlines: Deadlines | None = None, max_tokens: int = 400) -> None:
        self.candidate, self.max_tokens = candidate, max_tokens
        self.requests = self.faults = self.n_prompt = self.n_out = 0
        self.cost_usd: float | None = 0.0
        self._price: Price | None = candidate.price or price_of(candidate)
        self._client = Client(deadlines=deadlines)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="speedqual-judge", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._client.__aenter__(), self._loop).result()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._client.__aexit__(kind, exc, trace), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __call__(self, prompt: str) -> str:
        """Ask once. Raises ConfigError or MissingKeyError; a fault of the endpoint gives ""."""
        question = Prompt(messages=(Message("user", prompt),), max_tokens=self.max_tokens)
        attempt = asyncio.run_coroutine_threadsafe(self._client.ask(self.candidate, question), self._loop).result()
        self._count(attempt)
        return attempt.text if attempt.outcome == "ok" else ""

    def _count(self, attempt: Attempt) -> None:
        self.requests += 1
        self.faults += attempt.outcome != "ok"
        self.n_prompt += attempt.usage.n_prompt or 0
        self.n_out += attempt.usage.n_out or 0
        cost = attempt.cost_usd
        if cost is None and self._price is not None:
            counted = usage_cost_usd(attempt.usage, self._price)
            cost = counted if isinstance(counted, float) else None
        self.cost_usd = None if cost is None or self.cost_usd is None else self.cost_usd + cost
