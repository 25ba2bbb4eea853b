"""Arrivals from a text: ``poisson:20``, ``users:8,think=1``, ``interactive=poisson:15 + batch=constant:2``."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NoReturn

from speedqual.errors import UsageError
from speedqual.running.arrivals.base import ClosedArrivals, OpenLoop
from speedqual.running.arrivals.changing import Ramp, Steps
from speedqual.running.arrivals.closed import ClosedLoop, Conversations, Swarm
from speedqual.running.arrivals.mixed import Mixed, Traffic
from speedqual.running.arrivals.steady import Constant, GammaBursts, Poisson
from speedqual.running.arrivals.trace import read_trace

__all__ = ["EXAMPLES", "Arrivals", "arrivals"]

Arrivals = OpenLoop | ClosedArrivals

_CLASS = re.compile(r"\s*([A-Za-z][\w-]*)=(?=[a-z]+:)")


def arrivals(text: str) -> Arrivals:
    """What the text describes; ``EXAMPLES`` has one of each kind. Raises UsageError with the way to write it."""
    if not _CLASS.match(text):
        return _one(text)
    return Mixed(tuple(_class(part) for part in re.split(r"\s\+\s|\+(?=[A-Za-z][\w-]*=[a-z]+:)", text)))


def _class(part: str) -> Traffic:
    match = _CLASS.match(part)
    if match is None:
        raise UsageError(f"a class of the mix has no name: {part.strip()!r}", where="arrivals", fix=_MIX)
    made = _one(part[match.end() :])
    if not isinstance(made, OpenLoop):
        fix = "Mix open loops, such as poisson:15 and constant:2"
        raise UsageError(f"{made.text} waits for replies, and a mix does not", where="arrivals", fix=fix)
    return Traffic(match[1], made)


_MIX = "Write: interactive=poisson:15 + batch=constant:2"


@dataclass(frozen=True, slots=True)
class _Words:
    """A text taken apart: ``kind:head,name=value,flag``."""

    text: str
    kind: str
    head: str
    options: Mapping[str, str]

    def number(self, name: str, given: str) -> float:
        try:
            return float(given)
        except ValueError:
            self.wrong(f"{name} is {given!r}, which is no number")

    def whole(self, name: str, given: str) -> int:
        if not given.strip().isdecimal():
            self.wrong(f"{name} is {given!r}, which is no whole number")
        return int(given)

    def option(self, name: str, default: float) -> float:
        return self.number(name, self.options[name]) if name in self.options else default

    def two(self, separator: str, what: str) -> tuple[str, str]:
        first, found, second = self.head.partition(separator)
        if not found or not first or not second:
            self.wrong(f"{self.head!r} are not {what}")
        return first, second

    def wrong(self, what: str) -> NoReturn:
        raise UsageError(what, where=f"arrivals {self.text!r}", fix=f"Write it like {EXAMPLES[self.kind]}")


def _one(text: str) -> Arrivals:
    kind, colon, rest = text.strip().partition(":")
    if kind not in EXAMPLES:
        near = difflib.get_close_matches(kind, EXAMPLES, 1)
        fix = f"Did you mean {EXAMPLES[near[0]]}?" if near else f"Write one like {', '.join(EXAMPLES.values())}"
        raise UsageError(f"there are no arrivals {kind!r}", where=f"arrivals {text!r}", fix=fix)
    words = _taken_apart(text.strip(), kind, rest)
    if not colon or not words.head:
        words.wrong("what comes after the colon is missing")
    for name in words.options:
        if name not in _OPTIONS[kind]:
            words.wrong(f"{kind} takes no {name!r}")
    return _MAKERS[kind](words)


def _taken_apart(text: str, kind: str, rest: str) -> _Words:
    """Options stand at the end: ``name=value``, or the flag of the kind."""
    parts, options = rest.split(","), dict[str, str]()
    while len(parts) > 1 and re.fullmatch(r"\s*[a-z]+(=.*)?", parts[-1]):
        name, _, value = parts.pop().strip().partition("=")
        if name in options:
            _Words(text, kind, "", {}).wrong(f"{name} stands there twice")
        options[name] = value
    return _Words(text, kind, ",".join(parts).strip(), options)


def _gamma(words: _Words) -> GammaBursts:
    if "cv" not in words.options:
        words.wrong("cv is missing, the gaps' coefficient of variation")
    return GammaBursts(words.number("the rate", words.head), words.option("cv", 1.0))


def _ramp(words: _Words) -> Ramp:
    first, last = words.two("-", "two rates")
    rates = words.number("the first rate", first), words.number("the last rate", last)
    return Ramp(*rates, "even" if "even" in words.options else "poisson")


def _step(words: _Words) -> Steps:
    rates = tuple(words.number("a rate", one) for one in words.head.split(","))
    return Steps(rates, "even" if "even" in words.options else "poisson")


def _users(words: _Words) -> ClosedLoop:
    users, think_s = words.whole("the number of users", words.head), words.option("think", 0.0)
    return ClosedLoop(users, think_s, "exponential" if "exponential" in words.options else "fixed")


def _conversations(words: _Words) -> Conversations:
    users, turns = words.two("x", "users x turns")
    return Conversations(words.whole("users", users), words.whole("turns", turns), words.option("think", 0.0))


def _swarm(words: _Words) -> Swarm:
    agents, rounds = words.two("x", "agents x rounds")
    return Swarm(words.whole("agents", agents), words.whole("rounds", rounds), words.option("pause", 0.0))


EXAMPLES = {
    "constant": "constant:20",
    "poisson": "poisson:20",
    "gamma": "gamma:20,cv=2",
    "ramp": "ramp:1-50",
    "step": "step:5,10,20",
    "trace": "trace:FILE.csv",
    "users": "users:8,think=1",
    "conversations": "conversations:4x6,think=2",
    "swarm": "swarm:20x5,pause=0.5",
}
"""Kind → how it is written."""

_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "constant": (),
    "poisson": (),
    "gamma": ("cv",),
    "ramp": ("even",),
    "step": ("even",),
    "trace": ("speed",),
    "users": ("think", "exponential"),
    "conversations": ("think",),
    "swarm": ("pause",),
}

_MAKERS: Mapping[str, Callable[[_Words], Arrivals]] = {
    "constant": lambda words: Constant(words.number("the rate", words.head)),
    "poisson": lambda words: Poisson(words.number("the rate", words.head)),
    "gamma": _gamma,
    "ramp": _ramp,
    "step": _step,
    "trace": lambda words: read_trace(words.head, words.option("speed", 1.0)),
    "users": _users,
    "conversations": _conversations,
    "swarm": _swarm,
}
