"""From the options of ``speedqual load`` to its plan and eval sets."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from speedqual.cli.asking import sets_named
from speedqual.errors import UsageError
from speedqual.records import EvalSet

if TYPE_CHECKING:
    from speedqual.running.load import Level, LoadPlan, Search
    from speedqual.timing.goodput import Slo

__all__ = ["Wanted", "wanted"]

DURATION_S = 30.0
SPAN = (1.0, 1000.0)  # requests a second between which the knee is searched when nothing else is said


@dataclass(frozen=True)
class Wanted:
    """What the command line asks for."""

    plan: LoadPlan
    evalsets: list[EvalSet]


def wanted(options: dict[str, Any]) -> Wanted:
    """Plan and sets. Raises UsageError naming the option that cannot be read."""
    from speedqual.running.load import LoadPlan
    from speedqual.timing.goodput import parse_slo

    slos = tuple(parse_slo(text) for text in options["slos"])
    plan, sets = _layers(options, slos) if options["layers"] else (None, list[EvalSet]())
    if options["find_knee"] or not options["layers"] or _numbers(options):
        own, traffic = _own_sets(options)
        like = _like(options, own[0], traffic)
        levels = () if options["find_knee"] else tuple(_levels(options, like))
        search = _search(options, like) if options["find_knee"] else None
        before = plan.levels if plan is not None else ()
        plan = LoadPlan(levels=(*before, *levels), slos=slos, search=search)
        sets += [one for one in own if one.name not in {known.name for known in sets}]
    assert plan is not None
    return Wanted(replace(plan, drain_s=options["drain"], early_stop=not options["no_early_stop"]), sets)


def _numbers(options: dict[str, Any]) -> bool:
    return bool(options["users"] or options["rate"] or options["arrivals"])


def _layers(options: dict[str, Any], slos: tuple[Slo, ...]) -> tuple[LoadPlan, list[EvalSet]]:
    from speedqual.running.load.layers import QUICK, REMOTE, layered

    names = () if options["layers"] == "all" else tuple(filter(None, options["layers"].split(",")))
    scale = QUICK if options["quick"] else REMOTE
    if options["context"]:
        scale = replace(scale, context=options["context"])
    given, _ = _split(options)
    sets = sets_named({**options, "evalsets": given[:1]}) if given else [None]
    found = layered(names, evalset=sets[0], scale=scale, seed=options["seed"], slos=slos)
    return found.plan, list(found.evalsets)


def _split(options: dict[str, Any]) -> tuple[list[str], dict[str, str]]:
    """Eval sets for all, and those of one class of traffic: ``batch=NAME``."""
    plain, traffic = [], {}
    for text in options["evalsets"]:
        name, found, rest = text.partition("=")
        if found and name.isidentifier():
            traffic[name] = rest
        else:
            plain.append(text)
    return plain, traffic


def _own_sets(options: dict[str, Any]) -> tuple[list[EvalSet], dict[str, str]]:
    """The set that is asked first, then those of the classes, whose names come in the second place."""
    from speedqual.evalsets.generators.load_texts import short_text

    plain, traffic = _split(options)
    if len(plain) > 1:
        fix = "Give one, and others for a class of traffic: --evalset batch=NAME"
        raise UsageError(f"{len(plain)} eval sets are given for the same requests", where="--evalset", fix=fix)
    first = sets_named({**options, "evalsets": plain}) if plain else [_of_trace(options) or short_text(options["seed"])]
    others = {name: sets_named({**options, "evalsets": [what]})[0] for name, what in traffic.items()}
    known = {one.name: one for one in (*first, *others.values())}
    return list(known.values()), {name: one.name for name, one in others.items()}


def _of_trace(options: dict[str, Any]) -> EvalSet | None:
    """Prompts as long as those of the trace that is replayed, if one is."""
    from speedqual.running.arrivals import Trace, arrivals
    from speedqual.running.load.traces import trace_set

    replayed = (arrivals(text) for text in _mixed(options["arrivals"]))
    return next((trace_set(how, options["seed"]) for how in replayed if isinstance(how, Trace)), None)


def _like(options: dict[str, Any], evalset: EvalSet, traffic: dict[str, str]) -> Level:
    """What all levels of a command line share."""
    from speedqual.running.load import Level

    n, duration_s = options["requests"], options["duration"]
    duration_s = DURATION_S if duration_s is None and n is None else duration_s
    return Level(
        layer="arrivals",
        name="like",
        x=1.0,
        unit="req/s",
        arrivals="users:1",
        evalset=evalset.name,
        traffic_sets=traffic or None,
        n=n,
        duration_s=duration_s,
        warmup_s=options["warm_up"],
        cooldown_s=options["cool_down"],
        seed=options["seed"],
        max_tokens=options["output_tokens"],
        unique=not options["same_prompts"],
    )


def _levels(options: dict[str, Any], like: Level) -> Iterator[Level]:
    from speedqual.running.load.ladders import arrivals_level, rate_levels, user_levels

    if not _numbers(options):
        fix = "Give --users 1,2,4, --rate 5,10, --arrivals poisson:10, or --layers"
        raise UsageError("nothing to send", where="load", fix=fix)
    if options["users"]:
        users = [int(n) for n in _list(options["users"], "--users", whole=True)]
        yield from user_levels(users, like, options["think"])
    if options["rate"]:
        yield from rate_levels(_list(options["rate"], "--rate"), like, options["pattern"])
    if options["arrivals"]:
        for text in _mixed(options["arrivals"]):
            yield arrivals_level(text, _lasting(text, like, options))


def _lasting(text: str, like: Level, options: dict[str, Any]) -> Level:
    """A trace is sent to its end where nothing else is said."""
    from speedqual.running.arrivals import Trace, arrivals

    how = arrivals(text)
    if isinstance(how, Trace) and options["duration"] is None:
        return replace(like, duration_s=how.span_s)
    return like


def _mixed(texts: tuple[str, ...]) -> list[str]:
    """Classes of traffic go into one level together, everything else is a level of its own.

    The path of a trace is told from here: no manifest names a folder of its owner.
    """
    texts = tuple(re.sub(r"(?<=trace:)/[^,]+", lambda path: os.path.relpath(path[0]), text) for text in texts)
    classes = [text for text in texts if "=" in text.split(":", 1)[0]]
    alone = [text for text in texts if text not in classes]
    return [*alone, *([" + ".join(classes)] if classes else [])]


def _list(text: str, flag: str, *, whole: bool = False) -> list[float]:
    found = []
    for word in text.split(","):
        try:
            value = float(int(word) if whole else float(word))
        except ValueError:
            value = 0.0
        if not 0 < value < float("inf"):
            kind = "whole numbers" if whole else "numbers"
            raise UsageError(f"{word.strip()!r} is no number above 0", where=flag, fix=f"Give {kind} such as 1,2,4")
        found.append(value)
    return found


def _search(options: dict[str, Any], like: Level) -> Search:
    from speedqual.running.load import Search
    from speedqual.running.load.ladders import rate_levels, user_levels

    if options["users"] and options["rate"]:
        raise UsageError("the knee is searched over --users or --rate, not both", where="--find-knee", fix="Drop one")
    if options["users"]:
        span = _list(options["users"], "--users", whole=True)
        low = next(iter(user_levels([int(min(span))], like, options["think"])))
    else:
        span = _list(options["rate"], "--rate") if options["rate"] else list(SPAN)
        low = rate_levels([min(span)], like, options["pattern"])[0]
    if len(span) < 2:
        fix = "Give the lowest and the highest: --rate 1,100 or --users 1,64"
        raise UsageError("one number is no span to search in", where="--find-knee", fix=fix)
    return Search(level=low, high=max(span))
