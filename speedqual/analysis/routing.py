"""Routing and fallback between a fast and a strong candidate, replayed from recorded items: no new calls.

Policies: always fast, always strong, a random mix (the line to beat), a cascade (fast, check, strong: times add up), a
router on features known before the call, a hedge (strong joins when fast is late), the oracle. Thresholds and group
choices are cross-fitted: an item never helps to choose its own route.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from speedqual.analysis.base import Result, plain, records
from speedqual.analysis.faults import suspicious_groups
from speedqual.analysis.features import additive_gain, as_groups, cross_fitted, easy_groups, folds_of
from speedqual.analysis.replay import TIMES, Outcome, Replay
from speedqual.analysis.tidy import Table, tidy
from speedqual.display.numbers import share
from speedqual.errors import UsageError
from speedqual.running.policy import Policy

__all__ = ["Routing", "RoutingResult"]

Array = NDArray[np.float64]
_FEATURES = ("difficulty", "task", "cluster", "language", "n_prompt")


@dataclass(frozen=True)
class Routing:
    """Parameters.

    ``fast`` and ``strong``: names; empty = the quickest (or cheapest, or first) and the best candidate. ``features``:
    columns of the items known before the call; empty = those of difficulty, task, cluster, language and prompt length
    that exist. ``success_at``: score from which a perfect check passes an answer. ``check_seconds`` and ``check_usd``:
    what one check costs. ``hedge_at``: quantile of the fast one's time after which the strong one is asked as well.
    ``keep``: share of the strong one's quality that the recommended policy must keep.
    """

    fast: str = ""
    strong: str = ""
    features: tuple[str, ...] = ()
    success_at: float = 1.0
    check_seconds: float = 0.0
    check_usd: float = 0.0
    hedge_at: float = 0.9
    keep: float = 0.98
    folds: int = 5
    draws: int = 2000
    seed: int = 0

    def __call__(self, data: Any) -> RoutingResult:
        """Replay all policies on a run, its ``df`` or ``from_table(…)`` with items."""
        table = tidy(data)
        if table.rows is None:
            raise UsageError("routing needs items, not summaries", fix="Name the column of items with item=")
        fast, strong = _pair(table, self.fast, self.strong)
        return _Study(self, self.replay(table, fast, strong)).result()

    def replay(self, table: Table, fast: str, strong: str) -> Replay:
        """The recorded items of a pair, with this study's prices of a check and its hedge."""
        return Replay(table, fast, strong, self.check_seconds, self.check_usd, self.hedge_at, self.draws, self.seed)


@dataclass(frozen=True, eq=False, repr=False)
class RoutingResult(Result):
    """``table``: ``policy, quality, quality_lo, quality_hi, share_strong, cost, time_p50, time_p95, gap_recovered,
    of_strong_quality, of_strong_cost, assumes``.

    ``curve``: quality over the share sent to the strong one for the router, the random mix and the oracle.
    ``areas``: area under each curve (performance gap recovered, 0.5 = random, at most ``oracle``).
    ``policy``: the recommended one, ready to save as JSON; None when nothing beats always-strong.
    """

    fast: str
    strong: str
    curve: pd.DataFrame
    areas: dict[str, float]
    policy: Policy | None
    time_unit: str

    def to_dict(self) -> dict[str, Any]:
        """``policies[]``, ``curve[]``, ``areas``, ``policy``; strict JSON."""
        return {
            "kind": "routing",
            "verdict": self.verdict,
            "notes": list(self.notes),
            "fast": self.fast,
            "strong": self.strong,
            "policies": records(self.table),
            "curve": records(self.curve),
            "areas": plain(self.areas),
            "policy": self.policy.to_dict() if self.policy else None,
            "time_unit": self.time_unit,
        }


def _pair(table: Table, fast: str, strong: str) -> tuple[str, str]:
    for name in (fast, strong):
        if name and name not in table.names:
            raise UsageError(f"there is no candidate {name!r}", fix=f"Known: {', '.join(table.names[:20])}")
    s = table.summary.set_index("candidate")
    s = s[s["quality"].notna()]
    if len(s) < 2:
        raise UsageError("routing needs two candidates with graded answers")
    known = [m for m in (*TIMES, "cost_usd") if m in s and s[m].notna().any()][:1]
    if not strong:  # the best; of equals the quickest, or a slower twin would be what must be beaten
        others = s.drop(index=[fast] if fast else [])
        strong = str(others.sort_values(["quality", *known], ascending=[False, *(True for _ in known)]).index[0])
    if not fast:
        others = s.drop(index=strong)
        fast = str(others[known[0]].idxmin()) if known and others[known[0]].notna().any() else str(others.index[0])
    return fast, strong


@dataclass(frozen=True, eq=False)
class _Study:
    """All that is said of one pair."""

    ask: Routing
    replay: Replay

    def result(self) -> RoutingResult:
        used = self.used_features()
        gain = self.predicted_gain(used)
        plan = self.plan(used)
        rows = [self.replay.row(*policy) for policy in self.policies(gain, plan)]
        curve, areas = self.curves(gain)
        policy, words = self.recommend(pd.DataFrame(rows), plan)
        notes = [
            *self.replay.table.notes,
            *suspicious_groups(self.replay.table.only([self.replay.fast, self.replay.strong])),
        ]
        lost = len(self.replay.table.matrix()) - len(self.replay.items)
        if lost:
            notes.append(f"{lost} items that one of the two lacks are left out, {len(self.replay.items)} are common")
        if not used:
            notes.append("no feature is known before the call: the router can only guess")
        return RoutingResult(
            pd.DataFrame(rows),
            words,
            tuple(notes),
            self.replay.fast,
            self.replay.strong,
            curve,
            areas,
            policy,
            self.replay.unit,
        )

    def used_features(self) -> list[str]:
        rows = self.replay.facts
        for name in self.ask.features:
            if name not in rows:
                raise UsageError(f"the items have no feature {name!r}", fix=f"Columns: {', '.join(rows.columns)}")
        wanted = [f for f in self.ask.features or _FEATURES if f in rows and rows[f].nunique() >= 2]
        # a word that is different for nearly every item predicts nothing; numbers are cut into bins
        return [f for f in wanted if _is_number(rows[f]) or rows[f].nunique() <= len(rows) / 5]

    def predicted_gain(self, used: list[str]) -> Array:
        """Cross-fitted gain of the strong one, shape [items]."""
        facts, gain = self.replay.facts, self.replay.y[:, 1] - self.replay.y[:, 0]
        keys = np.column_stack([as_groups(facts[f]) for f in used]) if used else np.empty((len(gain), 0), dtype=object)
        return cross_fitted(self.folds(), lambda a, b: additive_gain(keys[a], gain[a], keys[b]), len(gain))

    def folds(self) -> NDArray[np.int64]:
        """Whole clusters, unless the cluster itself is a feature: then every fold must hold some of each."""
        known = "cluster" in self.used_features()
        groups = np.arange(len(self.replay.items)).astype(str) if known else self.replay.clusters
        return folds_of(groups, self.ask.folds, self.ask.seed)

    def plan(self, used: list[str]) -> _Plan | None:
        """Groups for the fast one: the feature that spares the strong one most, and the cross-fitted choice."""
        plans = [self.plan_of(f) for f in used if not _is_number(self.replay.facts[f])]
        some = [p for p in plans if p is not None]
        return max(some, key=lambda p: p.to_fast.mean()) if some else None

    def plan_of(self, feature: str) -> _Plan | None:
        key = as_groups(self.replay.facts[feature])
        fast, strong = self.replay.y[:, 0], self.replay.y[:, 1]
        chosen = easy_groups(key, fast, strong, self.ask.keep)
        if not chosen or len(chosen) == len(set(key)):
            return None

        def fit(train: NDArray[Any], test: NDArray[Any]) -> Array:
            easy = easy_groups(key[train], fast[train], strong[train], self.ask.keep)
            return np.isin(key[test], easy).astype(float)

        return _Plan(feature, chosen, cross_fitted(self.folds(), fit, len(key)) > 0.5)

    def policies(self, gain: Array, plan: _Plan | None) -> list[Outcome]:
        """Name, score, time and cost per item, which items ask the strong one, what it assumes."""
        n = len(self.replay.items)
        failed = self.replay.y[:, 0] < self.ask.success_at
        half = np.zeros(n, dtype=bool)
        half[np.argsort(-gain, kind="stable")[: n // 2]] = True
        out = [
            self.replay.routed("always fast", np.zeros(n, dtype=bool), ""),
            self.replay.routed("always strong", np.ones(n, dtype=bool), ""),
            self.replay.routed("router, half to strong", half, "cross-fitted"),
            self.replay.cascade("cascade", failed, np.ones(n, dtype=bool), "a perfect check"),
            self.replay.routed("oracle", self.replay.y[:, 1] > self.replay.y[:, 0], "knows the outcome"),
        ]
        if plan is not None:
            out.append(self.replay.routed("groups", ~plan.to_fast, "cross-fitted"))
            out.append(
                self.replay.cascade("groups, then cascade", failed, plan.to_fast, "cross-fitted, a perfect check")
            )
        return [*out, self.replay.hedged()] if self.replay.time is not None else out

    def curves(self, gain: Array) -> tuple[pd.DataFrame, dict[str, float]]:
        """Quality at each share sent to the strong one, 0 to 1 by 2 %, and areas over the gap."""
        shares = np.linspace(0, 1, 51)
        q_fast, q_strong = self.replay.y.mean(axis=0)
        true = self.replay.y[:, 1] - self.replay.y[:, 0]
        lines = {
            "router": _sent(self.replay.y, gain, shares),
            "random": q_fast + shares * (q_strong - q_fast),
            "oracle": _sent(self.replay.y, true, shares),
        }
        gap = q_strong - q_fast
        areas = {k: float(np.trapezoid((v - q_fast) / gap, shares)) for k, v in lines.items()} if gap > 0 else {}
        curve = pd.concat([pd.DataFrame({"policy": k, "share_strong": shares, "quality": v}) for k, v in lines.items()])
        return curve.reset_index(drop=True), areas

    def recommend(self, table: pd.DataFrame, plan: _Plan | None) -> tuple[Policy | None, str]:
        """The policy that spares the strong one most and keeps ``keep`` of its quality, and the sentence for it."""
        q_fast, q_strong = self.replay.y.mean(axis=0)
        if q_fast >= q_strong:
            return None, f"Always {self.replay.fast}: on these items it is no worse than {self.replay.strong}."
        rows = {str(row["policy"]): dict(row) for row in records(table)}
        deadline = self.fall_back_after()
        if plan is not None and rows["groups"]["of_strong_quality"] >= self.ask.keep - 0.005:
            policy = Policy(
                self.replay.fast, self.replay.strong, plan.feature, plan.groups, check=False, deadline_ms=deadline
            )
            where = f"{plan.feature} {', '.join(plan.groups[:6])}" + ("…" if len(plan.groups) > 6 else "")
            return (
                policy,
                f"Send {where} to {self.replay.fast} and the rest to {self.replay.strong}: {_bargain(rows['groups'])}.",
            )
        policy = Policy(self.replay.fast, self.replay.strong, deadline_ms=deadline)
        words = f"Send all to {self.replay.fast}, fall back to {self.replay.strong} when the check fails"
        return policy, f"{words}: {_bargain(rows['cascade'])}, with a perfect check."

    def fall_back_after(self) -> float | None:
        """Twice the fast one's p95, in ms: later than that it has stalled."""
        if self.replay.time is None:
            return None
        factor = 1.0 if self.replay.unit == "ms" else 1000.0
        return round(2 * factor * float(np.quantile(self.replay.time[:, 0], 0.95)), 0)


@dataclass(frozen=True, eq=False)
class _Plan:
    """Groups of one feature for the fast one: chosen on all items, and per item by the folds it is not in."""

    feature: str
    groups: tuple[str, ...]
    to_fast: NDArray[np.bool_]


def _is_number(values: pd.Series[Any]) -> bool:
    return bool(pd.api.types.is_numeric_dtype(values))


def _sent(y: Array, gain: Array, shares: Array) -> Array:
    """Quality when the items of largest ``gain`` go to the strong one; among equal gains, an even mix of them."""
    order = np.argsort(-gain, kind="stable")
    levels, code = np.unique(-gain[order], return_inverse=True)
    true = (y[:, 1] - y[:, 0])[order]
    size = np.bincount(code, minlength=len(levels))
    mean = np.bincount(code, weights=true, minlength=len(levels)) / size
    total = np.concatenate([[0.0], np.cumsum(mean[code])]) / len(y)
    line: Array = y[:, 0].mean() + np.interp(shares * len(y), np.arange(len(y) + 1), total)
    return line


def _bargain(row: dict[str, Any]) -> str:
    quality = f"{share(row['of_strong_quality'])} of its quality"
    if row["of_strong_cost"] is not None:
        return f"{quality} at {share(row['of_strong_cost'])} of its cost"
    return f"{quality} with {share(row['share_strong'])} of the items sent to it"
