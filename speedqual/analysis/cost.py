"""What it costs: per success, per thousand tasks, where the tokens go, what a faster tier costs per second saved.

Unknown cost stays unknown. Cost per success = sum of all cost / number of successes, failures and retries included.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from speedqual.analysis.base import Result, records
from speedqual.analysis.draws import multinomial_weights
from speedqual.analysis.intervals import cluster_sums
from speedqual.analysis.tidy import Table, median, numbers, tidy
from speedqual.display.numbers import digits
from speedqual.errors import UsageError

__all__ = ["Cost", "CostResult", "replicas_for"]

Array = NDArray[np.float64]
_TOKENS = ("n_prompt", "n_cached", "n_out", "n_reasoning")


@dataclass(frozen=True)
class Cost:
    """Parameters.

    ``success_at``: score from which a task counts as done, where the run does not say it. ``arrivals_per_s`` and
    ``utilisation``: the load to size own hardware for, and how full a replica may run.
    """

    success_at: float = 1.0
    arrivals_per_s: float | None = None
    utilisation: float = 0.7
    draws: int = 2000
    seed: int = 0

    def __call__(self, data: Any) -> CostResult:
        """Account for a run, its ``df`` or ``from_table(…, cost=…)``."""
        if not 0 < self.utilisation <= 1:
            raise UsageError(f"a utilisation of {self.utilisation} is outside 0 to 1")
        table = tidy(data)
        rows = [_account(table, name, self) for name in table.names]
        out = pd.DataFrame(rows)
        premiums = _premiums(out)
        return CostResult(out, _verdict(out), _notes(table, out), premiums)


@dataclass(frozen=True, eq=False, repr=False)
class CostResult(Result):
    """``table``: ``candidate, requests, successes, cost, cost_per_request, cost_per_thousand, cost_per_success`` with
    ``_lo``/``_hi``, tokens per request (``prompt, cached, reasoning, answer``), ``tokens_per_success``, ``attempts``,
    ``speed``, ``claimed``, ``replicas``, ``usd_per_hour_needed`` (own hardware), ``cost_from``.

    ``premiums``: pairs of one model: ``model, slower, faster, seconds_saved, extra_usd, usd_per_second_saved``.
    """

    premiums: pd.DataFrame

    def to_dict(self) -> dict[str, Any]:
        """``candidates[]`` and ``premiums[]``; strict JSON."""
        return {
            "kind": "cost",
            "verdict": self.verdict,
            "notes": list(self.notes),
            "candidates": records(self.table),
            "premiums": records(self.premiums),
        }


def replicas_for(arrivals_per_s: float, req_s: float, utilisation: float = 0.7) -> int:
    """Replicas that carry the arrivals when each does ``req_s`` requests a second and may be ``utilisation`` full.

    >>> replicas_for(10, 2.5, 0.8)
    5
    """
    return int(np.ceil(arrivals_per_s / (req_s * utilisation) - 1e-9))


def _account(table: Table, name: str, ask: Cost) -> dict[str, Any]:
    rows = _requests(table, name)
    score = np.nan_to_num(numbers(rows, "score"))
    bar = numbers(rows, "success_at")
    bar = np.where(np.isfinite(bar), bar, ask.success_at)
    done = (score >= bar - 1e-12).astype(float) if table.rows is not None else score
    cost, source = _costs(rows)
    weight = rows["_weight"].to_numpy(float)
    out: dict[str, Any] = {
        "candidate": name,
        "requests": float(weight.sum()),
        "successes": float((done * weight).sum()),
    }
    out |= _money(cost, done, weight, _groups(table, rows), ask)
    out |= _tokens(rows, out["successes"])
    out |= _speed(rows)
    out |= _capacity(rows, ask)
    return out | {"cost_from": source, "model": str(rows["model"].iloc[0]) if "model" in rows else ""}


def _requests(table: Table, name: str) -> pd.DataFrame:
    """One row a request (``_weight`` 1), or one row a brought summary with ``_weight`` = n."""
    if table.rows is None:
        row = table.summary[table.summary["candidate"] == name]
        return row.assign(score=row["quality"], _weight=row["n"].fillna(1.0))
    source = table.raw if table.raw is not None else table.rows
    rows = source[source["candidate"] == name]
    return rows.assign(_weight=1.0)


def _groups(table: Table, rows: pd.DataFrame) -> NDArray[Any]:
    if table.rows is None:
        return np.array(["all"])
    return table.clusters(pd.Index(rows["item"]))


def _costs(rows: pd.DataFrame) -> tuple[Array | None, str]:
    """Cost of each request: as priced; else hours of own hardware, one request at a time; None = unknown.

    Where at least nine in ten have a price, the others (failures, mostly) are taken at their mean.
    """
    priced = numbers(rows, "cost_usd")
    if np.isfinite(priced).mean() >= 0.9:
        return np.where(np.isfinite(priced), priced, np.nanmean(priced)), "prices"
    hourly, time = numbers(rows, "usd_per_hour"), numbers(rows, "e2e_ms")
    if np.isfinite(hourly).any() and np.isfinite(time).mean() >= 0.9:
        each = np.where(np.isfinite(time), time, np.nanmean(time))
        return float(np.nanmax(hourly)) * each / 3_600_000, "hours of own hardware"
    return None, "unknown"


def _money(cost: Array | None, done: Array, weight: Array, groups: NDArray[Any], ask: Cost) -> dict[str, Any]:
    names = (
        "cost",
        "cost_per_request",
        "cost_per_thousand",
        "cost_per_success",
        "cost_per_success_lo",
        "cost_per_success_hi",
    )
    if cost is None:
        return dict.fromkeys(names)
    total, wins = float((cost * weight).sum()), float((done * weight).sum())
    each = total / float(weight.sum())
    lo, hi = _ratio_bounds(cost, done, groups, ask)
    return dict(zip(names, (total, each, 1000 * each, total / wins if wins > 0 else None, lo, hi), strict=True))


def _ratio_bounds(cost: Array, done: Array, groups: NDArray[Any], ask: Cost) -> tuple[float | None, float | None]:
    """Cluster bootstrap of Σ cost / Σ successes; no upper bound where a resample may hold no success."""
    sums = cluster_sums(np.column_stack([cost, done]), groups)
    if len(sums) < 2 or done.sum() == 0:
        return None, None
    drawn = np.vstack([w.astype(float) @ sums for w in multinomial_weights(len(sums), ask.draws, ask.seed)])
    with np.errstate(divide="ignore"):
        ratio = np.where(drawn[:, 1] > 0, drawn[:, 0] / np.maximum(drawn[:, 1], 1e-12), np.inf)
    lo, hi = np.quantile(ratio, [0.025, 0.975], method="higher")
    return float(lo), float(hi) if np.isfinite(hi) else None


def _tokens(rows: pd.DataFrame, successes: float) -> dict[str, Any]:
    """Mean tokens a request, the answer's apart from the reasoning's, and all output over all successes."""
    mean = {name: _mean(numbers(rows, name)) for name in (*_TOKENS, "attempts")}
    out = numbers(rows, "n_out")
    answer = None if mean["n_out"] is None else mean["n_out"] - (mean["n_reasoning"] or 0.0)
    verbose = float(np.nansum(out)) / successes if np.isfinite(out).any() and successes > 0 else None
    return {
        "prompt": mean["n_prompt"],
        "cached": mean["n_cached"],
        "reasoning": mean["n_reasoning"],
        "answer": answer,
        "tokens_per_success": verbose,
        "attempts": mean["attempts"],
    }


def _mean(values: Array) -> float | None:
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else None


def _speed(rows: pd.DataFrame) -> dict[str, Any]:
    """Median seconds of the whole answer, and the median speed measured beside the one advertised."""
    in_ms = median(numbers(rows, "e2e_ms"))
    seconds = in_ms / 1000 if in_ms is not None else median(numbers(rows, "seconds"))
    measured, claimed = median(numbers(rows, "decode_tok_s")), median(numbers(rows, "claimed_tok_s"))
    share = measured / claimed if measured is not None and claimed else None
    return {"seconds": seconds, "speed": measured, "claimed": claimed, "of_claimed": share}


def _capacity(rows: pd.DataFrame, ask: Cost) -> dict[str, Any]:
    """Replicas for the arrivals, from the requests a second that were finished while the run lasted."""
    start = numbers(rows, "started_ms")
    end = start + numbers(rows, "e2e_ms")
    if ask.arrivals_per_s is None or not np.isfinite(end).any():
        return {"req_s": None, "replicas": None, "usd_per_hour_needed": None}
    seconds = float(np.nanmax(end) - np.nanmin(start)) / 1000
    req_s = float(np.isfinite(end).sum()) / seconds
    replicas, hourly = replicas_for(ask.arrivals_per_s, req_s, ask.utilisation), median(numbers(rows, "usd_per_hour"))
    needed = replicas * hourly if hourly is not None else None
    return {"req_s": req_s, "replicas": replicas, "usd_per_hour_needed": needed}


def _premiums(out: pd.DataFrame) -> pd.DataFrame:
    """Pairs of deployments of one model in which the faster one is dearer: what a second saved costs."""
    columns = ["model", "slower", "faster", "seconds_saved", "extra_usd", "usd_per_second_saved"]
    rows = []
    usable = out[(out["model"] != "") & out["seconds"].notna() & out["cost_per_request"].notna()]
    for model, members in usable.groupby("model", sort=False):
        ordered = members.sort_values("seconds", ascending=False).to_dict("records")
        for slow, fast in pairwise(ordered):
            saved = slow["seconds"] - fast["seconds"]
            extra = fast["cost_per_request"] - slow["cost_per_request"]
            if saved > 0:
                rows.append((model, slow["candidate"], fast["candidate"], saved, extra, extra / saved))
    return pd.DataFrame(rows, columns=columns)


def _notes(table: Table, out: pd.DataFrame) -> tuple[str, ...]:
    notes = list(table.notes)
    if table.rows is None:
        notes.append('cost is read as that of one item; where the table has totals, give cost="total/n"')
    unknown = out.loc[out["cost_from"] == "unknown", "candidate"]
    if len(unknown):
        notes.append(f"the cost of {len(unknown)} candidates is unknown, which is not free: {', '.join(unknown[:5])}")
    if (out["cost_from"] == "hours of own hardware").any():
        notes.append("own hardware is charged for the time of each request alone, as if nothing shared it")
    if "replicas" in out and out["replicas"].notna().any():
        notes.append("replicas follow from the throughput of this run: load it to its limit to learn what one can do")
    return tuple(notes)


def _verdict(out: pd.DataFrame) -> str:
    known = out[out["cost_per_success"].notna()].sort_values("cost_per_success", kind="stable")
    if known.empty:
        return "No candidate has both a known cost and a success."
    best = known.iloc[0]
    text = f"Cheapest success: {best['candidate']}, ${digits(best['cost_per_success'])} each"
    if len(known) > 1:
        worst = known.iloc[-1]
        ratio = worst["cost_per_success"] / best["cost_per_success"] if best["cost_per_success"] > 0 else None
        more = f", {digits(ratio)} times as much" if ratio else ""
        text += f"; dearest: {worst['candidate']}, ${digits(worst['cost_per_success'])}{more}"
    return text + "."
