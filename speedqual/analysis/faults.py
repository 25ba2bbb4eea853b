"""A broken endpoint or grader looks like a cliff: the checks that must be clean before the word is used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from speedqual.analysis.intervals import wilson_upper
from speedqual.analysis.ladders import Ladder
from speedqual.analysis.tidy import Table
from speedqual.display.numbers import share
from speedqual.records import GRADED_OUTCOMES, UNGRADED_FAILURES

__all__ = ["Fault", "rung_rates", "step_fault", "suspicious_groups"]

_UNPARSED = ("wrong_format", "no_code")
_BROKEN_ENDPOINT = 0.2  # share of failed requests from which an endpoint is taken as broken
_TOKEN_FACTOR = 4.0  # answers this many times longer or shorter are no longer the same kind of answer


@dataclass(frozen=True)
class Fault:
    """``kind``: serving fault or grader fault; ``why`` in words with the shares."""

    kind: str
    why: str


def step_fault(table: Table, ladder: Ladder, step: int, delta: float) -> Fault | None:
    """The fault that explains the drop after rung ``step`` (0-based), or None when the checks are clean.

    A share of faulty answers that grows by e explains at most e × the score before; it is named when less than
    ``delta`` of the drop would remain.
    """
    if table.raw is None:
        return _lone_zero(ladder, step)
    before, after = _rates(table.raw, ladder, step), _rates(table.raw, ladder, step + 1)
    drop, level = float(ladder.means[step] - ladder.means[step + 1]), float(ladder.means[step])
    if after["failed requests"] - before["failed requests"] >= _BROKEN_ENDPOINT:
        return Fault("serving fault", _say("failed requests", before, after))
    for what, kind in _CHECKS:
        excess = after[what] - before[what]
        if excess >= 0.05 and drop - excess * level < delta:
            return Fault(kind, _say(what, before, after))
    ratio = after["tokens"] / before["tokens"] if before["tokens"] and after["tokens"] else 1.0
    if not 1 / _TOKEN_FACTOR <= ratio <= _TOKEN_FACTOR:
        return Fault("serving fault", f"answers became {ratio:.1f} times as long: another kind of answer")
    return None


_CHECKS = (
    ("empty answers", "serving fault"),
    ("answers cut by the token limit", "serving fault"),
    ("refusals", "serving fault"),
    ("answers not parsed", "grader fault"),
    ("answers not graded", "grader fault"),
)


def rung_rates(table: Table, ladder: Ladder) -> list[dict[str, float]]:
    """What the checks look at, rung by rung: shares of the requests, and the median ``tokens`` of an answer (0 where
    nobody counted them). Empty without records."""
    return [] if table.raw is None else [_rates(table.raw, ladder, rung) for rung in range(len(ladder.rungs))]


def _say(what: str, before: dict[str, float], after: dict[str, float]) -> str:
    return f"{what} went from {share(before[what])} to {share(after[what])}"


def _rates(raw: pd.DataFrame, ladder: Ladder, rung: int) -> dict[str, float]:
    rows = _rows_of(raw, ladder, rung)
    failure = _text(rows, "failure")
    given = rows["outcome"].isin(GRADED_OUTCOMES)
    stop = _text(rows, "stop") + "/" + _text(rows, "finish_reason")
    chars = (
        pd.to_numeric(rows["answer_chars"], errors="coerce") if "answer_chars" in rows else pd.Series(1.0, rows.index)
    )
    tokens = pd.to_numeric(rows["n_out"], errors="coerce").median() if "n_out" in rows else np.nan
    return {
        "failed requests": float(1 - given.mean()),
        "empty answers": float((given & ((rows["outcome"] == "empty") | (chars == 0))).mean()),
        "answers cut by the token limit": float((stop.str.contains("length") | (failure == "truncated")).mean()),
        "refusals": float(((failure == "refused") | (rows["outcome"] == "filtered")).mean()),
        "answers not parsed": float(failure.isin(_UNPARSED).mean()),
        "answers not graded": float(failure.isin(UNGRADED_FAILURES).mean()),
        "tokens": float(tokens) if pd.notna(tokens) else 0.0,
    }


def _rows_of(raw: pd.DataFrame, ladder: Ladder, rung: int) -> pd.DataFrame:
    if ladder.difficulty:
        own = raw[raw["candidate"] == ladder.candidates[0]]
        return own[_text(own, "difficulty") == ladder.rungs[rung]]
    return raw[raw["candidate"] == ladder.candidates[rung]]


def _text(rows: pd.DataFrame, column: str) -> pd.Series[str]:
    if column not in rows:
        return pd.Series("", index=rows.index)
    return rows[column].fillna("").astype(str)


def _lone_zero(ladder: Ladder, step: int) -> Fault | None:
    """Without records: one rung of exactly 0 of many items, alone on its ladder, is a fault until shown otherwise."""
    zero = ladder.means == 0
    many = ladder.n is not None and float(ladder.n.min()) >= 20
    if many and not ladder.influence_is_items and zero.sum() == 1 and zero[step + 1] and ladder.means[step] >= 0.2:
        return Fault("serving fault", f"a score of exactly 0 at {ladder.rungs[step + 1]} and nowhere else")
    return None


def suspicious_groups(table: Table, column: str = "cluster", least: int = 20) -> list[str]:
    """Groups of items in which a candidate fails as only a parser or an endpoint fails.

    Expected score = the candidate's logit + the group's logit among the others. Named when the upper bound lies 30
    points below it, and below what a weaker candidate reaches there.
    """
    if table.rows is None or column not in table.rows or len(table.names) < 2:
        return []
    cells = table.rows.groupby([column, "candidate"], observed=True)["given"].agg(["mean", "count"])
    mean = cells["mean"].unstack().reindex(columns=table.names)
    if not 2 <= len(mean) <= 500:
        return []
    score, n = mean.to_numpy(float), cells["count"].unstack().reindex(columns=table.names).to_numpy(float)
    overall = table.rows.groupby("candidate", observed=True)["given"].mean().reindex(table.names).to_numpy(float)
    groups = [str(g) for g in mean.index]
    found = []
    for j, name in enumerate(table.names):
        others = [k for k in range(len(table.names)) if k != j]
        known = pd.Series(overall[others]).mean()  # a candidate that never answered tells nothing
        easier = _logit(mean.iloc[:, others].mean(axis=1).to_numpy(float)) - _logit(known)
        expected = _expit(_logit(overall[j]) + easier)
        for i in np.flatnonzero((n[:, j] >= least) & (score[:, j] < expected - 0.3)):
            weaker = [k for k in others if overall[k] < overall[j] and score[i, k] > score[i, j]]
            if weaker and wilson_upper(score[i, j] * n[i, j], n[i, j]) < expected[i] - 0.3:
                rival = f"the weaker {table.names[weaker[0]]} reaches {share(score[i, weaker[0]])}"
                found.append(
                    f"grader fault suspected: {name} scores {share(score[i, j])} in {groups[i]} "
                    f"(about {share(expected[i])} would fit its other groups, and {rival})"
                )
    return found


def _logit(p: Any) -> Any:
    """Log-odds of a share or a series of shares, kept off 0 and 1."""
    safe = np.clip(p, 0.01, 0.99)
    return np.log(safe / (1 - safe))


def _expit(v: Any) -> Any:
    return 1 / (1 + np.exp(-v))
