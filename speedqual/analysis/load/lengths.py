"""Time to first token and decoding by the length of the input: what each thousand tokens of prompt cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from speedqual.analysis.base import Result, records
from speedqual.analysis.load.levels import bounds_of
from speedqual.analysis.load.reading import Level, LoadTable, read_load
from speedqual.analysis.tidy import median, numbers
from speedqual.display.numbers import digits

__all__ = ["Lengths", "LengthsResult"]

LAYER = "long_input"
_LEAST = 8
_MOST = 1500  # Theil and Sen look at all pairs


@dataclass(frozen=True)
class Lengths:
    """``level``: of the bounds of the slope."""

    level: float = 0.95

    def __call__(self, data: Any) -> LengthsResult:
        """Look at the layer of long inputs. Raises UsageError when it was not run."""
        load = read_load(data).only(LAYER)
        table = pd.DataFrame([_row(load, one) for one in load.levels])
        slopes = pd.DataFrame([self.slope(load, name) for name in dict.fromkeys(table["candidate"])])
        return LengthsResult(table, _verdict(slopes), (), slopes)

    def slope(self, load: LoadTable, candidate: str) -> dict[str, Any]:
        """Theil and Sen's slope of the time to first token over the tokens of the prompt, with its rank bounds."""
        limited = {one.level for one in load.levels if one.limited and one.candidate == candidate}
        rows = load.frame[(load.frame["candidate"] == candidate) & ~load.frame["level"].isin(limited)]
        x, y = numbers(rows, "n_prompt"), numbers(rows, "ttft_ms")
        x = np.where(np.isfinite(x), x, numbers(rows, "load_x"))
        known = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
        known = known[:: max(1, -(-known.size // _MOST))]
        told: dict[str, Any] = {"candidate": candidate, "n": int(known.size)}
        if known.size < _LEAST or np.ptp(x[known]) <= 0:
            return told | {"ms_per_1000": None, "lo": None, "hi": None}
        found = stats.theilslopes(y[known], x[known], self.level)
        per_1000 = (found.slope, found.low_slope, found.high_slope)
        return told | {k: 1000 * float(v) for k, v in zip(("ms_per_1000", "lo", "hi"), per_1000, strict=True)}


@dataclass(frozen=True, eq=False, repr=False)
class LengthsResult(Result):
    """``table``: one row a level: ``candidate, level, x`` (tokens as planned), ``n_prompt`` (median as counted), ``n``,
    ``client_limited``, ``ttft_ms_p50``, ``_p95`` and ``decode_tok_s_p50``, ``_p5`` with bounds.

    ``slopes``: ``candidate, n, ms_per_1000, lo, hi``: ms of time to first token for each 1,000 tokens of prompt; None
    for fewer than 8 requests or a single length.
    """

    slopes: pd.DataFrame

    def to_dict(self) -> dict[str, Any]:
        """``levels[]`` and ``slopes[]``; strict JSON."""
        said = {"kind": "lengths", "verdict": self.verdict, "notes": list(self.notes)}
        return said | {"levels": records(self.table), "slopes": records(self.slopes)}


def _row(load: LoadTable, one: Level) -> dict[str, Any]:
    rows = load.rows(one)
    ok = rows[rows["first_in_window"] & (rows["outcome"] == "ok")]
    own = {"candidate": one.candidate, "level": one.level, "x": one.x, "n_prompt": median(numbers(ok, "n_prompt"))}
    own |= {"n": len(ok), "failed": int((rows["outcome"] != "ok").sum()), "client_limited": one.limited}
    return own | bounds_of(ok, "ttft_ms", (0.5, 0.95)) | bounds_of(ok, "decode_tok_s", (0.5, 0.05))


def _verdict(slopes: pd.DataFrame) -> str:
    known = slopes[slopes["ms_per_1000"].notna()]
    if not len(known):
        return "Too few requests, or a single length: the cost of a longer input cannot be told."
    each = [
        f"{row['candidate']} {digits(row['ms_per_1000'])} ms ({digits(row['lo'])} to {digits(row['hi'])})"
        for row in known.to_dict("records")
    ]
    return f"Each 1,000 tokens of input delay the first token: {'; '.join(each)}."
