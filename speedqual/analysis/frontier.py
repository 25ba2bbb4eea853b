"""The speed-quality frontier with its uncertainty.

A point is on the front when no other candidate is at least as fast (or cheap) and at least as good, and better in one.
P(on the front) is the share of joint draws in which that holds; regret is how far below the front a point lies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from speedqual.analysis import pareto
from speedqual.analysis.base import Result, plain, records
from speedqual.analysis.draws import Draws, joint_draws, percentile_bounds, simultaneous_factor
from speedqual.analysis.faults import suspicious_groups
from speedqual.analysis.floors import judge_floor
from speedqual.analysis.intervals import Interval, quantile_interval
from speedqual.analysis.measures import Measure, find_measure
from speedqual.analysis.tidy import Table, tidy
from speedqual.errors import UsageError

__all__ = ["Frontier", "FrontierResult"]

Array = NDArray[np.float64]
_BAND_POINTS = 120


@dataclass(frozen=True)
class Frontier:
    """Parameters of a frontier.

    ``x``: one measure or several (``"ttft"``, ``"e2e"``, ``"speed"``, ``"cost"``, ``"tokens"``, ``"seconds"`` or any
    column name), empty = the whole answer's time; with two the front is over the triple. ``floor``: quality in
    [0, 1] that a candidate's mean must reach, empty = the run's own. ``draws``: joint bootstrap draws, 4000 or more.
    ``worst_x`` and ``worst_quality``: the reference point of the hypervolume; by default the slowest candidate and 0.
    """

    x: str | tuple[str, ...] = ""
    floor: float | None = None
    draws: int = 4000
    seed: int = 0
    level: float = 0.95
    worst_x: float | None = None
    worst_quality: float = 0.0

    def __call__(self, data: Any) -> FrontierResult:
        """Analyse a run, its ``df`` or ``from_table(…)``."""
        table = tidy(data)
        measures = _chosen_axes(table, self.x)
        floor = self.floor if self.floor is not None else _own_floor(table)
        if floor is not None and not 0 <= floor <= 1:
            raise UsageError(f"a floor of {floor} is outside 0 to 1", fix="Give it as a share, 0.9 for 90 %")
        drawn = joint_draws(table, [m.name for m in measures], self.draws, self.seed)
        return _Work(self, table, measures, floor, drawn).result()


@dataclass(frozen=True, eq=False, repr=False)
class FrontierResult(Result):
    """Columns of ``table``: ``candidate``, the measures with ``_lo``/``_hi``, ``quality, quality_lo, quality_hi, n,
    on_front, p_on_front, regret, quality_shrunk, floor`` (passes, fails, cannot tell) and ``lower_bound``.

    ``front``: names on the front, fastest first. ``dominance[i][j]``: P(i dominates j). ``band``: the front's quality
    over the first measure (``x, lo, mid, hi``). ``drops``: what is lost between neighbours on the front.
    """

    measures: tuple[Measure, ...]
    front: tuple[str, ...]
    dominance: pd.DataFrame
    band: pd.DataFrame
    drops: pd.DataFrame
    hypervolume: Interval | None
    reference: tuple[float, float] | None
    winner_bias: float | None
    floor: float | None
    recommended: str | None
    drawn: str

    def to_dict(self) -> dict[str, Any]:
        """``points[]`` (every row of ``table``), ``front[]``, and the rest; strict JSON."""
        return {
            "kind": "frontier",
            "verdict": self.verdict,
            "notes": list(self.notes),
            "x": [m.name for m in self.measures],
            "points": records(self.table),
            "front": list(self.front),
            "drops": records(self.drops),
            "dominance": plain(self.dominance.to_dict()),
            "hypervolume": plain(self.hypervolume) if self.hypervolume else None,
            "reference": plain(self.reference),
            "winner_bias": plain(self.winner_bias),
            "floor": self.floor,
            "recommended": self.recommended,
            "drawn": self.drawn,
        }


def _chosen_axes(table: Table, x: str | tuple[str, ...]) -> list[Measure]:
    names = [x] if isinstance(x, str) else list(x)
    if names == [""]:
        names = [m for m in table.measures if m != "params_b"][:1]
    if not names:
        raise UsageError(
            "there is no speed or cost to draw quality against", fix="Name a column with seconds= or cost="
        )
    measures = [find_measure(name) for name in names]
    for m in measures:
        if m.name not in table.summary or not table.summary[m.name].notna().any():
            raise UsageError(f"no candidate has a {m.name}", fix=f"Known here: {', '.join(table.measures) or 'none'}")
    return measures


def _own_floor(table: Table) -> float | None:
    if table.raw is None or "floor" not in table.raw:
        return None
    floors = pd.to_numeric(table.raw["floor"], errors="coerce").dropna().unique()
    return float(floors[0]) if len(floors) == 1 else None


@dataclass(frozen=True, eq=False)
class _Work:
    """One frontier in the making: parameters, input and draws together."""

    ask: Frontier
    table: Table
    measures: list[Measure]
    floor: float | None
    drawn: Draws

    def result(self) -> FrontierResult:
        costs, quality = self.costs(), self.table.summary["quality"].to_numpy(float)
        on = pareto.on_front(costs, quality)
        front = self.in_order(on)
        dominance, p_on, mean_regret = self.over_draws()
        table, shrunk_bias = self.rows(on, p_on, mean_regret)
        volume, reference = self.hypervolume()
        recommended = _fastest_passing(table, self.measures[0])
        drops = self.drops(front)
        return FrontierResult(
            table=table,
            verdict=_verdict(table, front, self.measures[0], self.floor, recommended),
            notes=self.notes(shrunk_bias),
            measures=tuple(self.measures),
            front=tuple(front),
            dominance=dominance,
            band=self.band(),
            drops=drops,
            hypervolume=volume,
            reference=reference,
            winner_bias=shrunk_bias,
            floor=self.floor,
            recommended=recommended,
            drawn=self.drawn.why,
        )

    @property
    def known_n(self) -> bool:
        return self.table.rows is not None or bool(self.table.summary["n"].notna().any())

    def costs(self) -> Array:
        """Axes as lower-is-better, shape [candidates, axes]."""
        signs = [-1.0 if m.higher_is_better else 1.0 for m in self.measures]
        values = self.table.summary[[m.name for m in self.measures]].to_numpy(float)
        signed: Array = values * np.array(signs)
        return signed

    def draws_of_costs(self) -> Array:
        parts = [self.drawn.x[m.name] * (-1.0 if m.higher_is_better else 1.0) for m in self.measures]
        return np.stack(parts, axis=-1)

    def in_order(self, on: NDArray[np.bool_]) -> list[str]:
        first = self.costs()[:, 0]
        quality = self.table.summary["quality"].to_numpy(float)
        order = np.lexsort((-quality, first))
        return [self.table.names[i] for i in order if on[i]]

    def over_draws(self) -> tuple[pd.DataFrame, Array, Array]:
        """Dominance shares, P(on the front) and mean regret, a chunk of draws at a time."""
        costs, quality = self.draws_of_costs(), self.drawn.quality
        c = quality.shape[1]
        wins, on, gap = np.zeros((c, c)), np.zeros(c), np.zeros(c)
        step = max(1, 2_000_000 // (c * c))
        for start in range(0, len(quality), step):
            part = slice(start, start + step)
            wins += pareto.dominance(costs[part], quality[part]).sum(axis=0)
            on += pareto.on_front(costs[part], quality[part]).sum(axis=0)
            gap += pareto.regret(costs[part], quality[part]).sum(axis=0)
        total, names = len(quality), self.table.names
        unknown = np.isnan(self.costs()).any(axis=1)
        p_on = np.where(unknown, np.nan, on / total) if self.known_n else np.full(c, np.nan)
        return pd.DataFrame(wins / total, index=names, columns=names), p_on, gap / total

    def rows(self, on: NDArray[np.bool_], p_on: Array, gap: Array) -> tuple[pd.DataFrame, float | None]:
        summary, intervals = self.table.summary, self.table.intervals()
        out = pd.DataFrame({"candidate": summary["candidate"]})
        for m in self.measures:
            out[m.name] = summary[m.name].astype(float)
            out[f"{m.name}_lo"], out[f"{m.name}_hi"] = self.bounds_of(m)
        out["quality"] = summary["quality"].astype(float)
        out["quality_lo"] = pd.Series([i.lo for i in intervals], dtype=float)
        out["quality_hi"] = pd.Series([i.hi for i in intervals], dtype=float)
        out["n"], out["interval"] = summary["n"], [i.method for i in intervals]
        out["on_front"], out["p_on_front"], out["regret"] = on, p_on, gap
        out["quality_shrunk"], bias = shrink(out["quality"].to_numpy(float), self.drawn.quality.std(axis=0))
        judged = judge_floor(self.table, self.floor)
        out["floor"], out["lower_bound"] = judged["floor"], judged["lower_bound"]
        carried = [c for c in ("ladder", "rung", "x", "failed", "quality_given") if c in summary]
        return out.join(summary[carried].rename(columns={"x": "rung_x"})), bias if self.known_n else None

    def bounds_of(self, m: Measure) -> tuple[Array, Array]:
        rows = self.table.rows
        if rows is None or m.name not in rows or m.stat == "mean":
            drawn = self.drawn.x[m.name]
            moving = drawn.std(axis=0) > 0
            lo, hi = percentile_bounds(drawn, self.ask.level)
            return np.where(moving, lo, np.nan), np.where(moving, hi, np.nan)
        grouped = rows.groupby("candidate", observed=True)[m.name]
        each = [quantile_interval(grouped.get_group(name), 0.5, self.ask.level) for name in self.table.names]
        return np.array([i.lo for i in each], float), np.array([i.hi for i in each], float)

    def band(self) -> pd.DataFrame:
        """Attainment of the front: its quality at each cost, with the central band over the draws."""
        m = self.measures[0]
        cost = self.draws_of_costs()[..., 0]
        known = np.isfinite(self.costs()[:, 0])
        values = np.abs(self.costs()[known, 0])
        values = values[values > 0]
        if values.size < 2 or not self.known_n:
            return pd.DataFrame(columns=["x", "lo", "mid", "hi"])
        grid = np.geomspace(values.min(), values.max(), _BAND_POINTS)
        signed = -grid if m.higher_is_better else grid
        heights = pareto.staircase(cost[:1000, known], self.drawn.quality[:1000, known], signed)
        reached = np.isfinite(heights).mean(axis=0) >= 0.5
        tail = 0.5 - self.ask.level / 2
        lo, mid, hi = np.nanquantile(heights[:, reached], [tail, 0.5, 1 - tail], axis=0)
        return pd.DataFrame({"x": grid[reached], "lo": lo, "mid": mid, "hi": hi})

    def hypervolume(self) -> tuple[Interval | None, tuple[float, float] | None]:
        """Area under the front over the first axis, with its interval; None for a rate or several axes."""
        values = self.costs()[:, 0]
        ok = np.isfinite(values) & (values > 0)
        if len(self.measures) > 1 or self.measures[0].higher_is_better or not ok.any():
            return None, None
        worst = self.ask.worst_x or float(values[ok].max())
        quality = self.table.summary["quality"].to_numpy(float)
        value = float(pareto.hypervolume(values[ok], quality[ok], worst, self.ask.worst_quality))
        drawn = pareto.hypervolume(
            self.draws_of_costs()[:, ok, 0], self.drawn.quality[:, ok], worst, self.ask.worst_quality
        )
        tail = 0.5 - self.ask.level / 2
        lo, hi = (float(v) for v in np.quantile(drawn, [tail, 1 - tail])) if self.known_n else (None, None)
        return Interval(value, lo, hi, "joint draws", int(ok.sum()), self.ask.level), (worst, self.ask.worst_quality)

    def drops(self, front: list[str]) -> pd.DataFrame:
        """Between neighbours on the front, slow to fast: points lost, simultaneous lower bound, loss per doubling."""
        columns = ["slower", "faster", "drop", "drop_lo", "per_doubling", "p_both_on_front"]
        index = [self.table.names.index(name) for name in reversed(front)]
        if len(index) < 2:
            return pd.DataFrame(columns=columns)
        before, after = np.array(index[:-1]), np.array(index[1:])
        drawn = self.drawn.quality[:, before] - self.drawn.quality[:, after]
        quality = self.table.summary["quality"].to_numpy(float)
        drop = quality[before] - quality[after]
        half = simultaneous_factor(drawn, self.ask.level) * drawn.std(axis=0)
        speeds = np.abs(self.costs()[:, 0])
        with np.errstate(divide="ignore", invalid="ignore"):
            doublings = np.abs(np.log2(speeds[before] / speeds[after]))
            slope = np.where((doublings > 0) & np.isfinite(doublings), drop / doublings, np.nan)
        both = self.both_on_front(before, after)
        names = np.array(self.table.names, dtype=object)
        lower = drop - half if self.known_n else np.full(len(drop), np.nan)
        return pd.DataFrame(dict(zip(columns, (names[before], names[after], drop, lower, slope, both), strict=True)))

    def both_on_front(self, before: NDArray[Any], after: NDArray[Any]) -> Array:
        costs, quality = self.draws_of_costs(), self.drawn.quality
        step = max(1, 2_000_000 // quality.shape[1] ** 2)
        both = np.zeros(len(before))
        for start in range(0, len(quality), step):
            on = pareto.on_front(costs[start : start + step], quality[start : start + step])
            both += (on[:, before] & on[:, after]).sum(axis=0)
        return both / len(quality) if self.known_n else np.full(len(before), np.nan)

    def notes(self, bias: float | None) -> tuple[str, ...]:
        notes = list(self.table.notes)
        for m in self.measures:
            unknown = self.table.summary.loc[self.table.summary[m.name].isna(), "candidate"]
            if len(unknown):
                notes.append(f"{len(unknown)} candidates have no {m.label}: they are listed, and on no front")
        notes += [*_suspicious_zeros(self.table.summary), *suspicious_groups(self.table)]
        if bias is not None and bias >= 0.01:
            notes.append(
                f"winner's curse: the best of {len(self.table.names)} looks about {100 * bias:.0f} points better than "
                "it is; quality_shrunk pulls each mean towards the common one"
            )
        if self.table.rows is None and self.known_n:
            notes.append("rates are taken as independent (no items to pair) and times as exact (one figure each)")
        return tuple(notes)


def shrink(quality: Array, se: Array) -> tuple[Array, float | None]:
    """Empirical-Bayes means: mean + (1 − mean SE²/variance)·(quality − mean), and the winner's excess over its own.

    With 20 equal candidates at n = 100 the whole excess of the best is luck and is taken away.
    """
    known = np.isfinite(quality)
    if known.sum() < 3:
        return quality.copy(), None
    centre = quality[known].mean()
    spread = quality[known].var(ddof=1)
    noise = float((se[known] ** 2).mean())
    keep = max(0.0, 1.0 - noise / spread) if spread > 0 else 0.0
    shrunk: Array = centre + keep * (quality - centre)
    best = int(np.nanargmax(quality))
    return shrunk, float(quality[best] - shrunk[best])


def _suspicious_zeros(summary: pd.DataFrame) -> list[str]:
    """A score of exactly 0 over many items, where others do well, is a fault until shown otherwise."""
    quality, n = summary["quality"].to_numpy(float), summary["n"].to_numpy(float)
    zero = (quality == 0) & (np.nan_to_num(n) >= 20)
    if not zero.any() or np.nanmedian(quality) < 0.2:
        return []
    names = ", ".join(map(str, summary.loc[zero, "candidate"][:5]))
    return [f"a score of exactly 0 looks like a fault of the endpoint or the grader, not like ability: {names}"]


def _fastest_passing(table: pd.DataFrame, m: Measure) -> str | None:
    passing = table[(table["floor"] == "passes") & table[m.name].notna()]
    if passing.empty:
        return None
    return str(passing.sort_values(m.name, ascending=not m.higher_is_better, kind="stable")["candidate"].iloc[0])


def _most(m: Measure) -> str:
    return {"cost_usd": "Cheapest", "n_out": "Shortest", "params_b": "Smallest"}.get(m.name, "Fastest")


def _verdict(table: pd.DataFrame, front: list[str], m: Measure, floor: float | None, recommended: str | None) -> str:
    if not front:
        return f"No candidate has both a quality and a {m.label}."
    sure = table[table["on_front"] & (table["p_on_front"] >= 0.9)]
    head = f"{len(front)} of {len(table)} candidates are on the front ({m.label} against quality)"
    head += f", {len(sure)} of them with P ≥ 90 %." if table["p_on_front"].notna().any() else "."
    if floor is None:
        return head
    if recommended:
        return f"{head} {_most(m)} that surely reaches the floor of {floor:.0%}: {recommended}."
    unsure = int((table["floor"] == "cannot tell").sum())
    return f"{head} None surely reaches the floor of {floor:.0%}" + (f"; {unsure} cannot be told." if unsure else ".")
