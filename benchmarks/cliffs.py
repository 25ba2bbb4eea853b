"""Operating characteristics of the cliff rule: how often it calls what is smooth a cliff, and how often it sees one.

    python benchmarks/cliffs.py [--ladders 2000] [--only NAME]

Prints a Markdown table per configuration. Items have a common difficulty (logit-normal with spread s), so that scores
of one item are correlated over the rungs; rung means are exact. Targets: false alarms with the interval's lower end at
or below 6 %; power of 90 % for an interior 20-point drop on a flat ladder (n = 100, paired), 97 % for 30 points; the
right step in 97 % of hits.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import numpy as np
from scipy import optimize

from speedqual.analysis.cliffs import Cliffs, Judged, judge_ladder
from speedqual.analysis.intervals import wilson
from speedqual.analysis.ladders import ladder_from_groups, ladder_from_items

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(81)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


@dataclass(frozen=True)
class Shape:
    """Rung means; ``step`` is the true cliff (from 1), None for a smooth ladder."""

    name: str
    means: tuple[float, ...]
    step: int | None = None


def falling(start: float, *points: float) -> tuple[float, ...]:
    """Means that start at ``start`` and lose ``points`` in turn."""
    return tuple(float(v) for v in start - np.concatenate([[0], np.cumsum(points)]) / 100)


def sigmoid(k: int, slope: float) -> tuple[float, ...]:
    at = np.arange(k) - (k - 1) / 2
    return tuple(float(v) for v in 0.95 / (1 + np.exp(slope * at)))


SHAPES = {
    6: (
        Shape("flat 80 %", (0.8,) * 6),
        Shape("linear, 4 a step", falling(0.90, 4, 4, 4, 4, 4)),
        Shape("linear, 14 a step", falling(0.95, 14, 14, 14, 14, 14)),
        Shape("steep sigmoid, largest 20", sigmoid(6, 0.86)),
        Shape("accelerating 1,3,6,9,14", falling(0.95, 1, 3, 6, 9, 14)),
        Shape("accelerating 2,5,10,16,22", falling(0.95, 2, 5, 10, 16, 22)),
        Shape("decelerating 25,18,12,8,5", falling(0.95, 25, 18, 12, 8, 5)),
        Shape("20 points in the middle, flat", falling(0.85, 0, 0, 20, 0, 0), 3),
        Shape("20 points in the middle, 2 a step", falling(0.90, 2, 2, 20, 2, 2), 3),
        Shape("30 points in the middle, flat", falling(0.85, 0, 0, 30, 0, 0), 3),
        Shape("20 points at the last step", falling(0.85, 0, 0, 0, 0, 20), 5),
        Shape("20 points at the first step", falling(0.85, 20, 0, 0, 0, 0), 1),
    ),
    4: (
        Shape("flat 80 %", (0.8,) * 4),
        Shape("linear, 15 a step", falling(0.95, 15, 15, 15)),
        Shape("accelerating 3,8,16", falling(0.95, 3, 8, 16)),
        Shape("decelerating 25,12,6", falling(0.95, 25, 12, 6)),
        Shape("20 points in the middle, flat", falling(0.85, 0, 20, 0), 2),
        Shape("30 points in the middle, flat", falling(0.85, 0, 30, 0), 2),
    ),
}


@dataclass(frozen=True)
class Setting:
    """``spread`` of item difficulty on the logit scale; 0 = unpaired items."""

    name: str
    n: int
    k: int = 6
    spread: float = 4.0


SETTINGS = (
    Setting("n = 100, paired, s = 4, K = 6", 100),
    Setting("n = 100, paired, s = 2, K = 6", 100, spread=2.0),
    Setting("n = 100, unpaired, K = 6", 100, spread=0.0),
    Setting("n = 200, paired, s = 4, K = 6", 200),
    Setting("n = 50, paired, s = 4, K = 6", 50),
    Setting("n = 400, unpaired, K = 6", 400, spread=0.0),
    Setting("n = 100, paired, s = 4, K = 4", 100, k=4),
)


def offset(mean: float, spread: float) -> float:
    """The logit a with E[expit(a + spread·z)] = mean."""
    return float(optimize.brentq(lambda a: WEIGHTS @ (1 / (1 + np.exp(-(a + spread * NODES)))) - mean, -60, 60))


def simulate(shape: Shape, setting: Setting, rng: np.random.Generator) -> Judged:
    """One ladder drawn and judged."""
    rungs = tuple(f"rung {i}" for i in range(setting.k))
    rule = Cliffs(seed=int(rng.integers(2**31)))
    if setting.spread == 0:
        scores = [(rng.random(setting.n) < m).astype(float) for m in shape.means]
        return judge_ladder(ladder_from_groups(scores, rungs, tuple(map(float, range(setting.k)))), rule)
    offsets = np.array([offset(m, setting.spread) for m in shape.means])
    p = 1 / (1 + np.exp(-(offsets + setting.spread * rng.standard_normal((setting.n, 1)))))
    scores = (rng.random(p.shape) < p).astype(float)
    return judge_ladder(ladder_from_items(scores, rungs, tuple(map(float, range(setting.k)))), rule)


def row(shape: Shape, setting: Setting, ladders: int, seed: int) -> str:
    """A line of the table: share of cliffs with its 95 % interval, right steps, other labels, verdict."""
    rng = np.random.default_rng(seed)
    judged = [simulate(shape, setting, rng) for _ in range(ladders)]
    hits = [one for one in judged if one.label == "cliff"]
    share = wilson(len(hits), ladders)
    right = sum(one.step == shape.step for one in hits) / len(hits) if hits and shape.step else None
    labels = {
        label: sum(one.label == label for one in judged) / ladders
        for label in ("suspected edge", "steep", "cannot tell")
    }
    others = " | ".join(f"{100 * v:.1f}" for v in labels.values())
    kind = "smooth" if shape.step is None else "cliff"
    told = "" if right is None else f"{100 * right:.1f}"
    lo, hi = share.lo or 0.0, share.hi or 0.0
    ok = ("yes" if lo <= 0.06 else "NO") if shape.step is None else ""
    cells = [shape.name, kind, f"{100 * len(hits) / ladders:.1f} ({100 * lo:.1f} to {100 * hi:.1f})", told, others, ok]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the tables."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--ladders", type=int, default=2000)
    ask.add_argument("--only", default="")
    options = ask.parse_args()
    for setting in SETTINGS:
        if options.only not in setting.name:
            continue
        start = time.perf_counter()
        print(f"\n**{setting.name}**, {options.ladders} ladders a shape\n")
        head = "called a cliff, % (95 %) | right step, % | suspected edge, % | steep, % | cannot tell, % | ≤ 6 %"
        print(f"| shape | truth | {head} |")
        print("|---|---|---|---|---|---|---|---|")
        for i, shape in enumerate(SHAPES[setting.k]):
            print(row(shape, setting, options.ladders, seed=20261130 + i), flush=True)
        each = 1000 * (time.perf_counter() - start) / (options.ladders * len(SHAPES[setting.k]))
        print(f"\n{each:.1f} ms a ladder, drawing included.", flush=True)


if __name__ == "__main__":
    main()
