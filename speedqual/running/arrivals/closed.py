"""Closed loops: each stream waits for its reply, pauses, and sends again."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import Literal

from speedqual.errors import UsageError

__all__ = ["ClosedLoop", "Conversations", "Swarm"]

Think = Literal["fixed", "exponential"]


@dataclass(frozen=True, slots=True)
class ClosedLoop:
    """``users`` at once, each with ``think_s`` between a reply and its next request (``exponential``: on average)."""

    users: int
    think_s: float = 0.0
    think: Think = "fixed"

    def __post_init__(self) -> None:
        _counted("users", self.users)
        _paused("think", self.think_s)

    @property
    def text(self) -> str:
        kind = ",exponential" if self.think == "exponential" else ""
        return f"users:{self.users}{_option('think', self.think_s)}{kind}"

    @property
    def streams(self) -> int:
        return self.users

    @property
    def turns(self) -> int | None:
        return None

    def pauses(self, seed: int, stream: int) -> Iterator[int]:
        if self.think == "fixed":
            return repeat(round(self.think_s * 1e9))
        rng = random.Random(f"think/{seed}/{stream}")
        return (round(-math.log(1.0 - rng.random()) * self.think_s * 1e9) for _ in repeat(None))


@dataclass(frozen=True, slots=True)
class Conversations:
    """``users`` talk at once; each turn carries all earlier ones of its conversation, which has ``turns``."""

    users: int
    turns: int
    think_s: float = 0.0

    def __post_init__(self) -> None:
        _counted("users", self.users)
        _counted("turns", self.turns)
        _paused("think", self.think_s)

    @property
    def text(self) -> str:
        return f"conversations:{self.users}x{self.turns}{_option('think', self.think_s)}"

    @property
    def streams(self) -> int:
        return self.users

    def pauses(self, seed: int, stream: int) -> Iterator[int]:
        return repeat(round(self.think_s * 1e9))


@dataclass(frozen=True, slots=True)
class Swarm:
    """``agents`` in parallel, ``rounds`` requests each, with a growing context; a tool takes ``pause_s`` in between."""

    agents: int
    rounds: int
    pause_s: float = 0.0

    def __post_init__(self) -> None:
        _counted("agents", self.agents)
        _counted("rounds", self.rounds)
        _paused("pause", self.pause_s)

    @property
    def text(self) -> str:
        return f"swarm:{self.agents}x{self.rounds}{_option('pause', self.pause_s)}"

    @property
    def streams(self) -> int:
        return self.agents

    @property
    def turns(self) -> int | None:
        return self.rounds

    def pauses(self, seed: int, stream: int) -> Iterator[int]:
        return repeat(round(self.pause_s * 1e9))


def _option(name: str, seconds: float) -> str:
    return f",{name}={seconds:.12g}" if seconds else ""


def _counted(name: str, n: int) -> None:
    if n < 1:
        raise UsageError(f"{name} is {n}", where="arrivals", fix="Give at least 1")


def _paused(name: str, seconds: float) -> None:
    if not 0 <= seconds < math.inf:
        raise UsageError(f"{name} is {seconds!r}", where="arrivals", fix="Give seconds, 0 or more")
