"""A canary watched as it runs: an e-process, valid at every look.

Peeking at a 5 % test every ten items gives 27 % false alarms. Here e_t = mean over λ of Π(1 + λ·d_i) with
d_i = (base − new − margin)/(1 + margin) ∈ [−1, 1]. While the new one is no worse than the margin allows, E[e_t] ≤ 1 at
any time, so e_t ever reaching 1/α has a chance of at most α (Ville).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from speedqual.analysis.base import Result, records
from speedqual.display.numbers import digits
from speedqual.errors import UsageError

__all__ = ["Canary", "CanaryResult"]

_LAMBDAS = np.linspace(0.05, 0.95, 19)


@dataclass(frozen=True)
class Canary:
    """``margin``: loss of score that is accepted; ``alpha``: chance of ever raising a false alarm."""

    margin: float = 0.0
    alpha: float = 0.05

    def __call__(self, base: ArrayLike, new: ArrayLike) -> CanaryResult:
        """Watch paired scores in [0, 1] in the order in which they came.

        With every item lost the evidence after k items is about (2^(k+1) − 1)/(k + 1): 18 after 6, 32 after 7.

        >>> Canary()([1.0] * 20, [0.0] * 20).alarm_at
        7
        """
        x, y = np.asarray(base, float), np.asarray(new, float)
        if x.shape != y.shape or x.ndim != 1:
            raise UsageError("a canary needs as many new scores as base scores", fix="Pair them by item")
        if x.size and not ((x >= 0) & (x <= 1) & (y >= 0) & (y <= 1)).all():
            raise UsageError("scores lie outside 0 to 1 or are missing", fix="Leave out items without a score")
        d = (x - y - self.margin) / (1 + self.margin)
        logs = np.cumsum(np.log1p(np.outer(d, _LAMBDAS)), axis=0)
        with np.errstate(over="ignore"):
            e = np.exp(logs).mean(axis=1) if x.size else np.zeros(0)
        reached = np.flatnonzero(e >= 1 / self.alpha)
        alarm = int(reached[0]) + 1 if reached.size else None
        table = pd.DataFrame({"items": np.arange(1, x.size + 1), "evidence": np.minimum(e, 1e300)})
        return CanaryResult(table, _verdict(alarm, x.size, table), (), alarm, self)


@dataclass(frozen=True, eq=False, repr=False)
class CanaryResult(Result):
    """``table``: ``items, evidence`` (the e-value after each item). ``alarm_at``: items at the first alarm, or None."""

    alarm_at: int | None
    canary: Canary

    def to_dict(self) -> dict[str, Any]:
        """``alarm_at`` and ``evidence[]``; strict JSON."""
        return {
            "kind": "canary",
            "verdict": self.verdict,
            "alarm_at": self.alarm_at,
            "margin": self.canary.margin,
            "alpha": self.canary.alpha,
            "evidence": records(self.table),
        }


def _verdict(alarm: int | None, n: int, table: pd.DataFrame) -> str:
    if alarm is not None:
        return f"Worse than the margin allows: seen after {alarm} items. Stop the canary."
    last = float(table["evidence"].iloc[-1]) if n else 1.0
    return f"No alarm after {n} items (evidence {digits(last)}). Go on."
