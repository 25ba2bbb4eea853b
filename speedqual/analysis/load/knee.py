"""Goodput at each level, and the knee: the highest level that holds every promise.

"Holds" is tested level by level in the order in which they were run, fixed or chosen by a search: after f levels that
were not shown to hold, the next one is tested at alpha / ((f + 1)(f + 2)). A wrong "holds" is first made at some level
that does not hold, after r such levels, with a chance of at most alpha / ((r + 1)(r + 2)); these sum to alpha. "Fails"
is adjusted by Holm over the levels. A level that the breaker cut off is judged by evidence that may be watched, the
others by the exact test. That load never helps is used for one thing: above the lowest failing level no level is the
knee, even where one seems to hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from speedqual.analysis.base import Result, records
from speedqual.analysis.intervals import holm, wilson
from speedqual.analysis.load.judging import (
    Counts,
    State,
    concerned,
    counts_of,
    evidence,
    judged,
    p_fails,
    p_holds,
)
from speedqual.analysis.load.reading import Level, LoadTable, read_load
from speedqual.analysis.tidy import numbers
from speedqual.errors import UsageError
from speedqual.timing.goodput import Slo, parse_slo

__all__ = ["Knee", "KneeResult"]

LAYERS = ("concurrency", "arrivals", "long_input", "long_output")


@dataclass(frozen=True)
class Knee:
    """``slos``: promises such as ``"ttft_ms < 800 @ 95%"``; empty = those of the run. ``alpha``: chance that any level
    is said to hold (or to fail) wrongly, over one ladder of levels."""

    slos: tuple[Slo | str, ...] = ()
    alpha: float = 0.05
    layers: tuple[str, ...] = LAYERS

    def __call__(self, data: Any) -> KneeResult:
        """Judge the levels of a load test. Raises UsageError without a promise, or where no such layer was run."""
        load = read_load(data)
        slos = tuple(parse_slo(s) if isinstance(s, str) else s for s in self.slos) or promised(load)
        if not slos:
            raise UsageError("there is no promise to keep", fix='Give one: --slo "ttft_ms < 800 @ 95%"')
        ladders = [_ladder(load, levels, slos, self.alpha) for _, _, levels in load.ladders(self.layers)]
        if not ladders:
            raise UsageError("no layer of this load test has levels to climb", fix="Run concurrency or arrivals")
        levels, table, classes = (pd.concat([one[i] for one in ladders], ignore_index=True) for i in range(3))
        knees = pd.DataFrame([_knee(part) for _, part in levels.groupby(["candidate", "layer"], sort=False)])
        return KneeResult(table, _verdict(knees), _notes(levels, slos), slos, levels, classes, knees)


@dataclass(frozen=True, eq=False, repr=False)
class KneeResult(Result):
    """``table``: one row a level and promise (``candidate, layer, level, x, unit, slo, required, n, good, bad,
    undetermined, share, lo, hi, p_holds, p_fails, state``); shares with Wilson intervals.

    ``levels``: one row a level: goodput over all promises (``goodput, lo, hi``), ``state``, ``client_limited, why``.
    ``classes``: the goodput of each class of traffic. ``knees``: one row a ladder: ``knee``, ``knee_x`` (None: no level
    is shown to hold), ``fails``, ``fails_x``: the lowest level that fails; ``untold``: levels that may be either.
    """

    slos: tuple[Slo, ...]
    levels: pd.DataFrame
    classes: pd.DataFrame
    knees: pd.DataFrame

    def to_dict(self) -> dict[str, Any]:
        """``knees[]``, ``levels[]``, ``promises[]``, ``classes[]``; strict JSON."""
        return {
            "kind": "knee",
            "verdict": self.verdict,
            "notes": list(self.notes),
            "slos": [str(slo) for slo in self.slos],
            "knees": records(self.knees),
            "levels": records(self.levels),
            "promises": records(self.table),
            "classes": records(self.classes),
        }


def promised(load: LoadTable) -> tuple[Slo, ...]:
    """The promises that the run was made with."""
    return tuple(Slo.from_dict(entry) for entry in load.slos)


def _ladder(
    load: LoadTable, levels: Sequence[Level], slos: Sequence[Slo], alpha: float
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Levels, promises and classes of one candidate's layer."""
    rows = [load.rows(one)[load.rows(one)["in_window"]] for one in levels]
    tests = [[_test(one, part, slo) for one, part in zip(levels, rows, strict=True)] for slo in slos]
    for own in tests:
        _adjust(own, levels, alpha, len(slos))
    by_level = list(zip(*tests, strict=True))
    holds = in_order([max(t["raw_holds"] for t in ts) for ts in by_level], levels, alpha)
    fails = _holm([min(t["raw_fails"] for t in ts) for ts in by_level], levels)
    whole, classes = [], []
    for i, (one, part) in enumerate(zip(levels, rows, strict=True)):
        state = _state(holds[i], fails[i], alpha)
        whole.append(_facts(one) | _goodput(part, slos) | _told(one, state, holds[i], fails[i], by_level[i]))
        names = sorted(set(part["traffic"].fillna("").astype(str)) - {""}) if "traffic" in part else []
        classes += [_facts(one) | {"traffic": c} | _goodput(part[part["traffic"] == c], slos) for c in names]
    table = pd.DataFrame([t for ts in by_level for t in ts]).drop(columns=["raw_holds", "raw_fails"])
    return pd.DataFrame(whole), table, pd.DataFrame(classes)


def in_order(p_values: Sequence[float], levels: Sequence[Level], alpha: float) -> NDArray[np.float64]:
    """Adjusted p-values of "holds" (see above; a single level needs none); NaN where the client was the limit: that
    level is not tested.

    >>> run = [Level("c", "l", str(k), k, "users", turn=k) for k in range(4)]
    >>> [round(float(p), 3) for p in in_order([0.02, 0.03, 0.008, 0.002], run, 0.05)]
    [0.04, 0.06, 0.048, 0.012]
    """
    adjusted, spent = np.full(len(levels), np.nan), 0
    tested = [i for i in sorted(range(len(levels)), key=lambda k: levels[k].turn) if not levels[i].limited]
    for i in tested:
        adjusted[i] = min(1.0, p_values[i] * ((spent + 1) * (spent + 2) if len(tested) > 1 else 1))
        spent += bool(adjusted[i] > alpha)
    return adjusted


def _holm(p_values: Sequence[float], levels: Sequence[Level]) -> NDArray[np.float64]:
    return holm([np.nan if one.limited else p for one, p in zip(levels, p_values, strict=True)])


def _adjust(tests: Sequence[dict[str, Any]], levels: Sequence[Level], alpha: float, slos: int) -> None:
    """Over the levels, for each promise as for all together."""
    for test in tests:
        test["raw_fails"] = min(1.0, slos * test["raw_fails"])
    holds = in_order([test["raw_holds"] for test in tests], levels, alpha)
    fails = _holm([test["raw_fails"] for test in tests], levels)
    for test, up, down in zip(tests, holds, fails, strict=True):
        test |= {"p_holds": float(up), "p_fails": float(down), "state": _state(up, down, alpha)}


def _facts(one: Level) -> dict[str, Any]:
    return {"candidate": one.candidate, "layer": one.layer, "level": one.level, "x": one.x, "unit": one.unit}


def _test(one: Level, rows: pd.DataFrame, slo: Slo) -> dict[str, Any]:
    """One promise at one level. Cut off because of what was seen: p = 1 / evidence, which may be watched."""
    mine = concerned(rows, slo)
    counts = counts_of(judged(mine, [slo]), numbers(mine, "started_ms"))
    if one.ended == "breaker":
        p_up, p_down = (1.0 if e <= 1 else 1 / e for e in evidence(counts, slo.share))
    else:
        p_up, p_down = p_holds(counts, slo.share), p_fails(counts, slo.share)
    own = {"slo": str(slo), "required": slo.share, **_shown(counts)}
    return _facts(one) | own | {"raw_holds": p_up, "raw_fails": p_down}


def _shown(counts: Counts) -> dict[str, Any]:
    share = wilson(counts.good, counts.n)
    numbers_ = {"n": counts.n, "good": counts.good, "bad": counts.bad, "undetermined": counts.undetermined}
    return numbers_ | {"share": share.value, "lo": share.lo, "hi": share.hi, "design_effect": counts.effect}


def _goodput(rows: pd.DataFrame, slos: Sequence[Slo]) -> dict[str, Any]:
    found = _shown(counts_of(judged(rows, slos), numbers(rows, "started_ms")))
    return {"goodput" if name == "share" else name: value for name, value in found.items()}


def _state(p_up: float, p_down: float, alpha: float) -> State:
    return "holds" if p_up <= alpha else "fails" if p_down <= alpha else "open"


def _told(one: Level, state: State, p_up: float, p_down: float, tests: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    own = {"client_limited": one.limited, "ended": one.ended, "p_holds": float(p_up), "p_fails": float(p_down)}
    return own | {"state": state, "why": _why(one, state, tests)}


def _why(one: Level, state: State, tests: Sequence[Mapping[str, Any]]) -> str:
    if one.limited:
        return f"the client was the limit: {one.limited_why}"
    if not any(test["n"] for test in tests):
        return one.why or "nothing was sent in its window"
    if state == "fails":
        return str(min(tests, key=lambda t: t["raw_fails"])["slo"])
    return "" if state == "holds" else "too near to the promised share for so few requests"


def _knee(part: pd.DataFrame) -> dict[str, Any]:
    """The knee of one ladder (levels in order of load)."""
    first = part.iloc[0]
    states: NDArray[Any] = part["state"].to_numpy()
    failing = np.flatnonzero(states == "fails")
    top = int(failing[0]) if failing.size else len(part)
    holding = np.flatnonzero(states[:top] == "holds")
    knee = part.iloc[holding[-1]] if holding.size else None
    low = int(holding[-1]) + 1 if holding.size else 0
    fails = part.iloc[top] if failing.size else None
    odd = np.flatnonzero(states[top:] == "holds")
    return {
        "candidate": first["candidate"],
        "layer": first["layer"],
        "unit": first["unit"],
        "knee": None if knee is None else knee["level"],
        "knee_x": None if knee is None else knee["x"],
        "goodput": None if knee is None else knee["goodput"],
        "lo": None if knee is None else knee["lo"],
        "hi": None if knee is None else knee["hi"],
        "n": None if knee is None else knee["n"],
        "fails": None if fails is None else fails["level"],
        "fails_x": None if fails is None else fails["x"],
        "untold": ", ".join(part["level"].iloc[low:top]),
        "odd": part["level"].iloc[top + int(odd[0])] if odd.size else None,
        "highest": part["level"].iloc[-1],
        "limited": ", ".join(part.loc[part["client_limited"], "level"]),
    }


def _verdict(knees: pd.DataFrame) -> str:
    return " ".join(_sentence(row) for row in knees.to_dict("records"))


def _sentence(row: Mapping[Any, Any]) -> str:
    said = f"{row['candidate']}, {row['layer']}: "
    if pd.isna(row["knee"]):
        said += "no level is shown to hold every promise"
    else:
        said += f"every promise is held up to {row['knee']} (goodput {100 * row['goodput']:.0f} % of {row['n']:.0f})"
    said += ", no level tried is shown to break one" if pd.isna(row["fails"]) else f", broken at {row['fails']}"
    return said + (f"; cannot be told: {row['untold']}." if row["untold"] else ".")


def _notes(levels: pd.DataFrame, slos: Sequence[Slo]) -> tuple[str, ...]:
    notes = [
        f"{row['candidate']}, {row['level']}: the client was the limit, so the server is not judged there"
        for row in levels[levels["client_limited"]].to_dict("records")
    ]
    unknown = int(levels["undetermined"].sum())
    if unknown:
        notes.append(f"{unknown} requests are undetermined: a promised number cannot exist for them")
    if any(slo.share >= 1 for slo in slos):
        notes.append("a promise to all can be refuted, never shown: it holds where none broke it and 95 % is shown")
    return tuple(notes)
