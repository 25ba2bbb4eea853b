"""Cold starts: how much later the first token comes after an idle time, connection and loading of the model apart.

A connection is made before the request is sent, so that it is not in the time to first token; what is seen is whether
the server was slower on a new one. The loading of a model is what the server itself reports. The idle time is measured:
from the end of the candidate's last reply to the next send.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from speedqual.analysis.base import Result, records
from speedqual.analysis.intervals import Interval
from speedqual.analysis.load.passing import dated
from speedqual.analysis.load.reading import LoadTable, read_load
from speedqual.analysis.tidy import median, numbers
from speedqual.display.numbers import digits

__all__ = ["ColdResult", "ColdStarts", "shift"]

Array = NDArray[np.float64]
LAYER = "cold"


@dataclass(frozen=True)
class ColdStarts:
    """``level``: of the bounds of the excess; ``idle_share``: a request that waited less than this part of its level's
    idle time was not cold."""

    level: float = 0.95
    idle_share: float = 0.5

    def __call__(self, data: Any) -> ColdResult:
        """Look at the layer of cold starts. Raises UsageError when it was not run."""
        whole = read_load(data)
        load = whole.only(LAYER)
        server = _server_side(data) if hasattr(data, "records") else {}
        starts = _starts(whole, server)
        limited = {one.key[::2] for one in load.levels if one.limited}
        cold = starts[(starts["layer"] == LAYER) & (starts["idle_s"] >= self.idle_share * starts["x"])]
        groups = cold.groupby(["candidate", "level", "x", "connection"], sort=False)
        rows = [self.row(name, part, _warm(starts, cold, str(part["candidate"].iloc[0]))) for name, part in groups]
        table = pd.DataFrame(rows, columns=list(_COLUMNS)).sort_values(["candidate", "x"], kind="stable")
        pairs = zip(table["candidate"], table["level"], strict=True)
        table["client_limited"] = np.array([pair in limited for pair in pairs], bool)
        return ColdResult(table.reset_index(drop=True), _verdict(table), _notes(table), starts)

    def row(self, name: Any, cold: pd.DataFrame, warm: pd.DataFrame) -> dict[str, Any]:
        """One idle time, on new or on kept connections, against requests that waited for nothing."""
        own, base = (_finite(part["ttft_ms"]) for part in (cold, warm))
        late = shift(own, base, self.level)
        load_ms = median(cold["load_ms"].to_numpy(float))
        told = dict(zip(("candidate", "level", "x", "connection"), name, strict=True))
        told |= {
            "n": own.size,
            "failed": int((cold["outcome"] != "ok").sum()),
            "idle_s": median(_finite(cold["idle_s"])),
        }
        told |= {"cold_ms": median(own), "warm_ms": median(base), "n_warm": base.size}
        told |= {"excess_ms": late.value, "excess_lo": late.lo, "excess_hi": late.hi, "load_ms": load_ms}
        return told | {"rest_ms": None if late.value is None or load_ms is None else late.value - load_ms}


_COLUMNS = (
    "candidate", "level", "x", "connection", "n", "failed", "idle_s", "cold_ms", "warm_ms", "n_warm", "excess_ms",
    "excess_lo", "excess_hi", "load_ms", "rest_ms",
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class ColdResult(Result):
    """``table``: one row per candidate, level (``x``: idle seconds as planned, ``idle_s`` as measured) and
    ``connection`` (new, reused, unknown): ``n``, ``failed``, medians ``cold_ms`` and ``warm_ms``, ``excess_ms`` (Hodges
    and Lehmann's shift, rank bounds), ``load_ms`` (median the server reports; None: it does not) and ``rest_ms``, the
    excess without it. Warm: requests for the same set at once after another, else those after the shortest idle time.
    """

    starts: pd.DataFrame

    def to_dict(self) -> dict[str, Any]:
        """``idle[]``; strict JSON."""
        said = {"kind": "cold", "verdict": self.verdict, "notes": list(self.notes)}
        return said | {"idle": records(self.table)}


def shift(cold: Array, warm: Array, level: float = 0.95) -> Interval:
    """Hodges and Lehmann's shift: the median of all differences, bounds by the ranks of the Mann-Whitney statistic.

    >>> got = shift(np.array([10.0, 11, 12, 13]), np.array([1.0, 2, 3, 4]))
    >>> got.value, got.lo, got.hi
    (9.0, 6.0, 12.0)
    """
    n, m = cold.size, warm.size
    if not n or not m:
        return Interval(None, None, None, "Hodges-Lehmann", n, level, "no cold or no warm request")
    apart = np.sort(np.subtract.outer(cold, warm).ravel())
    z = float(stats.norm.ppf(0.5 + level / 2))
    rank = int(np.floor(n * m / 2 - z * np.sqrt(n * m * (n + m + 1) / 12)))
    lo, hi = (float(apart[rank - 1]), float(apart[-rank])) if rank >= 1 else (None, None)
    return Interval(float(np.median(apart)), lo, hi, "Hodges-Lehmann", n, level, "" if rank >= 1 else "n too small")


def _finite(values: pd.Series[Any]) -> Array:
    found: Array = values.to_numpy(float)
    return found[np.isfinite(found)]


def _server_side(run: Any) -> dict[tuple[str, str, int], tuple[str, float | None]]:
    """Connection and reported loading time of each request of the layer."""
    found = {}
    for record, _ in dated(run):
        place, last = record.trial.load, record.last
        if place is not None and place.layer == LAYER:
            load_ms = None if last.server is None else last.server.load_ms
            found[record.trial.candidate, place.level, place.number] = last.timeline.connection, load_ms
    return found


def _starts(load: LoadTable, server: dict[tuple[str, str, int], tuple[str, float | None]]) -> pd.DataFrame:
    """Every request of the load test with the idle time before it."""
    rows = load.frame
    keys = list(zip(rows["candidate"], rows["level"], numbers(rows, "load_number"), strict=True))
    seen = [server.get((a, b, int(n)), ("", None)) if np.isfinite(n) else ("", None) for a, b, n in keys]
    note = rows["load_note"].fillna("").astype(str) if "load_note" in rows else pd.Series("", index=rows.index)
    planned = note.str.extract("(new|kept|reused)", expand=False).replace("kept", "reused").fillna("unknown")
    table: dict[str, Any] = {"candidate": rows["candidate"], "layer": rows["layer"], "level": rows["level"]}
    table["outcome"] = rows["outcome"]
    table |= {"evalset": rows["evalset"].astype(str) if "evalset" in rows else "", "x": numbers(rows, "load_x")}
    table |= {"ttft_ms": numbers(rows, "ttft_ms"), "idle_s": _idle(rows), "note": note}
    table |= {"connection": [own or kind for (own, _), kind in zip(seen, planned, strict=True)]}
    table |= {"load_ms": np.array([np.nan if ms is None else ms for _, ms in seen], float)}
    return pd.DataFrame(table)


def _idle(rows: pd.DataFrame) -> Array:
    """Seconds since the last reply to the same candidate had ended; NaN for its first request."""
    sent = pd.Series(numbers(rows, "started_ms"), index=rows.index)
    took = [np.nan_to_num(numbers(rows, name)) for name in ("e2e_user_ms", "close_lag_ms")]
    order = sent.sort_values(kind="stable").index
    who = rows.loc[order, "candidate"]
    ended = (sent + took[0] + took[1]).loc[order].groupby(who).cummax().groupby(who).shift()
    return ((sent - ended.reindex(rows.index)) / 1000).to_numpy(float)


def _warm(starts: pd.DataFrame, cold: pd.DataFrame, candidate: str) -> pd.DataFrame:
    """What a cold request is held against."""
    mine = starts[starts["candidate"] == candidate]
    own = cold[cold["candidate"] == candidate]
    same = mine[(mine["evalset"].isin(set(own["evalset"]))) & ~mine.index.isin(own.index)]
    alone = same[(same["note"] == "warm") | ((same["layer"] != LAYER) & (same["idle_s"] >= 0))]
    return alone if len(alone) else own[own["x"] == own["x"].min()]


def _notes(table: pd.DataFrame) -> tuple[str, ...]:
    few = table[table["excess_lo"].isna() & table["excess_ms"].notna()]
    return ("n is too small for bounds of some cold starts",) if len(few) else ()


def _verdict(table: pd.DataFrame) -> str:
    parts = []
    for name, rows in table[~table["client_limited"]].groupby("candidate", sort=False):
        known = rows[rows["excess_ms"].notna()].sort_values("excess_ms")
        if len(known):
            worst = known.iloc[-1]
            bounds = (
                ""
                if pd.isna(worst["excess_lo"])
                else f" ({digits(worst['excess_lo'])} to {digits(worst['excess_hi'])})"
            )
            parts.append(
                f"{name}: {digits(worst['excess_ms'])} ms{bounds} more after {worst['x']:g} s without a request"
            )
    return "; ".join(parts) + "." if parts else "No cold request has a warm one to be held against."
