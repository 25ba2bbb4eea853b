"""The client's own pace at a level: what it offered, what it achieved, whether it was the limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from speedqual.analysis.tidy import numbers
from speedqual.timing.throughput import Offered, offered

__all__ = ["client_of", "offered_at"]

_FEW = 20  # a rate over fewer requests than this does not show that the client fell behind


def offered_at(rows: pd.DataFrame, entries: Sequence[Mapping[str, Any]]) -> Offered | None:
    """Of an open loop; None where nothing was due at a given time. Pauses of an interrupted level are taken out."""
    due, sent = numbers(rows, "sched_ms"), numbers(rows, "started_ms")
    known = np.isfinite(due) & np.isfinite(sent)
    if not known.any():
        return None
    pause = _pauses(due[known], entries)
    as_ns = [[round(v * 1e6) for v in values[known] - pause] for values in (due, sent)]
    return offered(*as_ns)


def _pauses(due_ms: NDArray[np.float64], entries: Sequence[Mapping[str, Any]]) -> NDArray[np.float64]:
    """How long a level had stood still before each moment: between the times at which it was run."""
    found = np.zeros(due_ms.shape)
    for before, after in pairwise(entries):
        if before.get("end_ms") is not None and after.get("start_ms") is not None:
            found[due_ms >= float(after["start_ms"])] += float(after["start_ms"]) - float(before["end_ms"])
    return found


def client_of(entries: Sequence[Mapping[str, Any]], pace: Offered | None) -> dict[str, Any]:
    """``limited``, ``limited_why`` and ``lag_p99_ms`` of a level, by the client's own word; where it gave none (it was
    killed) by its late sends.

    The client knows which sends waited for a connection: those are late by the server's doing, and must not excuse it.
    """
    said = [dict(entry.get("client") or {}) for entry in entries]
    why = next((str(c.get("why") or "the client was the limit") for c in said if c.get("limited")), "")
    silent = not said or any("limited" not in c for c in said)
    if not why and silent and pace is not None and pace.client_limited and pace.n >= _FEW:
        why = f"sent {_percent(pace.ratio)} of the offered rate, {pace.lag_p99_ms or 0:.0f} ms late at p99"
    late = None if pace is None else pace.lag_p99_ms
    own = (_worst(said, name) for name in ("sched_lag_p99_ms", "loop_lag_p99_ms"))
    lag = late if silent and late is not None else next((worst for worst in own if worst is not None), late)
    return {"limited": bool(why), "limited_why": why, "lag_p99_ms": lag}


def _worst(said: Sequence[Mapping[str, Any]], name: str) -> float | None:
    """Of several processes or calls; None where none of them says it."""
    return max((float(one[name]) for one in said if one.get(name) is not None), default=None)


def _percent(ratio: float | None) -> str:
    return "an unknown share" if ratio is None else f"{100 * ratio:.1f} %"
