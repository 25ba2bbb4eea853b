"""A gate between two runs: pass, fail or inconclusive for each metric, against margins set beforehand.

Quality is judged by non-inferiority on the common items (paired, clustered); latency by the ratio of medians and of
p95. Pass: the one-sided 95 % bound is inside the margin. Fail: the bound on the other side is outside it (Bonferroni
over all checks). Else inconclusive, with the number of items that would settle it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from speedqual.analysis.base import Result, records
from speedqual.analysis.intervals import quantile_interval
from speedqual.analysis.measures import find_measure
from speedqual.analysis.paired import n_needed, paired_difference
from speedqual.analysis.sameness import differences
from speedqual.analysis.tidy import Table, numbers, tidy
from speedqual.errors import ConfigError, RefusedError

__all__ = ["DEFAULT_MARGINS", "Gate", "GateResult", "Margin", "margins_from", "pairs_of"]

EXIT = {"pass": 0, "fail": 1, "inconclusive": 5}


@dataclass(frozen=True)
class Margin:
    """``stat`` of ``metric``: ``mean`` (quality, failed: largest loss, as a share) or ``p50``/``p95`` (largest ratio
    new/base where lower is better, smallest where higher is)."""

    metric: str
    stat: str
    limit: float

    @property
    def name(self) -> str:
        return f"{self.metric} {self.stat}"


DEFAULT_MARGINS: tuple[Margin, ...] = (
    Margin("quality", "mean", 0.03),
    Margin("failed", "mean", 0.02),
    Margin("ttft_ms", "p50", 1.10),
    Margin("ttft_ms", "p95", 1.25),
    Margin("e2e_ms", "p50", 1.10),
    Margin("e2e_ms", "p95", 1.25),
    Margin("decode_tok_s", "p50", 0.90),
)


def margins_from(table: Mapping[str, Any], where: str = "gate") -> tuple[Margin, ...]:
    """Margins of a TOML table: ``quality = 0.02``, ``failed = 0.01``, ``ttft_ms = {p50 = 1.1, p95 = 1.2}``.

    >>> margins_from({"quality": 0.02, "e2e_ms": {"p95": 1.2}})
    (Margin(metric='quality', stat='mean', limit=0.02), Margin(metric='e2e_ms', stat='p95', limit=1.2))
    """
    out: list[Margin] = []
    for metric, limits in table.items():
        if metric in ("quality", "failed"):
            out.append(Margin(metric, "mean", _number(limits, f"{where}.{metric}")))
            continue
        if not isinstance(limits, Mapping):
            raise ConfigError(f"{metric} needs p50 or p95", where=where, fix=f"Write {metric} = {{p50 = 1.1}}")
        for stat, limit in limits.items():
            if stat not in ("p50", "p95", "p99"):
                raise ConfigError(
                    f"{stat!r} is no percentile here", where=f"{where}.{metric}", fix="Use p50, p95 or p99"
                )
            out.append(Margin(metric, stat, _number(limit, f"{where}.{metric}.{stat}")))
    if not out:
        raise ConfigError("no margin is set", where=where, fix="Write for example quality = 0.02")
    return tuple(out)


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
        raise ConfigError(f"{value!r} is no margin", where=where, fix="Give a number from 0 on")
    return float(value)


@dataclass(frozen=True)
class Gate:
    """Parameters. ``allow`` names differences that are accepted (``machine``, ``params``, …): they are noted."""

    margins: tuple[Margin, ...] = DEFAULT_MARGINS
    alpha: float = 0.05
    allow: tuple[str, ...] = field(default_factory=tuple)

    def __call__(self, base: Any, new: Any) -> GateResult:
        """Compare two runs (or their ``df``). Raises RefusedError naming what differs and must not."""
        found = differences(base, new)
        barred = [d for d in found if d.kind not in self.allow]
        if barred:
            kinds = dict.fromkeys(f"--allow {d.kind}" for d in barred)
            raise RefusedError(
                "the two runs cannot be compared: " + "; ".join(d.words for d in barred),
                fix=f"Run both alike, or accept it with {' '.join(kinds)}",
            )
        old, now = tidy(base), tidy(new)
        pairs = pairs_of(old, now)
        checks = len(self.margins) * len(pairs)
        rows = [self.check(old, now, a, b, m, checks) for a, b in pairs for m in self.margins]
        table = pd.DataFrame([row for row in rows if row is not None])
        notes = [f"accepted difference: {d.words}" for d in found]
        return GateResult(table, _verdict(table), tuple(notes), _overall(table))

    def check(self, old: Table, now: Table, a: str, b: str, m: Margin, checks: int) -> dict[str, Any] | None:
        """One row, or None where neither run has the metric."""
        level = 1 - self.alpha
        strict = 1 - self.alpha / checks
        if m.metric in ("quality", "failed"):
            row = _mean_check(old, now, a, b, m, level, strict)
        else:
            row = _ratio_check(old, now, a, b, m, level, strict)
        return (
            None
            if row is None
            else {"candidate": b if a == b else f"{a} → {b}", "check": m.name, "margin": m.limit, **row}
        )


@dataclass(frozen=True, eq=False, repr=False)
class GateResult(Result):
    """``table``: ``candidate, check, margin, base, new, change, lo, hi, n, n_needed, result``.

    ``change`` is new − base for quality and failures, new/base for speeds. ``outcome``: pass, fail or inconclusive.
    """

    outcome: str

    @property
    def exit_code(self) -> int:
        """0 pass, 1 fail, 5 inconclusive."""
        return EXIT[self.outcome]

    def to_dict(self) -> dict[str, Any]:
        """``outcome`` and ``checks[]``; strict JSON."""
        return {
            "kind": "gate",
            "outcome": self.outcome,
            "verdict": self.verdict,
            "notes": list(self.notes),
            "checks": records(self.table),
        }


def pairs_of(old: Table, now: Table) -> list[tuple[str, str]]:
    """Names in the base and in the new run that are compared: those that both have, or the only one of each."""
    common = [(name, name) for name in now.names if name in old.names]
    if common:
        return common
    if len(old.names) == len(now.names) == 1:
        return [(old.names[0], now.names[0])]
    raise RefusedError(
        f"no candidate is in both runs ({', '.join(old.names[:5])} / {', '.join(now.names[:5])})",
        fix="Give candidates the same name in both, or one candidate in each",
    )


def _per_item(table: Table, name: str, metric: str) -> pd.Series[float]:
    assert table.rows is not None and table.raw is not None
    if metric == "quality":
        return table.matrix()[name].dropna()
    raw = table.raw[table.raw["candidate"] == name]
    failed = raw["given"].isna() & (raw["outcome"] != "ok")
    return failed.astype(float).groupby(raw["item"]).mean()


def _mean_check(
    old: Table, now: Table, a: str, b: str, m: Margin, level: float, strict: float
) -> dict[str, Any] | None:
    before, after = _per_item(old, a, m.metric), _per_item(now, b, m.metric)
    items = before.index.intersection(after.index)
    if len(items) == 0:
        raise RefusedError(f"{a} and {b} have no item in common", fix="Run the same eval set")
    clusters = now.clusters(items)
    sign = 1.0 if m.metric == "quality" else -1.0
    d = paired_difference(sign * before[items].to_numpy(), sign * after[items].to_numpy(), clusters)
    lower, upper = d.bound("lower", level), d.bound("upper", strict)
    result = _judge(lower, upper, -m.limit)
    sd = d.se * math.sqrt(d.n)
    return {
        "base": float(before[items].mean()),
        "new": float(after[items].mean()),
        "change": sign * d.value + 0.0,
        "lo": d.lo if sign > 0 else _negative(d.hi),
        "hi": d.hi if sign > 0 else _negative(d.lo),
        "n": d.n,
        "n_needed": n_needed(m.limit + d.value, sd, 1 - level) if result == "inconclusive" else None,
        "result": result,
    }


def _negative(value: float | None) -> float | None:
    return None if value is None else -value


def _judge(lower: float | None, upper: float | None, limit: float) -> str:
    if lower is not None and lower >= limit:
        return "pass"
    if upper is not None and upper < limit:
        return "fail"
    return "inconclusive"


def _ratio_check(
    old: Table, now: Table, a: str, b: str, m: Margin, level: float, strict: float
) -> dict[str, Any] | None:
    """Ratio of percentiles on the log scale; its interval from both order-statistic intervals (MOVER)."""
    before, after = _values(old, a, m.metric), _values(now, b, m.metric)
    if before.size == 0 or after.size == 0:
        return None
    measure = find_measure(m.metric)
    q = int(m.stat[1:]) / 100
    # the slow tail of a rate is its low end
    q = 1 - q if measure.higher_is_better and q > 0.5 else q
    change, lo, hi = log_ratio(before, after, q, level)
    _, strict_lo, strict_hi = log_ratio(before, after, q, strict)
    if measure.higher_is_better:
        result = _judge(lo, strict_hi, math.log(max(m.limit, 1e-9)))
    else:
        result = _judge(_negative(hi), _negative(strict_lo), -math.log(max(m.limit, 1e-9)))
    n = min(before.size, after.size)
    return {
        "base": float(np.quantile(before, q)),
        "new": float(np.quantile(after, q)),
        "change": math.exp(change),
        "lo": None if lo is None else math.exp(lo),
        "hi": None if hi is None else math.exp(hi),
        "n": n,
        "n_needed": _n_for_ratio(change, lo, hi, m, n) if result == "inconclusive" else None,
        "result": result,
    }


def _values(table: Table, name: str, metric: str) -> NDArray[np.float64]:
    assert table.raw is not None
    values = numbers(table.raw[table.raw["candidate"] == name], metric)
    return values[np.isfinite(values) & (values > 0)]


def log_ratio(
    before: NDArray[np.float64], after: NDArray[np.float64], q: float, level: float
) -> tuple[float, float | None, float | None]:
    """log(q-quantile after / before) with one-sided bounds of ``level`` each; None where n is too small.

    MOVER (Zou and Donner 2008): the distances of both intervals add in squares.
    """
    a = quantile_interval(np.log(before), q, 2 * level - 1)
    b = quantile_interval(np.log(after), q, 2 * level - 1)
    assert a.value is not None and b.value is not None
    change = b.value - a.value
    lo = None if b.lo is None or a.hi is None else change - math.hypot(b.value - b.lo, a.hi - a.value)
    hi = None if b.hi is None or a.lo is None else change + math.hypot(b.hi - b.value, a.value - a.lo)
    return change, lo, hi


def _n_for_ratio(change: float, lo: float | None, hi: float | None, m: Margin, n: int) -> int | None:
    """Replies at which the bound would just reach the margin, as widths shrink with √n."""
    room = abs(math.log(max(m.limit, 1e-9))) - (change if m.limit >= 1 else -change)
    width = (hi - change if hi is not None else None) if m.limit >= 1 else (change - lo if lo is not None else None)
    if width is None:
        return {"p95": 72, "p99": 368}.get(m.stat)
    return math.ceil(n * (width / room) ** 2) if room > 0 else None


def _overall(table: pd.DataFrame) -> str:
    results = set(table["result"]) if len(table) else {"inconclusive"}
    return "fail" if "fail" in results else "inconclusive" if "inconclusive" in results else "pass"


def _verdict(table: pd.DataFrame) -> str:
    outcome = _overall(table)
    if table.empty:
        return "Inconclusive: no metric is in both runs."
    if outcome == "pass":
        return f"Pass: all {len(table)} checks are within their margins."
    rows = table[table["result"] == outcome]
    words = [f"{row['candidate']} {row['check']}" for row in records(rows)]
    need = rows["n_needed"].dropna()
    more = f"; about {int(need.max())} items would settle it" if outcome == "inconclusive" and len(need) else ""
    return f"{outcome.capitalize()}: {', '.join(words[:6])}{more}."
