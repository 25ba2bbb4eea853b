"""Load tests of every layer, made of stated stamps with a little seeded noise, and one result of each of their analyses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from loadruns import Made, attempt, entry, record

from speedqual.analysis import (
    ColdStarts,
    Knee,
    LatencyByLoad,
    Lengths,
    Levels,
    LoadErrors,
    Prefix,
    QualityUnderLoad,
    RunTimeline,
    Saturation,
)
from speedqual.analysis.base import Result
from speedqual.records import Record
from speedqual.timing.goodput import Slo

PROMISE = Slo("ttft_ms", "<", 400.0, share=0.95)
USERS = (1, 2, 4, 8, 16)


def users(n: int) -> str:
    return f"{n} user{'s' if n > 1 else ''}"


def climb(candidate: str = "快速档", slots: int = 8, limited: tuple[int, ...] = (16,)) -> Made:
    """More and more users on so many slots: waits grow beyond them, some requests fail, some answers get worse."""
    rng = np.random.default_rng(slots)
    replies, entries, at = [], [], 0.0
    for level in USERS:
        wait, rounds = max(1.0, level / slots), max(4, 96 // level)
        stay = 150 * wait + 400
        for n in range(rounds * level):
            sent = at + (n // level) * stay + n % level
            fails = n % 40 == 7 and level >= 8
            asked = _failing(sent, n) if fails else (_reply(sent, wait, rng, n),)
            right = None if asked[-1].outcome != "ok" else float(n % 24 < 20 - level // 4)
            made = record(users(level), level, n, *asked, candidate=candidate, item=f"i{n % 24}", score=right)
            replies.append(made)
        end = at + rounds * stay
        client = {"limited": True, "why": "the event loop was 9.0 ms late"} if level in limited else {}
        entries.append(entry(users(level), level, at, end, candidate=candidate, client=client, n_sent=rounds * level))
        at = end + 2000
    return Made(replies, entries, [PROMISE.to_dict()])


def _reply(sent: float, wait: float, rng: Any, n: int) -> Any:
    first = 150 * wait * float(rng.lognormal(0, 0.1))
    stall = 700.0 if n % 60 == 11 else 0.0
    return attempt(sent, first_ms=first, tokens=40, gap_ms=8.0, stall_ms=stall, n_prompt=(200, 900, 3000)[n % 3])


def _failing(sent: float, n: int) -> tuple[Any, ...]:
    if n % 80 == 7:
        return (attempt(sent, outcome="timeout", deadline="first_token", took_ms=2000),)
    busy = attempt(sent, outcome="http_error", status=429, retry_after_s=1.0, first_ms=20)
    return busy, attempt(sent + 1000, number=2, tokens=40, gap_ms=8.0)


def two() -> Made:
    """Two candidates, one after the other."""
    one, other = climb(), climb("standard", 4, ())
    shifted = [replace(e, attempts=tuple(_later(a) for a in e.attempts)) for e in other.made]
    entries = [dict(e) | {k: e[k] + 200_000 for k in ("start_ms", "end_ms", "drained_ms")} for e in other.levels]
    return Made([*one.made, *shifted], [*one.levels, *entries], one.slos)


def _later(one: Any) -> Any:
    line, ahead = one.timeline, 200_000_000_000
    events = tuple(replace(event, t_ns=event.t_ns + ahead) for event in line.events)
    moved = replace(line, t_send=line.t_send + ahead, t_close=line.t_close + ahead, events=events)
    return replace(one, timeline=moved)


def long_inputs() -> Iterator[Record]:
    rng = np.random.default_rng(2)
    for x in (100, 500, 2000, 8000):
        for n in range(10):
            first = (60 + 0.25 * x) * float(rng.lognormal(0, 0.05))
            reply = attempt(500_000 + 4000 * n + x * 10, first_ms=first, n_prompt=x, gap_ms=8 + x / 4000, tokens=30)
            yield record(f"{x:,} tokens", x, n, reply, layer="long_input", candidate="快速档")


def prefixes() -> Iterator[Record]:
    n = 0
    for share, line in ((0.0, ""), (0.5, ""), (1.0, ""), (0.5, "-line")):
        for pair in range(7):
            for note in ("cold", "warm"):
                cached = round(2000 * share) if note == "warm" else 0
                first = 80 + 0.2 * (2000 - cached) + pair
                own = {"layer": "prefix", "candidate": "快速档", "item": f"en-pair-{pair}-{note}", "note": note}
                name = f"{share:.0%} shared" if not line else f"one line differs at {share:.0%}"
                reply = attempt(1_000_000 + 1000 * n, first_ms=first, n_prompt=2000, n_cached=cached)
                made = record(name, share, n, reply, **own)  # type: ignore[arg-type]
                yield replace(made, trial=replace(made.trial, evalset=f"prefix-2000-{round(100 * share)}{line}"))
                n += 1


def cold_starts() -> Iterator[Record]:
    at = 2_000_000.0
    for idle in (1, 10):
        for kind in ("kept", "new"):
            for n in range(5):
                at += 1000 * idle + 900
                first = 85 + (300 if idle > 5 else 0) + (30 if kind == "new" else 0) + n
                sent = attempt(
                    at, first_ms=first, connection=kind.replace("kept", "reused"), load_ms=300.0 if idle > 5 else None
                )
                own = {"layer": "cold", "candidate": "快速档", "note": f"{kind} connection"}
                yield record(f"after {idle} s, {kind} connection", idle, n, sent, **own)  # type: ignore[arg-type]


def everything() -> Made:
    """All layers of one candidate."""
    ladder = climb()
    return Made([*ladder.made, *long_inputs(), *prefixes(), *cold_starts()], ladder.levels, ladder.slos)


RESULTS: dict[str, Callable[[], Result]] = {
    "knee": lambda: Knee()(climb()),
    "knee of two": lambda: Knee()(two()),
    "latency": lambda: LatencyByLoad(knee=Knee()(climb()))(climb()),
    "latency of two": lambda: LatencyByLoad(metric="e2e_ms", knee=Knee()(two()))(two()),
    "latency of two layers": lambda: LatencyByLoad()(everything()),
    "speed by load": lambda: LatencyByLoad(metric="decode", quantiles=(0.5, 0.95))(climb()),
    "levels": lambda: Levels()(everything()),
    "saturation": lambda: Saturation()(climb(limited=())),
    "saturation of two": lambda: Saturation()(two()),
    "lengths": lambda: Lengths()(Made(list(long_inputs()))),
    "prefix": lambda: Prefix()(Made(list(prefixes()))),
    "cold": lambda: ColdStarts()(everything()),
    "quality": lambda: QualityUnderLoad()(climb()),
    "quality of two": lambda: QualityUnderLoad()(two()),
    "errors": lambda: LoadErrors()(two()),
    "errors of a table": lambda: LoadErrors()(climb().df),
    "no errors": lambda: LoadErrors()(Made(list(long_inputs()))),
    "timeline": lambda: RunTimeline()(two()),
}


@cache
def result_of(name: str) -> Result:
    """Each is analysed once for all tests."""
    return RESULTS[name]()
