"""How a run asks: limits that stop it, retries that it makes, and the rest of its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from speedqual.endpoints.deadlines import Deadlines
from speedqual.errors import UsageError
from speedqual.records import Plain

__all__ = ["Limits", "Retry", "Settings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits(Plain):
    """When to stop asking; None = no limit. They bound one call, so that a resumed run starts counting anew.

    ``requests``, ``tokens`` and ``usd`` let the trials in flight finish; ``wall_s`` cuts them off, unrecorded. A run
    that a limit stopped is complete as far as it went and can be resumed.
    """

    requests: int | None = None
    tokens: int | None = None  # prompt and output together
    usd: float | None = None
    wall_s: float | None = None

    def __post_init__(self) -> None:
        for name in ("requests", "tokens", "usd", "wall_s"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise UsageError(f"{name} is {value!r}", where="limits", fix="Give a number above 0, or leave it out")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry(Plain):
    """Attempts a trial, and the waits between them.

    Only outcomes that the protocol calls retryable are tried again. The wait is the endpoint's Retry-After where it
    sends one, and there is no further attempt when that is longer than ``longest_s``; else ``base_s`` × 2^(k − 1) after
    the k-th attempt, at most ``longest_s``, times 1 … 1 + ``jitter`` drawn from the run's seed.
    """

    attempts: int = 3
    base_s: float = 1.0
    longest_s: float = 60.0
    jitter: float = 0.5

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise UsageError(f"attempts is {self.attempts}", where="retry", fix="Give at least 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(Plain):
    """All that decides how trials are asked, as the manifest keeps it.

    ``concurrency``: streams in flight a candidate, one number or one a candidate's name. At 1, candidates of one group
    (one machine) also share a single slot; above, load is what was asked for, and each has its own slots.
    """

    repeats: int | None = None  # None: as each eval set says
    seed: int = 0
    concurrency: int | Mapping[str, int] = 1
    limits: Limits = Limits()
    retry: Retry = Retry()
    deadlines: Deadlines = field(default_factory=Deadlines)
    preflight: bool = True
    warm_up: bool = True

    def __post_init__(self) -> None:
        counts = self.concurrency.values() if isinstance(self.concurrency, Mapping) else [self.concurrency]
        if any(count < 1 for count in counts):
            raise UsageError("concurrency is below 1", where="settings", fix="Give at least 1 stream a candidate")
        if self.repeats is not None and self.repeats < 1:
            raise UsageError(f"repeats is {self.repeats}", where="settings", fix="Give at least 1")

    def slots(self, candidate: str) -> int:
        """Streams of this candidate that may be in flight at a time."""
        if isinstance(self.concurrency, Mapping):
            return self.concurrency.get(candidate, 1)
        return self.concurrency
