"""Goodput: the share of everything sent that met every promise."""

from __future__ import annotations

import difflib
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from speedqual.errors import UsageError
from speedqual.records import Plain
from speedqual.timing.contract import METRICS
from speedqual.timing.measure import DEFINITIONS

__all__ = ["Goodput", "Slo", "goodput", "judge", "parse_slo"]

Judgement = Literal["good", "bad", "undetermined"]
Operator = Literal["<", "<=", ">", ">="]
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_FORM = re.compile(
    r"\s*(?:(?P<traffic>[^\s:@<>=]+)\s*:\s*)?(?P<metric>\w+)\s*(?P<op><=|>=|<|>)\s*(?P<limit>[^\s@]+)"
    r"\s*(?:@\s*(?P<share>[^\s%]+)\s*%)?\s*"
)


@dataclass(frozen=True, slots=True)
class Slo(Plain):
    """A promise about one request: ``Slo("ttft_ms", "<", 800)``; ``share`` of all that is sent must keep it.

    ``traffic``: the class of requests that it is made to; empty = all.
    """

    metric: str
    op: Operator
    limit: float
    share: float = 1.0
    traffic: str = ""

    def __str__(self) -> str:
        whom = f"{self.traffic}: " if self.traffic else ""
        return f"{whom}{self.metric} {self.op} {self.limit:g} @ {self.share * 100:g}%"

    def met(self, value: float) -> bool:
        return _OPERATORS[self.op](value, self.limit)

    def concerns(self, traffic: str) -> bool:
        """Whether it is a promise to requests of this class."""
        return self.traffic in ("", traffic)


def parse_slo(text: str) -> Slo:
    """``ttft_ms < 800 @ 95%`` or ``interactive: ttft_ms < 800``; without a share all must keep it.

    Raises UsageError naming what cannot be read.
    """
    form = _FORM.fullmatch(text)
    if form is None:
        fix = "Write a metric, < <= > or >=, a limit and perhaps a share: ttft_ms < 800 @ 95%"
        raise UsageError("no SLO can be read from it", where=f"slo {text!r}", fix=fix)
    _known(form["metric"], text)
    share = 100.0 if form["share"] is None else _number(form["share"], "share", text)
    if not 0 < share <= 100:
        raise UsageError(f"the share is {share:g} %", where=f"slo {text!r}", fix="Give a share above 0 and up to 100 %")
    _check_direction(form["metric"], form["op"], text)
    limit = _number(form["limit"], "limit", text)
    return Slo(form["metric"], cast("Operator", form["op"]), limit, round(share / 100, 12), form["traffic"] or "")


def _known(metric: str, text: str) -> None:
    names = [definition.name for definition in DEFINITIONS if definition.unit != "name"]
    if metric in names:
        return
    near = difflib.get_close_matches(metric, names, 1)
    fix = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(names)}"
    raise UsageError(f"no metric of a request is called {metric!r}", where=f"slo {text!r}", fix=fix)


def _check_direction(metric: str, op: str, text: str) -> None:
    """Nobody promises to be slow: times and money have an upper limit, rates a lower one; counts may have either."""
    unit = METRICS[metric].unit
    good = "<" if unit in ("ms", "USD") else ">" if unit.endswith("/s") else op[0]
    if op[0] != good:
        side = "smaller" if good == "<" else "larger"
        fix = f"Did you mean {metric} {good}{op[1:]}?"
        raise UsageError(f"of {metric} {side} is better", where=f"slo {text!r}", fix=fix)


def _number(word: str, what: str, text: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UsageError(f"the {what} is {word!r}", where=f"slo {text!r}", fix="Give a number")
    return value


def judge(outcome: str, metrics: Mapping[str, Any], slos: Iterable[Slo]) -> Judgement:
    """One request: an outcome but ``ok`` is bad, so is a broken promise; a number that cannot exist decides nothing."""
    if outcome != "ok":
        return "bad"
    unknown = False
    for slo in slos:
        value = metrics.get(slo.metric)
        if not isinstance(value, (int, float)):
            unknown = True
        elif not slo.met(value):
            return "bad"
    return "undetermined" if unknown else "good"


@dataclass(frozen=True, slots=True)
class Goodput:
    """Counts over all that was sent. ``share`` keeps the undetermined in its denominator; None: nothing was sent."""

    sent: int
    good: int
    bad: int
    undetermined: int

    @property
    def share(self) -> float | None:
        return self.good / self.sent if self.sent else None


def goodput(requests: Iterable[tuple[str, Mapping[str, float | int | str | None]]], slos: Iterable[Slo]) -> Goodput:
    """Judge ``(outcome, metrics)`` of every request sent in the window, failures and cancellations included."""
    promises = tuple(slos)
    found = [judge(outcome, metrics, promises) for outcome, metrics in requests]
    return Goodput(len(found), *(found.count(kind) for kind in ("good", "bad", "undetermined")))
