"""Spending under limits: requests, tokens, money."""

from __future__ import annotations

from collections.abc import Callable

from speedqual.evalsets.tokens import text_tokens
from speedqual.records import Attempt, Price, Usage
from speedqual.running.settings import Limits
from speedqual.timing.cost import usage_cost_usd

__all__ = ["Budget", "spent"]


def spent(attempt: Attempt, prompt_tokens: Callable[[], int], price: Price | None) -> tuple[int, float]:
    """Tokens and USD of one attempt, for limits alone.

    What the server does not say, as of a stream that was cut off, is guessed by length: a limit that counted it as
    nothing would never be reached. A request that was turned away costs nothing.
    """
    usage = attempt.usage
    if usage.n_out is None and attempt.outcome in ("unreachable", "http_error"):
        return 0, attempt.cost_usd or 0.0
    read = prompt_tokens() if usage.n_prompt is None else usage.n_prompt
    written = text_tokens(attempt.reasoning + attempt.text) if usage.n_out is None else usage.n_out
    if attempt.cost_usd is not None:
        return read + written, attempt.cost_usd
    filled = Usage(n_prompt=read, n_out=written, n_cached=usage.n_cached, n_cache_write=usage.n_cache_write)
    usd = 0.0 if price is None else usage_cost_usd(filled, price)
    return read + written, usd if isinstance(usd, float) else 0.0


class Budget:
    """What has been spent, and whether one more trial fits.

    The largest trial so far stands for each one in flight, so that a limit on tokens or money is overshot by no more
    than one trial's surprise.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.requests = 0
        self.tokens = 0
        self.usd = 0.0
        self.stopped_by = ""
        self._in_flight = 0
        self._most_tokens = 0
        self._most_usd = 0.0

    def may_start(self) -> bool:
        """Whether another trial may begin; once a limit says no, it stays no."""
        self.stopped_by = self.stopped_by or self._exceeded()
        if self.stopped_by:
            return False
        self._in_flight += 1
        return True

    def may_request(self) -> bool:
        """Whether another request may be sent, a retry included; counts it if so."""
        if self.limits.requests is not None and self.requests >= self.limits.requests:
            self.stopped_by = self.stopped_by or self._words("requests")
            return False
        self.requests += 1
        return True

    def finish(self, tokens: int, usd: float) -> None:
        """Count a finished trial."""
        self._in_flight -= 1
        self.tokens += tokens
        self.usd += usd
        self._most_tokens, self._most_usd = max(self._most_tokens, tokens), max(self._most_usd, usd)

    def _exceeded(self) -> str:
        limits, more = self.limits, self._in_flight + 1
        if limits.requests is not None and self.requests >= limits.requests:
            return self._words("requests")
        if limits.tokens is not None and self.tokens + more * self._most_tokens > limits.tokens:
            return self._words("tokens")
        if limits.usd is not None and self.usd + more * self._most_usd > limits.usd:
            return self._words("usd")
        return ""

    def _words(self, name: str) -> str:
        return f"the limit of {getattr(self.limits, name):g} {'USD' if name == 'usd' else name}"
