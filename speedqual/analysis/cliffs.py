"""Capability cliffs: drops on a ladder that no smooth decline explains. The rule itself is in ``rule``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from speedqual.analysis.base import Result, plain, records
from speedqual.analysis.faults import suspicious_groups
from speedqual.analysis.intervals import holm
from speedqual.analysis.ladders import Ladder, find_ladders
from speedqual.analysis.rule import LABELS, Judged, Rule, judge_ladder
from speedqual.analysis.tidy import tidy

__all__ = ["Cliffs", "CliffsResult", "Judged", "judge_ladder", "rung_rows"]


@dataclass(frozen=True)
class Cliffs(Rule):
    """Parameters: those of the rule, and where the ladders are.

    ``by``: ``"ladder"`` or a column of the items (``"difficulty"``), empty = what the table has; ``order``: rungs from
    easy to hard where names do not say it.
    """

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
