"""What a prefix cache saves: the same beginning asked cold and again warm, pair by pair.

Saved = time to first token of the cold request − that of its warm twin. Cached tokens are those of the server's usage,
held against the share of the prompt that the two have in common.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from speedqual.analysis.base import Result, records
from speedqual.analysis.intervals import quantile_interval
from speedqual.analysis.load.reading import LoadTable, read_load
from speedqual.analysis.tidy import median, numbers
from speedqual.display.numbers import digits

__all__ = ["Prefix", "PrefixResult"]

Array = NDArray[np.float64]
LAYER = "prefix"
_BLOCK = 128.0  # caches keep whole blocks of tokens: one may be missing at the end
_SLACK = 0.10


@dataclass(frozen=True)
class Prefix:
    """``draws`` and ``seed`` of the bootstrap over pairs."""

    draws: int = 4000
    seed: int = 0

    def __call__(self, data: Any) -> PrefixResult:
        """Look at the layer of prefixes. Raises UsageError when it was not run."""
        load = read_load(data).only(LAYER)
        pairs = _pairs(load)
        groups = pairs.groupby(["candidate", "set", "differs", "x"], sort=False)
        rows = [self.row(name, part) for name, part in groups]
        table = pd.DataFrame(rows, columns=list(_COLUMNS))
        table = table.sort_values(["candidate", "set", "differs", "x"], ascending=[True, True, False, True])
        return PrefixResult(table.reset_index(drop=True), _verdict(table), _notes(table, load), pairs)

    def row(self, name: Any, pairs: pd.DataFrame) -> dict[str, Any]:
        """One share of one candidate."""
        cold, warm, cached = (pairs[c].to_numpy(float) for c in ("ttft_cold", "ttft_warm", "cached_warm"))
        both = np.isfinite(cold) & np.isfinite(warm)
        saved = quantile_interval(cold[both] - warm[both], 0.5)
        shared = pairs["x"].to_numpy(float) * pairs["n_prompt"].to_numpy(float)
        own = dict(zip(("candidate", "set", "differs", "x"), name, strict=True)) | {
            "pairs": len(pairs),
            "n": int(both.sum()),
        }
        own |= {"cold_ms": median(cold), "warm_ms": median(warm)}
        own |= {"saved_ms": saved.value, "saved_lo": saved.lo, "saved_hi": saved.hi}
        own |= {"shared_tokens": median(shared), "cached_cold": median(pairs["cached_cold"].to_numpy(float))}
        own |= {"cached_tokens": median(cached), "counts": _agree(cached, shared)}
        counted = both & np.isfinite(cached) & (cached > 0)
        return own | self.per_token((cold - warm)[counted], cached[counted])

    def per_token(self, saved_ms: Array, cached: Array) -> dict[str, float | None]:
        """Milliseconds saved for each cached token: ratio of sums, bounds by resampling pairs."""
        if saved_ms.size == 0:
            return dict.fromkeys(("saved_per_token_ms", "per_token_lo", "per_token_hi"))
        value = float(saved_ms.sum() / cached.sum())
        if saved_ms.size < 3:
            return {"saved_per_token_ms": value, "per_token_lo": None, "per_token_hi": None}
        drawn = np.random.default_rng(self.seed).integers(0, saved_ms.size, (self.draws, saved_ms.size))
        lo, hi = np.quantile(saved_ms[drawn].sum(axis=1) / cached[drawn].sum(axis=1), [0.025, 0.975])
        return {"saved_per_token_ms": value, "per_token_lo": float(lo), "per_token_hi": float(hi)}


_COLUMNS = (
    "candidate", "set", "differs", "x", "pairs", "n", "cold_ms", "warm_ms", "saved_ms", "saved_lo", "saved_hi",
    "shared_tokens", "cached_tokens", "cached_cold", "counts", "saved_per_token_ms", "per_token_lo", "per_token_hi",
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class PrefixResult(Result):
    """``table``: one row per candidate, ``set`` (one length), share ``x`` and what ``differs`` from there on (the
    ``rest``, or one ``line`` and nothing after it): ``pairs`` asked, ``n`` with both times, medians
    ``cold_ms, warm_ms``, ``saved_ms`` (median over pairs, order-statistic bounds), ``shared_tokens`` (share × prompt),
    ``cached_tokens`` and ``cached_cold`` (medians of the server's counts, None: it does not say), ``counts`` (agree,
    fewer, more, missing), ``saved_per_token_ms`` with bounds. ``pairs``: one row a pair."""

    pairs: pd.DataFrame

    def to_dict(self) -> dict[str, Any]:
        """``shares[]``; strict JSON."""
        said = {"kind": "prefix", "verdict": self.verdict, "notes": list(self.notes)}
        return said | {"shares": records(self.table)}


def _pairs(load: LoadTable) -> pd.DataFrame:
    """Cold and warm side by side: the n-th cold request of a pair with its n-th warm one."""
    rows = load.frame[load.frame["outcome"] == "ok"].sort_values("load_number", kind="stable")
    by_item = _text(rows, "item").str.extract("(cold|warm)$", expand=False).fillna("")
    note = _text(rows, "load_note").where(_text(rows, "load_note").isin(("cold", "warm")), by_item)
    named = _text(rows, "evalset")
    told = pd.DataFrame(
        {
            "candidate": rows["candidate"], "set": named.str.replace(r"-\d+(-line)?$", "", regex=True),
            "differs": np.where(named.str.endswith("-line"), "line", "rest"), "x": numbers(rows, "load_x"),
            "pair": _pair_names(rows), "note": note, "ttft": numbers(rows, "ttft_ms"),
            "cached": numbers(rows, "n_cached"), "n_prompt": numbers(rows, "n_prompt"),
        }
    )[note.isin(("cold", "warm"))]  # fmt: skip
    key = ["candidate", "set", "differs", "x", "pair"]
    told["turn"] = told.groupby([*key, "note"]).cumcount()
    cold, warm = (told[told["note"] == n].drop(columns="note") for n in ("cold", "warm"))
    both = cold.merge(warm, on=[*key, "turn"], suffixes=("_cold", "_warm"))
    return both.assign(n_prompt=both["n_prompt_warm"])


def _text(rows: pd.DataFrame, column: str) -> pd.Series[str]:
    return rows[column].fillna("").astype(str) if column in rows else pd.Series("", index=rows.index)


def _pair_names(rows: pd.DataFrame) -> pd.Series[str]:
    """The cluster that both items of a pair have, else the item's id without its last word."""
    cluster = _text(rows, "cluster")
    return cluster.where(cluster != "", _text(rows, "item").str.replace(r"[-_ ]?(cold|warm)$", "", regex=True))


def _agree(cached: Array, shared: Array) -> str:
    """Whether usage counts as cached what was shared, within a tenth or one block of the cache."""
    said, expected = median(cached), median(shared)
    if said is None:
        return "missing"
    if expected is None:
        return "unknown"
    slack = max(_BLOCK, _SLACK * expected)
    return "fewer" if said < expected - slack else "more" if said > expected + slack else "agree"


def _notes(table: pd.DataFrame, load: LoadTable) -> tuple[str, ...]:
    notes = []
    for row in table.to_dict("records"):
        at = f"{row['candidate']}, {100 * row['x']:.0f} % shared{' up to one line' if row['differs'] == 'line' else ''}"
        if row["counts"] in ("fewer", "more"):
            said = f"{row['cached_tokens']:.0f} cached tokens for {row['shared_tokens']:.0f} shared ones"
            notes.append(f"{at}: usage and prompt disagree: {said}")
        if row["counts"] == "missing":
            notes.append(f"{at}: usage does not say how many tokens were cached")
        if (row["cached_cold"] or 0) > _BLOCK:
            notes.append(f"{at}: the cold requests were not cold, {row['cached_cold']:.0f} tokens came from a cache")
    limited = [one.level for one in load.levels if one.limited]
    return (*notes, *([f"the client was the limit at {', '.join(limited)}"] if limited else []))


def _verdict(table: pd.DataFrame) -> str:
    parts = []
    for name, rows in table.groupby("candidate", sort=False):
        known = rows[rows["saved_ms"].notna()]
        if not len(known):
            continue
        best = known.sort_values(["differs", "x"], ascending=[True, True], kind="stable").iloc[-1]
        bounds = "" if pd.isna(best["saved_lo"]) else f" ({digits(best['saved_lo'])} to {digits(best['saved_hi'])})"
        at = f"with {100 * best['x']:.0f} % of the prompt shared"
        parts.append(f"{name}: the first token comes {digits(best['saved_ms'])} ms{bounds} earlier {at}")
    return "; ".join(parts) + "." if parts else "No pair of a cold and a warm request is complete."
