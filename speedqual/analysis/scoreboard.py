"""One row a candidate: how good, how fast, what failed, what it cost. What a run prints and a report shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from speedqual.analysis.base import Result
from speedqual.analysis.intervals import Interval, mean_interval, quantile_interval
from speedqual.display import numbers
from speedqual.records import GRADED_OUTCOMES

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Board", "Scoreboard", "scoreboard_rows"]


@dataclass(frozen=True, eq=False)
class Board(Result):
    """The table of a :class:`Scoreboard`; one row a candidate, best delivered quality first."""


@dataclass(frozen=True)
class Scoreboard:
    """Quality, speed, failures and cost of each candidate.

    Quality is the mean score over items (repeats of an item are averaged first). *Delivered* counts an endpoint's
    failure as 0; *answered* leaves it out. A score that is None because a grader could not judge is left out of both
    and counted in ``n_ungraded``. Speeds are percentiles over the replies that were ``ok``; the tail of a rate is its
    slow end.
    """

    by: str = "candidate"

    def __call__(self, df: pd.DataFrame) -> Board:
        import pandas as pd

        main = df[df["phase"] == "main"] if "phase" in df else df
        rows = [_row(self.by, str(name), part) for name, part in main.groupby(self.by, sort=False)]
        table = pd.DataFrame(rows)
        if len(table):
            table = table.sort_values("quality", ascending=False, kind="stable", na_position="last", ignore_index=True)
        return Board(table=table, verdict=_verdict(table, self.by), notes=_notes(table))


def _row(by: str, name: str, part: pd.DataFrame) -> dict[str, Any]:
    ok = part[part["outcome"] == "ok"]
    delivered, answered = _quality(part, failures_count=True), _quality(part, failures_count=False)
    row: dict[str, Any] = {by: name, "n": len(part), "n_ok": len(ok), "n_items": delivered.n}
    row |= _bounds("quality", delivered) | _bounds("answered", answered)
    for metric, quantile, label in (
        ("ttft_ms", 0.5, "ttft_ms_p50"),
        ("ttft_ms", 0.95, "ttft_ms_p95"),
        ("e2e_ms", 0.5, "e2e_ms_p50"),
        ("e2e_ms", 0.95, "e2e_ms_p95"),
        ("decode_tok_s", 0.5, "decode_tok_s_p50"),
        ("decode_tok_s", 0.05, "decode_tok_s_p5"),
    ):
        row |= _bounds(label, quantile_interval(ok[metric].dropna().to_numpy(dtype=float), quantile))
    return row | _counts(part) | _cost(part)


def _bounds(name: str, interval: Interval) -> dict[str, Any]:
    return {name: interval.value, f"{name}_lo": interval.lo, f"{name}_hi": interval.hi}


def _quality(part: pd.DataFrame, *, failures_count: bool) -> Interval:
    """Mean over items after the mean over repeats; ungraded is missing, an endpoint's failure is 0 or missing."""
    reached = part["outcome"].isin(GRADED_OUTCOMES)
    score = part["score"].astype(float).where(reached, 0.0 if failures_count else float("nan"))
    seen = part.assign(_score=score).dropna(subset=["_score"])
    items = seen.groupby(["evalset", "item"], sort=False).agg(score=("_score", "mean"), cluster=("cluster", "first"))
    clusters = items["cluster"].fillna("").astype(str)
    has_clusters = bool((clusters != "").any())
    # an item without a cluster stands for itself
    names = [name or str(key) for name, key in zip(clusters, items.index, strict=True)] if has_clusters else None
    return mean_interval(items["score"].to_numpy(dtype=float), clusters=names)


def _counts(part: pd.DataFrame) -> dict[str, Any]:
    reached = part["outcome"].isin(GRADED_OUTCOMES)
    failures = part["failure"][reached & part["failure"].notna() & ~part["failure"].isin(("none", ""))]
    return {
        "n_success": int(part["success"].fillna(False).astype(bool).sum()),
        "n_ungraded": int((reached & part["score"].isna()).sum()),
        "endpoint_failures": {str(k): int(v) for k, v in part["outcome"][~reached].value_counts().items()},
        "answer_failures": {str(k): int(v) for k, v in failures.value_counts().items()},
    }


def _cost(part: pd.DataFrame) -> dict[str, Any]:
    """Dollars of all trials, and per success; None as soon as one trial's cost is unknown."""
    cost = part["cost_usd"].astype(float)
    total = None if cost.isna().any() or not len(cost) else float(cost.sum())
    wins = int(part["success"].fillna(False).astype(bool).sum())
    return {"cost_usd": total, "cost_per_success_usd": total / wins if total is not None and wins else None}


def _verdict(table: pd.DataFrame, by: str) -> str:
    if not len(table) or table["quality"].isna().all():
        return "Nothing was graded."
    best = table.iloc[0]
    return f"Highest delivered quality: {best[by]} at {numbers.score(best['quality'])}."


def _notes(table: pd.DataFrame) -> tuple[str, ...]:
    if not len(table):
        return ()
    failed, ungraded = int((table["n"] - table["n_ok"]).sum()), int(table["n_ungraded"].sum())
    notes = []
    if failed:
        notes.append(f"{failed} trials ended without a complete answer; delivered quality counts them as 0.")
    if ungraded:
        notes.append(f"{ungraded} answers could not be judged; they count neither way.")
    return tuple(notes)


def scoreboard_rows(table: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Head and cells of the table as people read it, for a terminal or a notebook."""
    head = [table.columns[0], "quality", "95 %", "TTFT ms", "p95", "answer ms", "p95", "tok/s", "$/success", "ok/n"]
    return head, [_cells(row, str(table.columns[0])) for row in table.to_dict("records")]


def _interval(lo: float | None, hi: float | None) -> str:
    return numbers.DASH if numbers.missing(lo) else f"{numbers.score(lo).removesuffix(' %')}–{numbers.score(hi)}"


def _cells(row: dict[Any, Any], by: str) -> list[str]:
    return [
        str(row[by]),
        numbers.score(row["quality"]),
        _interval(row["quality_lo"], row["quality_hi"]),
        numbers.milliseconds(row["ttft_ms_p50"]),
        numbers.milliseconds(row["ttft_ms_p95"]),
        numbers.milliseconds(row["e2e_ms_p50"]),
        numbers.milliseconds(row["e2e_ms_p95"]),
        numbers.rate(row["decode_tok_s_p50"]),
        numbers.usd(row["cost_per_success_usd"]),
        f"{row['n_ok']}/{row['n']}",
    ]
