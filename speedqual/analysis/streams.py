"""Streams as they came: tokens over time, by channel, with stalls and the speed of the first and the last third."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from speedqual.analysis.base import Result, records
from speedqual.errors import UsageError
from speedqual.records import Attempt
from speedqual.timing import measure
from speedqual.timing.stream import Stream

__all__ = ["Streams", "StreamsResult"]

_MS = 1_000_000


@dataclass(frozen=True)
class Streams:
    """``stall_ms`` and ``stall_medians``: a gap longer than both the first and so many median gaps is marked; the
    counts themselves come from the metric contract."""

    stall_ms: float = 500.0
    stall_medians: float = 8.0

    def __call__(self, attempts: Sequence[Attempt], names: Sequence[str] | None = None) -> StreamsResult:
        """Lay streams over one another, each from its own request."""
        labels = list(names) if names else [f"stream {i + 1}" for i in range(len(attempts))]
        parts = [self.rows(a, name) for a, name in zip(attempts, labels, strict=True)]
        table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
        if table.empty:
            raise UsageError("none of these streams has an event")
        rates = pd.DataFrame([_rates(a, name) for a, name in zip(attempts, labels, strict=True)])
        return StreamsResult(table, _verdict(rates), _notes(rates), rates)

    def rows(self, attempt: Attempt, name: str) -> pd.DataFrame:
        """One row a counted event; tokens are None where nobody counted them, then characters stand in."""
        stream = Stream([attempt])
        events, start = stream.events, stream.t_send
        if not events or start is None:
            return pd.DataFrame()
        running = stream.cumulative_tokens
        characters = pd.Series([len(e.text) for e in events]).cumsum()
        limit = max(self.stall_ms * _MS, self.stall_medians * (stream.median_gap_ns or 0))
        gaps = [0, *stream.gaps_ns]
        return pd.DataFrame(
            {
                "stream": name,
                "t_ms": [(e.t_ns - start) / _MS for e in events],
                "channel": [e.channel for e in events],
                "done": characters if running is None else running,
                "counted": "characters" if running is None else "tokens",
                "stalled": [gap > limit for gap in gaps],
            }
        )


@dataclass(frozen=True, eq=False, repr=False)
class StreamsResult(Result):
    """``table``: ``stream, t_ms, channel, done`` (cumulative), ``counted`` (tokens or characters), ``stalled``.

    ``rates``: ``stream, ttft_ms, decode_tok_s, decay_ratio, stalls, stall_share``; None where undefined.
    """

    rates: pd.DataFrame

    def to_dict(self) -> dict[str, Any]:
        """``streams[]`` and ``events[]``; strict JSON."""
        return {
            "kind": "streams",
            "verdict": self.verdict,
            "notes": list(self.notes),
            "streams": records(self.rates),
            "events": records(self.table),
        }


def _rates(attempt: Attempt, name: str) -> dict[str, Any]:
    got = measure([attempt])
    wanted = ("ttft_ms", "decode_tok_s", "decay_ratio", "stalls", "stall_share")
    return {"stream": name} | {metric: got.metrics.get(metric) for metric in wanted}


def _notes(rates: pd.DataFrame) -> tuple[str, ...]:
    short = int(rates["decay_ratio"].isna().sum())
    return (f"{short} of {len(rates)} streams are too short or too coarse to tell a decay",) if short else ()


def _verdict(rates: pd.DataFrame) -> str:
    known = rates[rates["decay_ratio"].notna()]
    stalled = int((pd.to_numeric(rates["stalls"], errors="coerce") > 0).sum())
    slows = known[known["decay_ratio"].astype(float) < 0.9]
    text = f"{stalled} of {len(rates)} streams stalled"
    if len(known):
        text += f"; {len(slows)} of {len(known)} long ones were slower by a tenth or more in their last third"
    return text + "."
