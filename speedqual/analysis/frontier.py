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
from speedqual.analysis.draws import joint_draws
from speedqual.analysis.faults import suspicious_groups
from speedqual.analysis.floors import judge_floor
from speedqual.analysis.intervals import Interval
from speedqual.analysis.measures import Measure, find_measure
from speedqual.analysis.plane import Plane
from speedqual.analysis.tidy import Table, tidy
from speedqual.display.numbers import percent
from speedqual.errors import UsageError

__all__ = ["Frontier", "FrontierResult"]

Array = NDArray[np.float64]


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
        return _Study(self, Plane(table, measures, drawn, self.level), floor).result()


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
class _Study:
    """One frontier in the making."""

    ask: Frontier
    plane: Plane
    floor: float | None

    def result(self) -> FrontierResult:
        costs, quality = self.plane.costs(), self.plane.table.summary["quality"].to_numpy(float)
        on = pareto.on_front(costs, quality)
        front = self.plane.in_order(on)
        dominance, p_on, mean_regret = self.plane.over_draws()
        table, shrunk_bias = self.rows(on, p_on, mean_regret)
        volume, reference = self.plane.hypervolume(self.ask.worst_x, self.ask.worst_quality)
        recommended = _fastest_passing(table, self.plane.measures[0])
        drops = self.plane.drops(front)
        return FrontierResult(
            table=table,
            verdict=_verdict(table, front, self.plane.measures[0], self.floor, recommended),
            notes=self.notes(shrunk_bias),
            measures=tuple(self.plane.measures),
            front=tuple(front),
            dominance=dominance,
            band=self.plane.band(),
            drops=drops,
            hypervolume=volume,
            reference=reference,
            winner_bias=shrunk_bias,
            floor=self.floor,
            recommended=recommended,
            drawn=self.plane.drawn.why,
        )

    def rows(self, on: NDArray[np.bool_], p_on: Array, gap: Array) -> tuple[pd.DataFrame, float | None]:
        summary, intervals = self.plane.table.summary, self.plane.table.intervals()
        out = pd.DataFrame({"candidate": summary["candidate"]})
        for m in self.plane.measures:
            out[m.name] = summary[m.name].astype(float)
            out[f"{m.name}_lo"], out[f"{m.name}_hi"] = self.plane.bounds_of(m)
        out["quality"] = summary["quality"].astype(float)
        out["quality_lo"] = pd.Series([i.lo for i in intervals], dtype=float)
        out["quality_hi"] = pd.Series([i.hi for i in intervals], dtype=float)
        out["n"], out["interval"] = summary["n"], [i.method for i in intervals]
        out["on_front"], out["p_on_front"], out["regret"] = on, p_on, gap
        out["quality_shrunk"], bias = shrink(out["quality"].to_numpy(float), self.plane.drawn.quality.std(axis=0))
        judged = judge_floor(self.plane.table, self.floor)
        out["floor"], out["lower_bound"] = judged["floor"], judged["lower_bound"]
        carried = [c for c in ("ladder", "rung", "x", "failed", "quality_given") if c in summary]
        return out.join(summary[carried].rename(columns={"x": "rung_x"})), bias if self.plane.known_n else None

    def notes(self, bias: float | None) -> tuple[str, ...]:
        notes = list(self.plane.table.notes)
        for m in self.plane.measures:
            unknown = self.plane.table.summary.loc[self.plane.table.summary[m.name].isna(), "candidate"]
            if len(unknown):
                notes.append(f"{len(unknown)} candidates have no {m.label}: they are listed, and on no front")
        notes += [*_suspicious_zeros(self.plane.table.summary), *suspicious_groups(self.plane.table)]
        if bias is not None and bias >= 0.01:
            count = len(self.plane.table.names)
            notes.append(
                f"winner's curse: the best of {count} looks about {100 * bias:.0f} points better than it is; "
                "quality_shrunk pulls each mean towards the common one"
            )
        if self.plane.table.rows is None and self.plane.known_n:
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
        return f"{head} {_most(m)} that surely reaches the floor of {percent(floor)}: {recommended}."
    unsure = int((table["floor"] == "cannot tell").sum())
    head = f"{head} None surely reaches the floor of {percent(floor)}"
    return f"{head}; {unsure} cannot be told." if unsure else f"{head}."
