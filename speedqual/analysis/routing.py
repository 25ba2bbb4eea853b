"""Routing and fallback between a fast and a strong candidate, replayed from recorded items: no new calls.

Policies: always fast, always strong, a random mix (the line to beat), a cascade (fast, check, strong: times add up), a
router on features known before the call, a hedge (strong joins when fast is late), the oracle. Thresholds and group
choices are cross-fitted: an item never helps to choose its own route.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from speedqual.analysis.base import Result, plain, records
from speedqual.analysis.draws import multinomial_weights
from speedqual.analysis.faults import suspicious_groups
from speedqual.analysis.features import additive_gain, as_groups, cross_fitted, easy_groups, folds_of
from speedqual.analysis.intervals import cluster_sums
from speedqual.analysis.tidy import Table, tidy
from speedqual.errors import UsageError
from speedqual.running.policy import Policy

__all__ = ["Routing", "RoutingResult"]

Array = NDArray[np.float64]
_FEATURES = ("difficulty", "task", "cluster", "language", "n_prompt")
_TIMES = ("e2e_user_ms", "e2e_ms", "seconds")


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
        return _Replay(self, table, fast, strong).result()


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
    if len(s) < 2:
        raise UsageError("routing needs two candidates")
    strong = strong or str(s["quality"].drop(index=[fast] if fast else []).idxmax())
    if not fast:
        others = s.drop(index=strong)
        known = [m for m in (*_TIMES, "cost_usd") if m in others and others[m].notna().any()]
        fast = str(others[known[0]].idxmin()) if known else str(others.index[0])
    return fast, strong


@dataclass(eq=False)
class _Replay:
    """Scores, times and costs of both candidates on their common items."""

    ask: Routing
    table: Table
    fast: str
    strong: str
    items: pd.Index[Any] = field(init=False)
    y: Array = field(init=False)  # [items, 2]: fast, strong
    time: Array | None = field(init=False)
    cost: Array | None = field(init=False)
    clusters: NDArray[Any] = field(init=False)
    time_name: str = field(init=False)

    def __post_init__(self) -> None:
        wide = self.table.matrix()[[self.fast, self.strong]]
        wide = wide[wide.notna().all(axis=1)]
        if len(wide) < 2:
            raise UsageError(f"{self.fast} and {self.strong} have no items in common")
        self.items, self.y = wide.index, wide.to_numpy(float)
        self.clusters = self.table.clusters(self.items)
        self.time_name = next((m for m in _TIMES if self.table.rows is not None and m in self.table.rows), "")
        self.time, self.cost = self._pair_of(self.time_name), self._pair_of("cost_usd")

    def _pair_of(self, column: str) -> Array | None:
        """Both candidates' values per item; None when unknown for more than a tenth of them (rare gaps: the mean)."""
        if self.table.rows is None or not column or column not in self.table.rows:
            return None
        both = self.table.matrix(column).reindex(self.items)[[self.fast, self.strong]]
        if (both.notna().mean() < 0.9).any():
            return None
        values: Array = both.fillna(both.mean()).to_numpy(float)
        return values

    @property
    def unit(self) -> str:
        return "s" if self.time_name == "seconds" else "ms" if self.time_name else ""

    def result(self) -> RoutingResult:
        used = self.used_features()
        gain = self.predicted_gain(used)
        plan = self.plan(used)
        rows = [self.row(*policy) for policy in self.policies(gain, plan)]
        curve, areas = self.curves(gain)
        policy, words = self.recommend(pd.DataFrame(rows), plan)
        notes = [*self.table.notes, *suspicious_groups(self.table.only([self.fast, self.strong]))]
        lost = len(self.table.matrix()) - len(self.items)
        if lost:
            notes.append(f"{lost} items that one of the two lacks are left out, {len(self.items)} are common")
        if not used:
            notes.append("no feature is known before the call: the router can only guess")
        return RoutingResult(
            pd.DataFrame(rows), words, tuple(notes), self.fast, self.strong, curve, areas, policy, self.unit
        )

    def used_features(self) -> list[str]:
        rows = self.facts
        for name in self.ask.features:
            if name not in rows:
                raise UsageError(f"the items have no feature {name!r}", fix=f"Columns: {', '.join(rows.columns)}")
        wanted = [f for f in self.ask.features or _FEATURES if f in rows and rows[f].nunique() >= 2]
        # a word that is different for nearly every item predicts nothing; numbers are cut into bins
        return [f for f in wanted if _is_number(rows[f]) or rows[f].nunique() <= len(rows) / 5]

    @property
    def facts(self) -> pd.DataFrame:
        """The columns of the common items, one row an item."""
        assert self.table.rows is not None
        return self.table.rows.drop_duplicates("item").set_index("item").reindex(self.items)

    def predicted_gain(self, used: list[str]) -> Array:
        """Cross-fitted gain of the strong one, shape [items]."""
        facts, gain = self.facts, self.y[:, 1] - self.y[:, 0]
        keys = np.column_stack([as_groups(facts[f]) for f in used]) if used else np.empty((len(gain), 0), dtype=object)
        return cross_fitted(self.folds(), lambda a, b: additive_gain(keys[a], gain[a], keys[b]), len(gain))

    def folds(self) -> NDArray[np.int64]:
        """Whole clusters, unless the cluster itself is a feature: then every fold must hold some of each."""
        known = "cluster" in self.used_features()
        groups = np.arange(len(self.items)).astype(str) if known else self.clusters
        return folds_of(groups, self.ask.folds, self.ask.seed)

    def plan(self, used: list[str]) -> _Plan | None:
        """Groups for the fast one: the feature that spares the strong one most, and the cross-fitted choice."""
        plans = [self.plan_of(f) for f in used if not _is_number(self.facts[f])]
        some = [p for p in plans if p is not None]
        return max(some, key=lambda p: p.to_fast.mean()) if some else None

    def plan_of(self, feature: str) -> _Plan | None:
        key = as_groups(self.facts[feature])
        fast, strong = self.y[:, 0], self.y[:, 1]
        chosen = easy_groups(key, fast, strong, self.ask.keep)
        if not chosen or len(chosen) == len(set(key)):
            return None

        def fit(train: NDArray[Any], test: NDArray[Any]) -> Array:
            easy = easy_groups(key[train], fast[train], strong[train], self.ask.keep)
            return np.isin(key[test], easy).astype(float)

        return _Plan(feature, chosen, cross_fitted(self.folds(), fit, len(key)) > 0.5)

    # ------------------------------------------------------------------------------------------ the policies

    def policies(self, gain: Array, plan: _Plan | None) -> list[tuple[Any, ...]]:
        """Name, score, time and cost per item, which items ask the strong one, what it assumes."""
        n = len(self.items)
        failed = self.y[:, 0] < self.ask.success_at
        half = np.zeros(n, dtype=bool)
        half[np.argsort(-gain, kind="stable")[: n // 2]] = True
        out = [
            self.routed("always fast", np.zeros(n, dtype=bool), ""),
            self.routed("always strong", np.ones(n, dtype=bool), ""),
            self.routed("router, half to strong", half, "cross-fitted"),
            self.cascade("cascade", failed, np.ones(n, dtype=bool), "a perfect check"),
            self.routed("oracle", self.y[:, 1] > self.y[:, 0], "knows the outcome"),
        ]
        if plan is not None:
            out.append(self.routed("groups", ~plan.to_fast, "cross-fitted"))
            out.append(self.cascade("groups, then cascade", failed, plan.to_fast, "cross-fitted, a perfect check"))
        return [*out, self.hedged()] if self.time is not None else out

    def routed(self, name: str, strong: NDArray[np.bool_], assumes: str) -> tuple[Any, ...]:
        pick, at = strong.astype(int), np.arange(len(strong))
        time = None if self.time is None else self.time[at, pick]
        cost = None if self.cost is None else self.cost[at, pick]
        return name, self.y[at, pick], time, cost, strong.astype(float), assumes

    def cascade(self, name: str, failed: NDArray[np.bool_], tried: NDArray[np.bool_], assumes: str) -> tuple[Any, ...]:
        """Fast first where ``tried``; where its check fails the strong one is asked too, and both are paid for."""
        again = failed | ~tried
        score = np.where(again, self.y[:, 1], self.y[:, 0])
        check_time = self.ask.check_seconds * (1000.0 if self.unit == "ms" else 1.0)
        time = None if self.time is None else _summed(self.time, tried, again, check_time)
        cost = None if self.cost is None else _summed(self.cost, tried, again, self.ask.check_usd)
        return name, score, time, cost, again.astype(float), assumes

    def hedged(self) -> tuple[Any, ...]:
        """The strong one joins after the fast one's ``hedge_at`` quantile; the first to finish is taken."""
        assert self.time is not None
        wait = float(np.quantile(self.time[:, 0], self.ask.hedge_at))
        late = self.time[:, 0] > wait
        other = wait + self.time[:, 1]
        taken = late & (other < self.time[:, 0])
        score = np.where(taken, self.y[:, 1], self.y[:, 0])
        time = np.where(taken, other, self.time[:, 0])
        cost = None if self.cost is None else self.cost[:, 0] + np.where(late, self.cost[:, 1], 0.0)
        return f"hedge after p{100 * self.ask.hedge_at:.0f}", score, time, cost, late.astype(float), "both may run"

    def row(
        self, name: str, score: Array, time: Array | None, cost: Array | None, strong: Array, assumes: str
    ) -> dict[str, Any]:
        q_fast, q_strong = (float(v) for v in self.y.mean(axis=0))
        lo, hi = self.bounds(score)
        quality, gap = float(score.mean()), q_strong - q_fast
        paid = None if self.cost is None else float(self.cost[:, 1].mean())
        spent = None if cost is None else float(cost.mean())
        return {
            "policy": name,
            "quality": quality,
            "quality_lo": lo,
            "quality_hi": hi,
            "share_strong": float(strong.mean()),
            "cost": spent,
            "time_p50": None if time is None else float(np.quantile(time, 0.5)),
            "time_p95": None if time is None else float(np.quantile(time, 0.95)),
            "gap_recovered": (quality - q_fast) / gap if gap > 0 else None,
            "of_strong_quality": quality / q_strong if q_strong > 0 else None,
            "of_strong_cost": spent / paid if spent is not None and paid else None,
            "assumes": assumes,
        }

    def bounds(self, score: Array) -> tuple[float | None, float | None]:
        sums = cluster_sums(np.column_stack([score, np.ones_like(score)]), self.clusters)
        if len(sums) < 2:
            return None, None
        drawn = np.vstack([w @ sums for w in multinomial_weights(len(sums), self.ask.draws, self.ask.seed)])
        lo, hi = np.quantile(drawn[:, 0] / drawn[:, 1], [0.025, 0.975])
        return float(lo), float(hi)

    # ------------------------------------------------------------------------------------------ curve and advice

    def curves(self, gain: Array) -> tuple[pd.DataFrame, dict[str, float]]:
        """Quality at each share sent to the strong one, 0 to 1 by 2 %, and areas over the gap."""
        shares = np.linspace(0, 1, 51)
        q_fast, q_strong = self.y.mean(axis=0)
        true = self.y[:, 1] - self.y[:, 0]
        lines = {
            "router": _sent(self.y, gain, shares),
            "random": q_fast + shares * (q_strong - q_fast),
            "oracle": _sent(self.y, true, shares),
        }
        gap = q_strong - q_fast
        areas = {k: float(np.trapezoid((v - q_fast) / gap, shares)) for k, v in lines.items()} if gap > 0 else {}
        curve = pd.concat([pd.DataFrame({"policy": k, "share_strong": shares, "quality": v}) for k, v in lines.items()])
        return curve.reset_index(drop=True), areas

    def recommend(self, table: pd.DataFrame, plan: _Plan | None) -> tuple[Policy | None, str]:
        """The policy that spares the strong one most and keeps ``keep`` of its quality, and the sentence for it."""
        q_fast, q_strong = self.y.mean(axis=0)
        if q_fast >= q_strong:
            return None, f"Always {self.fast}: on these items it is no worse than {self.strong}."
        rows = {str(row["policy"]): dict(row) for row in records(table)}
        deadline = self.fall_back_after()
        if plan is not None and rows["groups"]["of_strong_quality"] >= self.ask.keep - 0.005:
            policy = Policy(self.fast, self.strong, plan.feature, plan.groups, check=False, deadline_ms=deadline)
            where = f"{plan.feature} {', '.join(plan.groups[:6])}" + ("…" if len(plan.groups) > 6 else "")
            return policy, f"Send {where} to {self.fast} and the rest to {self.strong}: {_bargain(rows['groups'])}."
        policy = Policy(self.fast, self.strong, deadline_ms=deadline)
        words = f"Send all to {self.fast}, fall back to {self.strong} when the check fails"
        return policy, f"{words}: {_bargain(rows['cascade'])}, with a perfect check."

    def fall_back_after(self) -> float | None:
        """Twice the fast one's p95, in ms: later than that it has stalled."""
        if self.time is None:
            return None
        factor = 1.0 if self.unit == "ms" else 1000.0
        return round(2 * factor * float(np.quantile(self.time[:, 0], 0.95)), 0)


@dataclass(frozen=True, eq=False)
class _Plan:
    """Groups of one feature for the fast one: chosen on all items, and per item by the folds it is not in."""

    feature: str
    groups: tuple[str, ...]
    to_fast: NDArray[np.bool_]


def _is_number(values: pd.Series[Any]) -> bool:
    return bool(pd.api.types.is_numeric_dtype(values))


def _summed(both: Array, tried: NDArray[np.bool_], again: NDArray[np.bool_], check: float) -> Array:
    """What a cascade takes per item: the fast one and its check where tried, the strong one where asked again."""
    total: Array = np.where(tried, both[:, 0] + check, 0.0) + np.where(again, both[:, 1], 0.0)
    return total


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
    quality = f"{row['of_strong_quality']:.0%} of its quality"
    if row["of_strong_cost"] is not None:
        return f"{quality} at {row['of_strong_cost']:.0%} of its cost"
    return f"{quality} with {row['share_strong']:.0%} of the items sent to it"
