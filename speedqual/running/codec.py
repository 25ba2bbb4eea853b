"""Records as lines of JSON, and their token events as compressed lines beside them."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from speedqual.records import Attempt, Event, Grade, Record, Timeline, Trial

__all__ = [
    "Packed",
    "decode_events",
    "decode_record",
    "encode_events",
    "encode_record",
    "key_of",
    "pack",
    "to_json",
    "to_line",
]

_CHANNELS = {"answer": "a", "reasoning": "r", "tool": "t", "refusal": "f"}
_CHANNEL_NAMES: dict[str, Any] = {letter: name for name, letter in _CHANNELS.items()}
_EMPTY: tuple[Any, ...] = (None, "", [], {})


def to_json(value: Mapping[str, Any], indent: int | None = None) -> bytes:
    """Strict JSON in UTF-8; with a lone surrogate in it, all that is not ASCII is escaped."""
    separators = (",", ":") if indent is None else (",", ": ")
    dump = partial(json.dumps, value, allow_nan=False, indent=indent, separators=separators, default=str)
    try:
        return dump(ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return dump().encode()


def to_line(value: Mapping[str, Any]) -> bytes:
    """Strict JSON on one line."""
    return to_json(value) + b"\n"


class Packed(NamedTuple):
    """A record as bytes: its line, which does not say yet where its events are, and those as one gzip member."""

    open_line: bytes
    events: bytes

    def line(self, where: Mapping[str, Any] | None) -> bytes:
        """The whole line; ``where`` the events are in the run folder."""
        return self.open_line + to_json({"events": where})[1:] + b"\n"


def pack(record: Record, session: int, scrub: Callable[[bytes], bytes]) -> Packed:
    """Encode a record for the journal; whoever writes it says where its events went."""
    whole = encode_record(record, session, None)
    del whole["events"]
    line = scrub(to_json(whole))[:-1] + b","
    has_events = any(attempt.timeline.events for attempt in record.attempts)
    return Packed(line, encode_events(record.attempts, scrub) if has_events else b"")


def encode_record(record: Record, session: int, events: Mapping[str, Any] | None) -> dict[str, Any]:
    """The JSON object of a record without its grade and its events; ``events`` says where those are."""
    return {
        "trial": _trial(record.trial),
        "session": session,
        "metrics": {name: value for name, value in record.metrics.items() if value is not None},
        "missing": dict(record.missing),
        "flags": list(record.flags),
        "attempts": [_attempt(attempt) for attempt in record.attempts],
        "events": events,
    }


def _trial(trial: Trial) -> dict[str, Any]:
    """Nothing of load tests where there was none."""
    fields = trial.to_dict()
    if trial.load is None:
        del fields["load"]
    return fields


def _attempt(attempt: Attempt) -> dict[str, Any]:
    raw = {name: _tame(getattr(attempt, name)) for name in ("usage_raw", "rate")}
    bare = replace(attempt, timeline=replace(attempt.timeline, events=()), **raw).to_dict()
    for part in ("timeline", "usage"):
        bare[part] = _without_empties(bare[part])
    return _without_empties(bare)


def _tame(value: Any, depth: int = 8) -> Any:
    """What a server sent as it pleased, as strict JSON: no NaN, no infinity, nothing deeper than 8 levels."""
    if isinstance(value, Mapping):
        return {str(key): _tame(v, depth - 1) for key, v in value.items()} if depth else None
    if isinstance(value, (list, tuple)):
        return [_tame(v, depth - 1) for v in value] if depth else None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def _without_empties(fields: dict[str, Any]) -> dict[str, Any]:
    """Only what is not the default: every field that may be left out is empty by default."""
    return {name: value for name, value in fields.items() if value not in _EMPTY}


def key_of(line: Mapping[str, Any]) -> str:
    """The trial's key of a decoded line."""
    return Trial.from_dict(line["trial"]).key


def decode_record(
    line: Mapping[str, Any], events: Sequence[Sequence[Event]] = (), grade: Grade | None = None
) -> Record:
    """The record of a line, with its events where they are given."""
    attempts = [Attempt.from_dict(_filled(raw)) for raw in line["attempts"]]
    if events:
        attempts = [
            replace(attempt, timeline=replace(attempt.timeline, events=tuple(own)))
            for attempt, own in zip(attempts, events, strict=True)
        ]
    missing = line["missing"]
    return Record(
        trial=Trial.from_dict(line["trial"]),
        attempts=tuple(attempts),
        metrics={**line["metrics"], **dict.fromkeys(missing)},
        missing=missing,
        grade=grade,
        flags=tuple(line["flags"]),
    )


def _filled(raw: Mapping[str, Any]) -> dict[str, Any]:
    return {"timeline": {}, "usage": {}, **raw}


def encode_events(attempts: Sequence[Attempt], scrub: Callable[[bytes], bytes]) -> bytes:
    """One gzip member: a line of JSON with the events of each attempt as columns, times and reads as differences."""
    packer = zlib.compressobj(level=1, wbits=31)
    line = to_line({"attempts": [_columns(attempt.timeline) for attempt in attempts]})
    return packer.compress(scrub(line)) + packer.flush()


def _columns(timeline: Timeline) -> dict[str, Any]:
    events = timeline.events
    if not events:
        return {}
    columns: dict[str, Any] = {
        "t_ns": _differences([event.t_ns for event in events]),
        "read": _differences([event.read for event in events]),
        "channel": "".join(_CHANNELS[event.channel] for event in events),
        "text": [event.text for event in events],
    }
    if any(event.n_tokens is not None for event in events):
        columns["n_tokens"] = [event.n_tokens for event in events]
    return columns


def _differences(values: list[int]) -> list[int]:
    return [values[0], *(after - before for before, after in pairwise(values))]


def decode_events(member: bytes) -> list[list[Event]]:
    """The events of each attempt. Raises ValueError when the member is cut or damaged."""
    unpacker = zlib.decompressobj(wbits=31)
    try:
        line = unpacker.decompress(member)
    except zlib.error as fault:
        raise ValueError(str(fault)) from None
    if not unpacker.eof:
        raise ValueError("the compressed events are cut off")
    return [_events(columns) for columns in json.loads(line)["attempts"]]


def _events(columns: Mapping[str, Any]) -> list[Event]:
    if not columns:
        return []
    counts = columns.get("n_tokens") or [None] * len(columns["text"])
    rows = zip(
        accumulate(columns["t_ns"]),
        columns["channel"],
        columns["text"],
        accumulate(columns["read"]),
        counts,
        strict=True,
    )
    return [Event(t_ns, _CHANNEL_NAMES[letter], text, read, n) for t_ns, letter, text, read, n in rows]
