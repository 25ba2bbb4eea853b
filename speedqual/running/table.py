"""Records as a tidy table, kept as parquet beside them and made again when they have changed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from speedqual.records import Attempt, Candidate, EvalSet, Item, Record, Trial
from speedqual.running.columns import COLUMNS
from speedqual.running.layout import Layout

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["frame_of", "read_table", "write_table"]

_STAMP_KEY = b"speedqual"
_DTYPES = {"text": "str", "number": "float64", "count": "int64", "truth": "boolean"}


class Rows:
    """Turns records into rows; looks candidates and items up once."""

    def __init__(
        self, run: str, candidates: Iterable[Candidate], evalsets: Iterable[EvalSet], starts_ns: Mapping[int, int]
    ) -> None:
        self._run = run
        self._starts_ns = starts_ns
        self._who = {candidate.name: _who(candidate) for candidate in candidates}
        self._tiers = {candidate.name: candidate.tier for candidate in candidates}
        self._sets = {evalset.name: evalset for evalset in evalsets}
        self._items = {evalset.name: {item.id: item for item in evalset.items} for evalset in evalsets}

    def row(self, record: Record, session: int) -> dict[str, Any]:
        """One row with every column."""
        trial, last = record.trial, record.last
        evalset = self._sets[trial.evalset]
        return {
            "run": self._run,
            **self._who[trial.candidate],
            "served_tier": last.served_tier or "",
            **_what(evalset, self._items[trial.evalset][trial.item]),
            "repeat": trial.repeat,
            "phase": "other_tier" if "other_tier" in record.flags else trial.phase,
            **_where(trial),
            "started_ms": self._started_ms(record.attempts, session),
            "outcome": last.outcome,
            "stop": last.stop or "",
            "finish_reason": last.finish_reason or "",
            **_how_well(record, evalset),
            "answer_chars": len(last.text),
            "flags": " ".join(record.flags),
            **record.metrics,
        }

    def _started_ms(self, attempts: tuple[Attempt, ...], session: int) -> float | None:
        sent = next((a.timeline.t_send for a in attempts if a.timeline.t_send is not None), None)
        return None if sent is None else (sent - self._starts_ns[session]) / 1e6


def _who(candidate: Candidate) -> dict[str, Any]:
    return {
        "candidate": candidate.name,
        "candidate_id": candidate.id,
        "endpoint": candidate.endpoint,
        "model": candidate.model,
        "service_tier": candidate.tier,
        "ladder": candidate.ladder,
        "rung": candidate.rung,
        "x": candidate.x,
        "params_b": candidate.params_b,
        "usd_per_hour": candidate.usd_per_hour,
        "claimed_tok_s": candidate.claimed_tok_s,
    }


def _what(evalset: EvalSet, item: Item) -> dict[str, Any]:
    return {
        "evalset": evalset.name,
        "task": evalset.task,
        "item": item.id,
        "difficulty": item.difficulty,
        "cluster": item.cluster,
        "language": item.language,
    }


def _where(trial: Trial) -> dict[str, Any]:
    """The place in a load test; outside one nothing, and turn 0."""
    place = trial.load
    if place is None:
        return {"turn": 0}
    return {
        "layer": place.layer,
        "level": place.level,
        "load_x": place.x,
        "load_number": place.number,
        "traffic": place.traffic,
        "session": place.session,
        "turn": place.turn,
        "load_note": place.note,
        "sched_ms": None if trial.t_sched_ns is None else trial.t_sched_ns / 1e6,
    }


def _how_well(record: Record, evalset: EvalSet) -> dict[str, Any]:
    grade = record.grade
    score = None if grade is None else grade.score
    return {
        "verdict": "" if grade is None else grade.verdict,
        "failure": "" if grade is None else grade.failure,
        "score": score,
        "score_lenient": None if grade is None else grade.score_lenient,
        "success": None if score is None else score >= evalset.success_at,
        "floor": evalset.floor,
        "success_at": evalset.success_at,
    }


def frame_of(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """The table of ``COLUMNS`` with their types, whatever the rows hold."""
    import pandas as pd

    gathered: dict[str, list[Any]] = {column.name: [] for column in COLUMNS}
    for row in rows:
        for name, values in gathered.items():
            values.append(row.get(name))
    series = {column.name: _series(pd, gathered[column.name], column.kind) for column in COLUMNS}
    return pd.DataFrame(series)


def _series(pd: Any, values: list[Any], kind: str) -> Any:
    if kind == "text":
        values = ["" if value is None else str(value).encode("utf-8", "replace").decode() for value in values]
    return pd.Series(values, dtype=_DTYPES[kind])


def write_table(layout: Layout, frame: pd.DataFrame, stamp: Mapping[str, Any]) -> None:
    """Write the parquet in one step, marked with what it was made from."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pandas(frame, preserve_index=False)
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), _STAMP_KEY: json.dumps(stamp).encode()})
    new = layout.parquet.with_name(".records.parquet.new")
    pq.write_table(table, new, compression="zstd")
    new.replace(layout.parquet)


def read_table(layout: Layout, stamp: Mapping[str, Any]) -> pd.DataFrame | None:
    """The parquet as a table; None when there is none or it was made from something else."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(layout.parquet)
    except (OSError, pa.ArrowInvalid):
        return None
    if json.loads((table.schema.metadata or {}).get(_STAMP_KEY, b"null")) != dict(stamp):
        return None
    if [name for name in table.column_names if not name.startswith("__")] != [column.name for column in COLUMNS]:
        return None  # another version of speedqual made it
    frame = table.to_pandas()
    typed: pd.DataFrame = frame.astype({column.name: _DTYPES[column.kind] for column in COLUMNS})
    return typed
