"""Levels made from a few words: so many users, so many requests a second, any arrivals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from speedqual.running.arrivals import Constant, OpenLoop, Poisson, arrivals
from speedqual.running.load.levels import Level

__all__ = ["arrivals_level", "rate_levels", "user_levels"]


def user_levels(users: Sequence[int], like: Level, think_s: float = 0.0) -> Iterator[Level]:
    """A level of the closed loop for each number of users, in all else like ``like``."""
    think = f",think={think_s:g}" if think_s else ""
    return (arrivals_level(f"users:{n}{think}", like) for n in users)


def rate_levels(
    rates: Sequence[float], like: Level, pattern: Literal["poisson", "constant"] = "poisson"
) -> list[Level]:
    """A level of the open loop for each rate, in all else like ``like``."""
    return [arrivals_level(f"{pattern}:{rate:g}", like) for rate in rates]


def arrivals_level(text: str, like: Level) -> Level:
    """The level of these arrivals, named after them, in all else like ``like``."""
    how = arrivals(text)
    if isinstance(how, OpenLoop):
        name = f"{how.rate:,g} req/s" if isinstance(how, Constant | Poisson) else text
        return replace(like, layer="arrivals", name=name, x=how.rate, unit="req/s", arrivals=text)
    named = text.startswith("users:")
    name = f"{how.streams:,} user{'s' if how.streams > 1 else ''}" if named else text
    return replace(like, layer="concurrency", name=name, x=how.streams, unit="users", arrivals=text)
