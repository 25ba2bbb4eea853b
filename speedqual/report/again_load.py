"""The options of ``speedqual load`` that make the levels of a plan again; None where no options do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

from speedqual.errors import SpeedqualError
from speedqual.evalsets import load
from speedqual.evalsets.generators.load_texts import short_text
from speedqual.running.load import Level, LoadPlan, Search
from speedqual.running.load.breaker import BreakerRule
from speedqual.running.load.ladders import arrivals_level
from speedqual.running.load.layers import QUICK, REMOTE, Scale, layered
from speedqual.timing.goodput import parse_slo

__all__ = ["IN_PYTHON", "load_options"]

IN_PYTHON = "await speedqual.load_test(candidates, LoadPlan.from_dict(manifest['load']['plan']), evalsets=run.evalsets)"

_PYTHON_ONLY = ("items", "shuffled", "new_connections", "note", "candidates")
_REPLY_TOKENS = 256
_LISTS = (
    ("--users", r"users:(?P<n>\d+)(?:,think=(?P<more>[\d.]+))?", "--think", "0"),
    ("--rate", r"(?P<more>poisson|constant):(?P<n>[\d.]+)", "--pattern", "poisson"),
)
"""Options that take a list of numbers: their arrivals, the option of the rest, and what that is when not given."""


def load_options(manifest: Mapping[str, Any]) -> list[str] | None:
    """The options, without candidates, attempts and seed. They are given only where they were seen to make these very
    levels; a plan made in Python may have no options, and a trace may be gone."""
    hashes = {entry["name"]: entry.get("hash", "") for entry in manifest["evalsets"]}
    try:
        plan = LoadPlan.from_dict(manifest["load"]["plan"])
        return [*_levels(plan, manifest["seed"], hashes), *_shared(plan)]
    except (SpeedqualError, OSError, _Unsaid):
        return None


class _Unsaid(Exception):
    """No option says it."""


def _must(fits: bool) -> None:
    if not fits:
        raise _Unsaid


def _levels(plan: LoadPlan, seed: int, hashes: Mapping[str, str]) -> Iterator[str]:
    of_layers = [one for one in plan.levels if one.items or one.layer not in ("arrivals", "concurrency")]
    own = list(plan.levels[len(of_layers) :])
    _must(list(plan.levels) == of_layers + own)
    if of_layers:
        yield from _layers(of_layers, seed, hashes)
    if plan.search is not None:
        _must(not own)
        yield from _search(plan.search)
        own = [plan.search.level]
    else:
        yield from _sent(own)
    if own:
        yield from _like(own, seed, hashes, asked_already=bool(of_layers))


def _layers(levels: list[Level], seed: int, hashes: Mapping[str, str]) -> Iterator[str]:
    names = list(dict.fromkeys(one.layer for one in levels))
    ladder = next((one.evalset for one in levels if one.layer == "concurrency"), "short-text")
    given = None if ladder == "short-text" else load(ladder)
    _must(given is None or given.hash == hashes[ladder])
    longest = max((int(one.x) for one in levels if one.layer == "long_input"), default=0)
    for flags, scale in (([], REMOTE), (["--quick"], QUICK)):
        context = _context(scale, longest)
        asked = replace(scale, context=context)
        if list(layered(names, evalset=given, scale=asked, seed=seed).plan.levels) == levels:
            yield from ["--layers", ",".join(names), *flags]
            yield from () if context == scale.context else ["--context", str(context)]
            yield from () if given is None else ["--evalset", given.name]
            return
    raise _Unsaid


def _context(scale: Scale, longest: int) -> int:
    """That of the scale where it allows these lengths and no more, else the least that does."""
    allowed = [n for n in scale.input_tokens if int(n * 1.25) + _REPLY_TOKENS <= scale.context]
    return scale.context if not longest or longest == max(allowed) else int(longest * 1.25) + _REPLY_TOKENS


def _sent(levels: list[Level]) -> Iterator[str]:
    """One list of users or of rates where that says it all, otherwise each arrivals in its own words."""
    texts = [one.arrivals for one in levels]
    for flag, pattern, more, usual in _LISTS:
        found = [match for text in texts if (match := re.fullmatch(pattern, text))]
        others = {match["more"] or usual for match in found}
        if len(found) == len(texts) and len(others) == 1:
            yield from [flag, ",".join(match["n"] for match in found)]
            yield from () if others == {usual} else [more, *others]
            return
    mixed = [text for text in texts if "=" in text.partition(":")[0]]
    _must(len(mixed) < 2 and texts[len(texts) - len(mixed) :] == mixed)
    for text in texts:
        for part in text.split(" + ") if text in mixed else [text]:
            yield from ["--arrivals", part]


def _search(search: Search) -> Iterator[str]:
    _must(search == Search(level=search.level, high=search.high))
    flag, number, *more = _sent([search.level])
    _must(flag != "--arrivals")
    yield from ["--find-knee", flag, f"{number},{search.high:g}", *more]


def _like(levels: list[Level], seed: int, hashes: Mapping[str, str], *, asked_already: bool) -> Iterator[str]:
    """What the levels of a command line share."""
    like = levels[0]
    plain = {field.name: field.default for field in fields(Level) if field.name in _PYTHON_ONLY}
    _must(all(getattr(like, name) == value for name, value in plain.items()) and like.seed == seed)
    _must(all(arrivals_level(one.arrivals, like) == one for one in levels))
    _must(like.duration_s is not None or like.n is not None)
    numbers = {
        "--duration": like.duration_s, "--requests": like.n, "--output-tokens": like.max_tokens,
        "--warm-up": like.warmup_s or None, "--cool-down": like.cooldown_s or None,
    }  # fmt: skip
    for flag, value in numbers.items():
        yield from () if value is None else [flag, f"{value:.15g}"]
    yield from () if like.unique else ["--same-prompts"]
    of_layers = asked_already and like.evalset == "short-text"  # theirs is taken
    if not of_layers and not _is_default(like, seed, hashes):
        _must(not asked_already and load(like.evalset).hash == hashes[like.evalset])
        yield from ["--evalset", like.evalset]
    for name, what in (like.traffic_sets or {}).items():
        yield from ["--evalset", f"{name}={what}"]


def _is_default(like: Level, seed: int, hashes: Mapping[str, str]) -> bool:
    """Whether it is the set that the command makes itself when none is given."""
    if like.arrivals.startswith("trace:") and like.evalset == "trace":
        return True
    return like.evalset == "short-text" and hashes[like.evalset] == short_text(seed).hash


def _shared(plan: LoadPlan) -> Iterator[str]:
    _must(plan.breaker == BreakerRule() and all(parse_slo(str(one)) == one for one in plan.slos))
    for slo in plan.slos:
        yield from ["--slo", str(slo)]
    yield from () if plan.drain_s == 60.0 else ["--drain", f"{plan.drain_s:.15g}"]
    yield from () if plan.early_stop else ["--no-early-stop"]
