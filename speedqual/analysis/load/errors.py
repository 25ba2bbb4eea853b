"""Errors under load: how requests and attempts ended at each level, what was retried, what a retry recovered."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pandas as pd

from speedqual.analysis.base import Result, records
from speedqual.analysis.intervals import wilson
from speedqual.analysis.load.reading import Key, Level, LoadTable, read_load
from speedqual.analysis.tidy import numbers
from speedqual.records import Attempt, Record

__all__ = ["LoadErrors", "LoadErrorsResult", "kind_of"]


@dataclass(frozen=True)
class LoadErrors:
    """``level``: of the bounds of the failed share."""

    level: float = 0.95

    def __call__(self, data: Any) -> LoadErrorsResult:
        """Look at a run; of a ``df`` alone only how requests ended is known."""
        load = read_load(data)
        tried: dict[Key, Counter[str]] = {}
        if hasattr(data, "records"):
            for record in data.records:
                place = record.trial.load
                if place is not None:
                    key = (record.trial.candidate, place.layer, place.level)
                    tried.setdefault(key, Counter()).update(_tallied(record))
        table = pd.DataFrame([self.row(load, one, tried.get(one.key)) for one in load.levels])
        counts = pd.DataFrame(_counts(load, tried), columns=["candidate", "layer", "level", "of", "kind", "n"])
        return LoadErrorsResult(table, _verdict(table, counts), _notes(load), counts)

    def row(self, load: LoadTable, one: Level, tally: Counter[str] | None) -> dict[str, Any]:
        rows = load.rows(one)
        failed = int((~rows["outcome"].isin(_FINE)).sum())
        share = wilson(failed, len(rows), self.level)
        own: dict[str, Any] = {
            "candidate": one.candidate, "layer": one.layer, "level": one.level, "x": one.x, "unit": one.unit,
            "n": len(rows), "failed": failed, "share": share.value, "lo": share.lo, "hi": share.hi,
            "ended": one.ended, "why": one.why,
        }  # fmt: skip
        names = ("attempts", "retried", "recovered", "waits_asked")
        stalled = int((numbers(rows, "stalls") > 0).sum()) if "stalls" in rows else None
        return own | {name: None if tally is None else tally[name] for name in names} | {"stalled": stalled}


@dataclass(frozen=True, eq=False, repr=False)
class LoadErrorsResult(Result):
    """``table``: one row a level: ``n`` requests, ``failed`` with its share and bounds; ``attempts``, ``retried``
    requests, ``recovered`` by a retry, ``waits_asked`` (attempts answered with Retry-After; None: the records were not
    read), ``stalled`` replies; ``ended, why``: breaker, budget, …

    ``counts``: ``candidate, layer, level, of`` (requests or attempts), ``kind, n``: kinds are outcomes, HTTP failures
    by status (``http 429``), time-outs by deadline (``timeout first_token``).
    """

    counts: pd.DataFrame

    def to_dict(self) -> dict[str, Any]:
        """``levels[]`` and ``counts[]``; strict JSON."""
        said = {"kind": "load_errors", "verdict": self.verdict, "notes": list(self.notes)}
        return said | {"levels": records(self.table), "counts": records(self.counts)}


_FINE = ("ok", "empty", "filtered")


def kind_of(attempt: Attempt) -> str:
    """How an attempt ended, with the status or the deadline that tells more."""
    if attempt.outcome == "http_error" and attempt.status is not None:
        return f"http {attempt.status}"
    if attempt.outcome == "timeout" and attempt.deadline:
        return f"timeout {attempt.deadline}"
    return attempt.outcome


def _tallied(record: Record) -> Counter[str]:
    """Counts of one record; the kinds of its attempts are kept under ``attempt:``."""
    tries = record.attempts
    found: Counter[str] = Counter({f"attempt:{kind}": n for kind, n in Counter(map(kind_of, tries)).items()})
    found["attempts"] = len(tries)
    found["retried"] = int(len(tries) > 1)
    found["recovered"] = int(len(tries) > 1 and tries[-1].outcome in _FINE)
    found["waits_asked"] = sum(attempt.retry_after_s is not None for attempt in tries)
    found[f"request:{kind_of(tries[-1])}"] += 1
    return found


def _counts(load: LoadTable, tried: dict[Key, Counter[str]]) -> list[tuple[str, str, str, str, str, int]]:
    found = []
    for one in load.levels:
        tally = tried.get(one.key)
        if tally is None:
            outcomes = load.rows(one)["outcome"].astype(str).value_counts()
            found += [(*one.key, "requests", str(kind), int(n)) for kind, n in outcomes.items()]
            continue
        for name, n in sorted(tally.items(), key=lambda pair: -pair[1]):
            what, colon, kind = name.partition(":")
            if colon and n:
                found.append((*one.key, f"{what}s", kind, n))
    return found


def _notes(load: LoadTable) -> tuple[str, ...]:
    return tuple(
        f"{one.candidate}, {one.level}: ended early, {one.ended}{f' ({one.why})' if one.why else ''}"
        for one in load.levels
        if one.ended != "completed"
    )


def _verdict(table: pd.DataFrame, counts: pd.DataFrame) -> str:
    n, failed = int(table["n"].sum()), int(table["failed"].sum())
    text = f"{failed} of {n} requests failed"
    mine = counts[(counts["of"] == "requests") & ~counts["kind"].isin(_FINE)]
    kinds = mine.groupby("kind")["n"].sum().sort_values(ascending=False)
    if len(kinds):
        text += f" ({', '.join(f'{n} {kind}' for kind, n in kinds.head(4).items())})"
    recovered = pd.to_numeric(table["recovered"], errors="coerce").sum()
    return text + (f"; a retry recovered {recovered:.0f}." if recovered else ".")
