"""Capability cliffs: a drop on a ladder that no smooth decline explains.

Null: quality is a smooth function of the rung, however steep; operationally no true step is larger than 1.8 × its
larger neighbour. A step is a cliff when it is large (S), dominates its neighbours (D), jumps over a straight (J) and
over a logistic trend (L), and at an edge dominates more and jumps over a quadratic trend (E); and when neither endpoint
nor grader can be blamed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from speedqual.analysis.base import Result, plain, records
from speedqual.analysis.faults import Fault, step_fault, suspicious_groups
from speedqual.analysis.intervals import holm
from speedqual.analysis.jumps import Steps, measure_steps, trend_contrast
from speedqual.analysis.ladders import Ladder, find_ladders
from speedqual.analysis.tidy import Table, tidy

__all__ = ["Cliffs", "CliffsResult", "Judged", "judge_ladder", "rung_rows"]

LABELS = ("cliff", "suspected edge", "steep", "none", "cannot tell", "rung fault", "serving fault", "grader fault")


@dataclass(frozen=True)
class Cliffs:
    """Parameters of the rule.

    ``delta``: points that count as a drop; ``dominance`` and ``edge_dominance``: times the larger neighbouring drop;
    ``by``: ``"ladder"`` or a column of the items (``"difficulty"``), empty = what the table has; ``order``: rungs from
    easy to hard where names do not say it.
    """

    delta: float = 0.10
    alpha: float = 0.05
    dominance: float = 2.0
    edge_dominance: float = 3.0
    draws: int = 2000
    seed: int = 0
    by: str = ""
    order: tuple[str, ...] = ()

    def __call__(self, data: Any) -> CliffsResult:
        """Judge every ladder of a run, its ``df`` or ``from_table(…)``."""
        table = tidy(data)
        ladders, notes = find_ladders(table, self.by, self.order)
        rule = replace(self, draws=max(self.draws, 40 * len(ladders)))
        judged = [judge_ladder(ladder, rule, table) for ladder in ladders]
        judged = _across(judged, self.alpha)
        return _result(judged, (*table.notes, *notes, *_lost(ladders), *suspicious_groups(table)))


@dataclass(frozen=True, eq=False)
class Judged:
    """A ladder with its label. ``step`` counts from 1: the drop lies between rung ``step`` and the next; None = none.

    ``p``: the largest of the p-values the label rests on; ``why``: what was missing, or the fault.
    """

    ladder: Ladder
    label: str
    step: int | None
    steps: Steps | None
    labels: tuple[str, ...]
    p: float | None
    why: str = ""
    power: float | None = None
    lenient: tuple[float | None, ...] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class CliffsResult(Result):
    """``table``: one row a step (``ladder, step, from, to, drop, drop_lo, drop_hi, p_drop, ratio, jump, p_jump,
    p_logit, p_edge, label``). ``ladders``: one row a ladder (``ladder, label, step, from, to, drop, n, rungs, …``)."""

    ladders: pd.DataFrame
    judged: tuple[Judged, ...]

    def to_dict(self) -> dict[str, Any]:
        """``ladders[]``, each with ``label``, ``step``, ``rungs[]`` and ``steps[]``; strict JSON."""
        rows = records(self.ladders)
        for row, one in zip(rows, self.judged, strict=True):
            row["rungs"] = plain(rung_rows(one))
            row["steps"] = records(self.table[self.table["ladder"] == one.ladder.name].drop(columns="ladder"))
        return {"kind": "cliffs", "verdict": self.verdict, "notes": list(self.notes), "ladders": rows}


def judge_ladder(ladder: Ladder, rule: Cliffs, table: Table | None = None) -> Judged:
    """Apply the rule to one ladder; without ``table`` the fault checks that need records are skipped."""
    lenient = _lenient(table, ladder)
    k = len(ladder.rungs)
    if ladder.influence is None or ladder.n is None:
        why = "n is not known" if ladder.n is None else "no items"
        return Judged(ladder, "cannot tell", None, None, ("cannot tell",) * (k - 1), None, why, lenient=lenient)
    steps = measure_steps(ladder, rule.draws, rule.seed, rule.alpha)
    labels = _step_labels(ladder, steps, rule)
    power = _power(ladder, steps)
    judged = _pick(ladder, steps, labels, rule, power)
    judged = replace(judged, lenient=lenient, power=power)
    fault = _fault_of(table, ladder, judged, rule) if table is not None else None
    return replace(judged, label=fault.kind, why=fault.why) if fault else judged


def _step_labels(ladder: Ladder, s: Steps, rule: Cliffs) -> list[str]:
    k = len(ladder.rungs)
    large = (s.drop >= rule.delta - 1e-12) & (s.p_drop <= rule.alpha)
    jumps = (s.p_jump <= rule.alpha) & (s.p_logit <= rule.alpha)
    labels = []
    for i in range(k - 1):
        if not large[i]:
            labels.append("none")
        elif k < 3 or ladder.n is None or ladder.n.min() < 20 or not jumps[i] or s.ratio[i] < rule.dominance:
            labels.append("steep")
        elif i not in (0, k - 2):
            labels.append("cliff")
        else:
            holds = k >= 5 and s.ratio[i] >= rule.edge_dominance and s.p_edge[i] <= rule.alpha
            labels.append("cliff" if holds else "suspected edge")
    return labels


def _pick(ladder: Ladder, s: Steps, labels: list[str], rule: Cliffs, power: float) -> Judged:
    """The ladder's label from those of its steps."""
    fault = _rung_fault(s, labels, rule)
    if fault is not None:
        rung = ladder.rungs[fault]
        why = f"{rung} is {100 * -s.drop[fault]:.0f} points worse than the harder {ladder.rungs[fault + 1]}"
        return Judged(ladder, "rung fault", None, s, tuple(labels), None, why)
    for label in ("cliff", "suspected edge", "steep"):
        steps = [i for i, own in enumerate(labels) if own == label]
        if steps:
            best = max(steps, key=lambda i: s.drop[i])
            return Judged(ladder, label, best + 1, s, tuple(labels), _p_of(s, best), _missing(ladder, s, best, rule))
    if power < 0.8:
        why = f"n is too small: a drop of 20 points would be seen with {power:.0%} power"
        return Judged(ladder, "cannot tell", None, s, tuple(labels), None, why)
    return Judged(ladder, "none", None, s, tuple(labels), None)


def _p_of(s: Steps, i: int) -> float:
    return float(np.nanmax([s.p_drop[i], s.p_jump[i], s.p_logit[i], s.p_edge[i]]))


def _missing(ladder: Ladder, s: Steps, i: int, rule: Cliffs) -> str:
    """What a large drop lacks to be called a cliff."""
    k = len(ladder.rungs)
    if k < 3:
        return "two rungs are never a cliff"
    if ladder.n is not None and ladder.n.min() < 20:
        return f"n = {ladder.n.min():.0f} is too small for a cliff"
    lacks = []
    if s.ratio[i] < rule.dominance:
        lacks.append(f"only {s.ratio[i]:.1f} times the neighbouring drop")
    if s.p_jump[i] > rule.alpha:
        lacks.append("a straight decline explains it")
    if s.p_logit[i] > rule.alpha:
        lacks.append("a logistic decline explains it")
    if not lacks and i in (0, k - 2):
        if k < 5:
            lacks.append("an edge step of fewer than 5 rungs cannot be told from the onset of a decline")
        elif s.ratio[i] < rule.edge_dominance or s.p_edge[i] > rule.alpha:
            lacks.append("at the edge an accelerating decline explains it")
    return "; ".join(lacks)


def _rung_fault(s: Steps, labels: list[str], rule: Cliffs) -> int | None:
    """A rung worse than the next harder one by more than delta, beyond chance: something is wrong with that rung.

    Where another step is a cliff, noise upwards must not hide it: then the rung must be the cliff's own lower one, or
    the rise must hold after Holm over the steps.
    """
    rises = np.flatnonzero((-s.drop > rule.delta) & (s.p_rise <= rule.alpha))
    found = [i for i, label in enumerate(labels) if label in ("cliff", "suspected edge")]
    if found:
        sure = holm(s.p_rise) <= rule.alpha
        rises = np.array([i for i in rises if sure[i] or i - 1 in found], dtype=int)
    return int(rises[np.argmin(s.drop[rises])]) if rises.size else None


def _power(ladder: Ladder, s: Steps) -> float:
    """Chance of seeing a drop of 20 points in the middle of this ladder with its n (of S with two rungs, of J else)."""
    assert ladder.n is not None
    k = len(ladder.rungs)
    middle = (k - 1) // 2
    row = trend_contrast(ladder.x, middle) if k >= 3 else (1.0, -1.0)
    if row is None:
        return 0.0
    se = np.sqrt(_planned_variance(ladder) * float(np.sum(np.square(row))))
    critical = s.critical if k >= 3 else float(stats.norm.ppf(0.95))
    return float(stats.norm.sf(critical - 0.2 / se))


def _planned_variance(ladder: Ladder) -> float:
    """Variance of a rung's mean that does not cancel between rungs, if half of the rungs were 20 points lower."""
    assert ladder.n is not None
    cov = ladder.covariance
    own = float(np.mean(np.diag(cov)))
    p = float(np.clip(ladder.means.mean(), 0.0, 1.0))
    low = max(0.0, p - 0.2)
    plan = 0.5 * (p * (1 - p) + low * (1 - low)) / float(ladder.n.min()) if ladder.binary else own
    if not ladder.paired:
        return max(plan, own)
    off = cov[~np.eye(len(cov), dtype=bool)]
    shared = float(np.clip(off.mean() / own, 0.0, 0.9)) if own > 0 and off.mean() > 0 else 0.0
    return max(plan, own) * (1 - shared)


def _fault_of(table: Table, ladder: Ladder, judged: Judged, rule: Cliffs) -> Fault | None:
    if judged.steps is None or judged.label not in ("cliff", "suspected edge", "steep", "rung fault"):
        return None
    steps = [judged.step - 1] if judged.step else list(np.flatnonzero(judged.steps.drop >= rule.delta))
    for i in steps:
        found = step_fault(table, ladder, int(i), rule.delta)
        if found is not None:
            return found
    return None


def _across(judged: list[Judged], alpha: float) -> list[Judged]:
    """Holm over ladders: a cliff that does not hold beside all the other ladders is steep."""
    p = [1.0 if j.p is None or j.label not in ("cliff", "suspected edge") else j.p for j in judged]
    tested = [np.nan if j.steps is None else value for j, value in zip(judged, p, strict=True)]
    adjusted = holm(tested)
    out = []
    for j, own, over_all in zip(judged, p, adjusted, strict=True):
        if own < 1.0 and over_all > alpha:
            why = f"p = {own:.3f} does not hold among {len(judged)} ladders (Holm {over_all:.2f})"
            j = replace(j, label="steep", why=why)
        out.append(j)
    return out


def _lenient(table: Table | None, ladder: Ladder) -> tuple[float | None, ...] | None:
    """Mean partial-credit score of each rung, shown beside the strict one."""
    if table is None or table.raw is None or "score_lenient" not in table.raw or ladder.difficulty:
        return None
    means = pd.to_numeric(table.raw["score_lenient"], errors="coerce").groupby(table.raw["candidate"]).mean()
    return tuple(float(means[c]) if c in means and pd.notna(means[c]) else None for c in ladder.candidates)


def _lost(ladders: list[Ladder]) -> list[str]:
    return [
        f"ladder {one.name}: {one.items_lost} items that some rung lacks are left out, {one.n.max():.0f} are common"
        for one in ladders
        if one.items_lost and one.n is not None
    ]


def _result(judged: list[Judged], notes: tuple[str, ...]) -> CliffsResult:
    ladders = pd.DataFrame([_ladder_row(one) for one in judged])
    steps = [row for one in judged for row in _step_rows(one)]
    table = pd.DataFrame(steps)
    return CliffsResult(table=table, verdict=_verdict(judged), notes=notes, ladders=ladders, judged=tuple(judged))


def _ladder_row(one: Judged) -> dict[str, Any]:
    ladder, i = one.ladder, None if one.step is None else one.step - 1
    s = one.steps
    return {
        "ladder": ladder.name,
        "label": one.label,
        "step": one.step,
        "from": None if i is None else ladder.rungs[i],
        "to": None if i is None else ladder.rungs[i + 1],
        "drop": None if i is None or s is None else float(s.drop[i]),
        "drop_lo": None if i is None or s is None else float(s.drop_lo[i]),
        "drop_hi": None if i is None or s is None else float(s.drop_hi[i]),
        "p": one.p,
        "n": None if ladder.n is None else float(ladder.n.min()),
        "n_rungs": len(ladder.rungs),
        "paired": ladder.paired,
        "x_is": ladder.x_is,
        "power_20": one.power,
        "items_lost": ladder.items_lost,
        "why": one.why,
    }


def _step_rows(one: Judged) -> list[dict[str, Any]]:
    ladder, s = one.ladder, one.steps
    rows = []
    for i in range(len(ladder.rungs) - 1):
        row: dict[str, Any] = {"ladder": ladder.name, "step": i + 1, "from": ladder.rungs[i], "to": ladder.rungs[i + 1]}
        row |= {"quality_from": ladder.means[i], "quality_to": ladder.means[i + 1]}
        row["drop"] = ladder.means[i] - ladder.means[i + 1]
        for name in ("drop_lo", "drop_hi", "p_drop", "ratio", "jump", "p_jump", "logit", "p_logit", "p_edge"):
            row[name] = float(getattr(s, name)[i]) if s is not None else None
        row["label"] = one.labels[i]
        rows.append(row)
    return rows


def rung_rows(one: Judged) -> list[dict[str, Any]]:
    """The rungs of a judged ladder: ``rung, x, quality, quality_lo, quality_hi, n, quality_lenient``."""
    ladder = one.ladder
    half: NDArray[np.float64] | None = None
    if ladder.influence is not None:
        half = float(stats.t.ppf(0.975, max(1, ladder.groups - 1))) * np.sqrt(np.diag(ladder.covariance))
    out = []
    for k, name in enumerate(ladder.rungs):
        mean = float(ladder.means[k])
        lo, hi = (None, None) if half is None else (max(0.0, mean - half[k]), min(1.0, mean + half[k]))
        row: dict[str, Any] = {"rung": name, "x": ladder.x[k], "quality": mean, "quality_lo": lo, "quality_hi": hi}
        row["n"] = None if ladder.n is None else float(ladder.n[k])
        row["quality_lenient"] = one.lenient[k] if one.lenient else None
        out.append(row)
    return out


def _verdict(judged: list[Judged]) -> str:
    if not judged:
        return "There is no ladder of two or more rungs."
    if len(judged) == 1:
        return _sentence(judged[0])
    counts = {label: sum(j.label == label for j in judged) for label in LABELS}
    parts = [f"{count} {label}" for label, count in counts.items() if count]
    cliffs = [_sentence(j) for j in judged if j.label == "cliff"]
    return f"{len(judged)} ladders: {', '.join(parts)}." + (f" {' '.join(cliffs[:3])}" if cliffs else "")


def _sentence(one: Judged) -> str:
    ladder = one.ladder
    if one.step is None or one.steps is None:
        return f"{ladder.name}: {one.label}" + (f" ({one.why})." if one.why else ".")
    i = one.step - 1
    s = one.steps
    drop = f"{100 * s.drop[i]:.0f} points ({100 * s.drop_lo[i]:.0f} to {100 * s.drop_hi[i]:.0f})"
    why = f": {one.why}" if one.why else ""
    return f"{ladder.name}: {one.label} between {ladder.rungs[i]} and {ladder.rungs[i + 1]}, {drop}{why}."
