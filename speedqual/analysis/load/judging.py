"""Does a level keep its promises? Requests judged one by one, the share bounded, three answers: holds, fails, open.

A request is bad when it failed, was cancelled or timed out, or broke a promise; undetermined when it is fine but a
promised number cannot exist. Undetermined ones are no good ones for "holds" and no bad ones for "fails".

The bounds are exact (binomial: the order-statistic bound of a percentile said as a share): Wilson's lower bound would
let 52 good of 52 pass for 95 %, which befalls a share of exactly 95 % in 7 % of all cases; the exact one asks for 59.
Neighbours in a queue fare alike, so n is divided by the design effect of blocks in order of time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from speedqual.analysis.tidy import numbers
from speedqual.errors import UsageError
from speedqual.timing.goodput import Slo

__all__ = [
    "Counts",
    "State",
    "concerned",
    "counts_of",
    "design_effect",
    "evidence",
    "judge_level",
    "judged",
    "p_fails",
    "p_holds",
]

State = Literal["holds", "fails", "open"]
_SHOWABLE = 0.95
_BLOCKS = 20
_LEAST = 40  # requests from which a design effect is told from chance
_MIX = np.linspace(0.05, 1.0, 20)  # where between the promised share and the best (or worst) possible one


@dataclass(frozen=True)
class Counts:
    """Requests sent: ``good``, ``bad``, ``undetermined``; ``effect``: n counts for n / effect independent ones."""

    good: int
    bad: int
    undetermined: int
    effect: float = 1.0

    @property
    def n(self) -> int:
        return self.good + self.bad + self.undetermined

    @property
    def share(self) -> float | None:
        """Goodput: good / all sent; None when nothing was sent."""
        return self.good / self.n if self.n else None


def judged(rows: pd.DataFrame, slos: Sequence[Slo]) -> NDArray[np.int8]:
    """Each request of ``rows``: 1 good, 0 bad, -1 undetermined. A promise to another class of traffic does not count.

    Raises UsageError when the table lacks a promised metric.
    """
    lacking = sorted({slo.metric for slo in slos} - set(rows.columns))
    if lacking:
        raise UsageError(f"the table has no column {', '.join(lacking)}", fix="Promise a metric of the run's table")
    ok = (rows["outcome"] == "ok").to_numpy()
    bad, unknown = ~ok, np.zeros(len(rows), bool)
    for slo in slos:
        mine = ok & _is_concerned(rows, slo)
        values = numbers(rows, slo.metric)
        known = np.isfinite(values)
        unknown |= mine & ~known
        bad |= mine & known & ~np.asarray(slo.met(values))  # type: ignore[arg-type]  # each number on its own
    return np.where(bad, 0, np.where(unknown, -1, 1)).astype(np.int8)


def counts_of(marks: NDArray[np.int8], sent: NDArray[np.float64] | None = None) -> Counts:
    """Count marks; with the time of each send, with their design effect too."""
    order = marks if sent is None else marks[np.argsort(sent, kind="stable")]
    effect = 1.0 if sent is None else design_effect(order == 1)
    return Counts(int((marks == 1).sum()), int((marks == 0).sum()), int((marks == -1).sum()), effect)


def design_effect(good: NDArray[np.bool_]) -> float:
    """How many requests count for one, from blocks of neighbours: block variance / binomial variance, at least 1.

    1 where nothing varies or there are fewer than 40.

    >>> design_effect(np.tile([True, False], 40)), design_effect(np.repeat([True, False], 40))
    (1.0, 4.0)
    """
    n = good.size
    if n < _LEAST or good.all() or not good.any():
        return 1.0
    blocks = np.array_split(good.astype(float), min(_BLOCKS, n // 4))
    size, p = n / len(blocks), float(good.mean())
    found = size * float(np.var([block.mean() for block in blocks])) / (p * (1 - p))
    return max(1.0, found)


def p_holds(counts: Counts, share: float) -> float:
    """One-sided exact p-value against "at most ``share`` of all requests are good". 1 when nothing was sent.

    >>> round(p_holds(Counts(59, 0, 0), 0.95), 4), round(p_holds(Counts(58, 0, 0), 0.95), 4)
    (0.0485, 0.051)
    """
    if share >= 1.0:  # can be refuted, never shown: what can be said of a hundred percent
        return 1.0 if counts.bad or counts.undetermined else p_holds(counts, _SHOWABLE)
    n, good = counts.n / counts.effect, counts.good / counts.effect
    return 1.0 if good <= 0 else float(stats.beta.cdf(share, good, n - good + 1))


def p_fails(counts: Counts, share: float) -> float:
    """One-sided exact p-value against "at least ``share`` are good"; the undetermined may all have been good.

    >>> round(p_fails(Counts(50, 10, 0), 0.95), 4), p_fails(Counts(99, 1, 0), 1.0)
    (0.0007, 0.0)
    """
    if share >= 1.0:
        return 0.0 if counts.bad else 1.0
    n, at_best = counts.n / counts.effect, (counts.good + counts.undetermined) / counts.effect
    return 1.0 if not counts.bad else float(stats.beta.sf(share, at_best + 1, n - at_best))


def judge_level(rows: pd.DataFrame, slos: Sequence[Slo], alpha: float = 0.05) -> State:
    """Judge a level that may still be running: valid at every look, so a search may ask after each reply.

    ``rows``: the finished requests of one level without its warm-up. A number missing in ``load_number`` is a request
    still in flight: undetermined, or the fast ones alone would speak. All promises must hold for "holds"; for "fails"
    one broken suffices, each at ``alpha`` / their number. When K levels are tried give ``alpha`` / K. No request, or no
    promise: "open".
    """
    if rows.empty or not slos:
        return "open"
    found = [_evidence_of(rows, slo) for slo in slos]
    if any(against >= len(slos) / alpha for _, against in found):
        return "fails"
    return "holds" if all(for_it >= 1 / alpha for for_it, _ in found) else "open"


def _evidence_of(rows: pd.DataFrame, slo: Slo) -> tuple[float, float]:
    mine = concerned(rows, slo)
    found = counts_of(judged(mine, [slo]), _order(mine))
    flying = _in_flight(rows) if len(mine) else 0
    return evidence(Counts(found.good, found.bad, found.undetermined + flying, found.effect), slo.share)


def concerned(rows: pd.DataFrame, slo: Slo) -> pd.DataFrame:
    """The requests to which a promise is made."""
    return rows[_is_concerned(rows, slo)]


def _is_concerned(rows: pd.DataFrame, slo: Slo) -> NDArray[np.bool_]:
    if not slo.traffic or "traffic" not in rows:
        return np.ones(len(rows), bool)
    return np.asarray(rows["traffic"].fillna("").astype(str) == slo.traffic, bool)


def evidence(counts: Counts, share: float) -> tuple[float, float]:
    """E-values for "more than ``share`` are good" and for "fewer are": a mixture of likelihood ratios.

    While the opposite is true, reaching 1/α at any time has a chance of at most α (Ville).
    """
    if share >= 1.0:
        clean = not (counts.bad or counts.undetermined)
        return (evidence(counts, _SHOWABLE)[0] if clean else 0.0), 1e300 if counts.bad else 0.0
    better, worse = share + (1 - share) * _MIX, share * (1 - _MIX)
    return (
        _mixture(counts.good, counts.bad + counts.undetermined, better, share, counts.effect),
        _mixture(counts.good + counts.undetermined, counts.bad, worse, share, counts.effect),
    )


def _order(rows: pd.DataFrame) -> NDArray[np.float64]:
    sent = numbers(rows, "started_ms")
    return np.where(np.isfinite(sent), sent, numbers(rows, "load_number"))


def _in_flight(rows: pd.DataFrame) -> int:
    asked = numbers(rows, "load_number")
    asked = np.unique(asked[np.isfinite(asked)])
    return int(asked[-1] - asked[0]) + 1 - asked.size if asked.size else 0


def _mixture(good: int, bad: int, alternatives: NDArray[np.float64], share: float, effect: float) -> float:
    """Mean over the alternatives of their likelihood ratio against ``share``."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        gain, loss = np.log(alternatives / share), np.log((1 - alternatives) / (1 - share))
        logs = (np.where(good > 0, good * gain, 0.0) + np.where(bad > 0, bad * loss, 0.0)) / effect
        return float(min(np.exp(np.minimum(logs, 700.0)).mean(), 1e300))
