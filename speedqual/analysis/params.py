"""Speed against parameter size: the speed frontier over ``params_b``, and the spread between deployments of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from speedqual.analysis import pareto
from speedqual.analysis.base import Result, records
from speedqual.analysis.measures import Measure, find_measure
from speedqual.analysis.tidy import tidy
from speedqual.errors import UsageError

__all__ = ["SpeedBySize", "SpeedBySizeResult"]

_SPEEDS = ("decode_tok_s", "e2e_ms", "seconds", "ttft_ms")


@dataclass(frozen=True)
class SpeedBySize:
    """``speed``: the measure; empty = decode speed, else the whole answer's time."""

    speed: str = ""

    def __call__(self, data: Any) -> SpeedBySizeResult:
        """Look at a run, its ``df`` or ``from_table(…, params_b=…)``."""
        table = tidy(data)
        s = table.summary
        if "params_b" not in s or s["params_b"].notna().sum() == 0:
            raise UsageError("no candidate has params_b", fix="Give params_b in the candidate or with params_b=")
        known = [m for m in ([self.speed] if self.speed else _SPEEDS) if find_measure(m).name in s]
        if not known:
            raise UsageError("no candidate has a speed", fix="Name a column with seconds=")
        measure = find_measure(known[0])
        out = _rows(s, measure)
        spread = _spread(out, measure)
        return SpeedBySizeResult(out, _verdict(out, spread, measure), table.notes, measure, spread)


@dataclass(frozen=True, eq=False, repr=False)
class SpeedBySizeResult(Result):
    """``table``: ``candidate, model, params_b``, the speed, ``quality, on_front`` (nobody as large is as fast).

    ``spread``: per model with several deployments ``model, deployments, slowest, fastest, ratio``.
    """

    measure: Measure
    spread: pd.DataFrame

    def to_dict(self) -> dict[str, Any]:
        """``points[]`` and ``spread[]``; strict JSON."""
        return {
            "kind": "speed_by_size",
            "verdict": self.verdict,
            "notes": list(self.notes),
            "speed": self.measure.name,
            "points": records(self.table),
            "spread": records(self.spread),
        }


def _rows(s: pd.DataFrame, m: Measure) -> pd.DataFrame:
    out = s[s["params_b"].notna() & s[m.name].notna()].reset_index(drop=True)
    model = out["model"].fillna("").astype(str) if "model" in out else pd.Series("", index=out.index)
    cost = out[m.name].to_numpy(float) * (-1.0 if m.higher_is_better else 1.0)
    on = pareto.on_front(cost[:, None], out["params_b"].to_numpy(float))
    named = model.where(model != "", out["candidate"])
    return pd.DataFrame(
        {
            "candidate": out["candidate"],
            "model": named,
            "params_b": out["params_b"].astype(float),
            m.name: out[m.name].astype(float),
            "quality": out["quality"],
            "on_front": on,
        }
    )


def _spread(out: pd.DataFrame, m: Measure) -> pd.DataFrame:
    rows = []
    for (model, size), members in out.groupby(["model", "params_b"], sort=False):
        if len(members) < 2:
            continue
        values = members[m.name].to_numpy(float)
        slow, fast = (values.min(), values.max()) if m.higher_is_better else (values.max(), values.min())
        rows.append((model, size, len(members), slow, fast, float(np.maximum(slow / fast, fast / slow))))
    return pd.DataFrame(rows, columns=["model", "params_b", "deployments", "slowest", "fastest", "ratio"])


def _verdict(out: pd.DataFrame, spread: pd.DataFrame, m: Measure) -> str:
    on = int(out["on_front"].sum())
    text = f"{on} of {len(out)} candidates are on the speed frontier over size ({m.label})"
    if len(spread):
        widest = spread.sort_values("ratio", ascending=False, kind="stable").iloc[0]
        text += f"; deployments of {widest['model']} differ {widest['ratio']:.1f} times"
    return text + "."
