"""The cliff rule on one ladder: labels of its steps, the ladder's own label, faults, and what a drop lacks.

Null: quality is a smooth function of the rung, however steep; operationally no true step is larger than 1.8 × its
larger neighbour. A step is a cliff when it is large (S), dominates its neighbours (D), jumps over a straight (J) and
over a logistic trend (L), and at an edge dominates more and jumps over a quadratic trend (E); and when neither endpoint
nor grader can be blamed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import stats

from speedqual.analysis.faults import Fault, step_fault
from speedqual.analysis.intervals import holm
from speedqual.analysis.jumps import Steps, measure_steps, trend_contrast
from speedqual.analysis.ladders import Ladder
from speedqual.analysis.tidy import Table
from speedqual.display.numbers import share

__all__ = ["LABELS", "Judged", "Rule", "judge_ladder"]

LABELS = ("cliff", "suspected edge", "steep", "none", "cannot tell", "rung fault", "serving fault", "grader fault")


@dataclass(frozen=True)
class Rule:
    """``delta``: points that count as a drop; ``dominance`` and ``edge_dominance``: times the larger neighbouring drop;
    ``draws`` of the max-T null."""

    delta: float = 0.10
    alpha: float = 0.05
    dominance: float = 2.0
    edge_dominance: float = 3.0
    draws: int = 2000
    seed: int = 0


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


def judge_ladder(ladder: Ladder, rule: Rule, table: Table | None = None) -> Judged:
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


def _step_labels(ladder: Ladder, s: Steps, rule: Rule) -> list[str]:
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


def _pick(ladder: Ladder, s: Steps, labels: list[str], rule: Rule, power: float) -> Judged:
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
        why = f"n is too small: a drop of 20 points would be seen with {share(power)} power"
        return Judged(ladder, "cannot tell", None, s, tuple(labels), None, why)
    return Judged(ladder, "none", None, s, tuple(labels), None)


def _p_of(s: Steps, i: int) -> float:
    return float(np.nanmax([s.p_drop[i], s.p_jump[i], s.p_logit[i], s.p_edge[i]]))


def _missing(ladder: Ladder, s: Steps, i: int, rule: Rule) -> str:
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


def _rung_fault(s: Steps, labels: list[str], rule: Rule) -> int | None:
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


def _fault_of(table: Table, ladder: Ladder, judged: Judged, rule: Rule) -> Fault | None:
    if judged.steps is None or judged.label not in ("cliff", "suspected edge", "steep", "rung fault"):
        return None
    steps = [judged.step - 1] if judged.step else list(np.flatnonzero(judged.steps.drop >= rule.delta))
    for i in steps:
        found = step_fault(table, ladder, int(i), rule.delta)
        if found is not None:
            return found
    return None


def _lenient(table: Table | None, ladder: Ladder) -> tuple[float | None, ...] | None:
    """Mean partial-credit score of each rung, shown beside the strict one."""
    if table is None or table.raw is None or "score_lenient" not in table.raw or ladder.difficulty:
        return None
    means = pd.to_numeric(table.raw["score_lenient"], errors="coerce").groupby(table.raw["candidate"]).mean()
    return tuple(float(means[c]) if c in means and pd.notna(means[c]) else None for c in ladder.candidates)
