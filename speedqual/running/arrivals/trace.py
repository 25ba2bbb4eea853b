"""Requests as they once came: a CSV of arrival times and, where known, input and output tokens.

Columns are known by the names that public traces use, whatever their case and separators. Times are seconds, or what
the name's unit says (``arrival_ms``), or dates; they count from the first row.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import takewhile
from pathlib import Path

from speedqual.errors import UsageError
from speedqual.running.arrivals.base import Arrival
from speedqual.running.arrivals.points import positive

__all__ = ["Trace", "read_trace"]

_TIMES = ("arrival", "arrivaltime", "arrivedat", "requesttime", "starttime", "time", "timestamp")
_UNITS = {"": 1e9, "s": 1e9, "sec": 1e9, "seconds": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}
_INPUTS = (
    "contexttokens", "inputlength", "inputtokens", "numinputtokens", "numprefilltokens", "prefilltokens",
    "promptlength", "prompttokens", "requesttokens",
)  # fmt: skip
_OUTPUTS = (
    "completiontokens", "decodetokens", "generatedtokens", "numdecodetokens", "numoutputtokens", "outputlength",
    "outputtokens", "responsetokens",
)  # fmt: skip
_CLASSES = ("class", "traffic")


@dataclass(frozen=True, slots=True)
class Trace:
    """The rows of a file, ``speed`` times as fast as they came."""

    file: str
    rows: tuple[Arrival, ...] = field(repr=False)
    speed: float = 1.0

    def __post_init__(self) -> None:
        positive("speed", self.speed, "2")

    @property
    def text(self) -> str:
        return f"trace:{self.file}" + (f",speed={self.speed:.12g}" if self.speed != 1 else "")

    @property
    def span_s(self) -> float:
        """From the first row to just after the last one."""
        return (self.rows[-1].at_ns / self.speed + 1) / 1e9

    @property
    def rate(self) -> float:
        """Of n rows, n − 1 gaps; of rows that came all at once, their number."""
        gaps_s = self.rows[-1].at_ns / self.speed / 1e9
        return (len(self.rows) - 1) / gaps_s if gaps_s else float(len(self.rows))

    def schedule(self, seed: int, duration_s: float) -> Iterator[Arrival]:
        end_ns = round(positive("the duration", duration_s, "30") * 1e9)
        played = (replace(row, at_ns=round(row.at_ns / self.speed)) for row in self.rows)
        return takewhile(lambda row: row.at_ns < end_ns, played)


def read_trace(path: str | Path, speed: float = 1.0) -> Trace:
    """The trace in a CSV file. Raises UsageError with file, line and column at the first thing that is wrong."""
    path = Path(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            rows = tuple(_relative(_Reader(path.name, csv.reader(lines)).arrivals(), path.name))
    except (OSError, UnicodeDecodeError, csv.Error) as fault:
        why = fault.strerror if isinstance(fault, OSError) else str(fault)
        raise UsageError(f"the trace cannot be read: {why}", where=path.name, fix="Give a CSV file in UTF-8") from None
    if not rows:
        raise UsageError("the trace has no rows", where=path.name, fix="Write one line for each request")
    return Trace(str(path), rows, speed)


def _relative(arrivals: Iterator[tuple[int, Arrival]], file: str) -> Iterator[Arrival]:
    """Arrivals counted from the first one."""
    first = last = None
    for line, arrival in arrivals:
        first = arrival.at_ns if first is None else first
        if last is not None and arrival.at_ns < last:
            what = "the arrival is before that of the row above"
            raise UsageError(what, where=f"{file}:{line}", fix="Sort the rows by time")
        last = arrival.at_ns
        yield replace(arrival, at_ns=arrival.at_ns - first)


class _Reader:
    """One file: which column is what, then row by row."""

    def __init__(self, file: str, rows: Iterator[list[str]]) -> None:
        self._file, self._rows = file, rows
        self._header = next(rows, [])
        if not any(cell.strip() for cell in self._header):
            fix = "Write a header line and one line for each request"
            raise UsageError("the first line is empty" if any(rows) else "the file is empty", where=file, fix=fix)
        names = [re.sub(r"[^a-z0-9]", "", name.lower()) for name in self._header]
        self._time, self._unit_ns = self._time_column(names)
        self._input, self._output = _first(names, _INPUTS), _first(names, _OUTPUTS)
        self._class = _first(names, _CLASSES)

    def _time_column(self, names: Sequence[str]) -> tuple[int, float]:
        known: Mapping[str, float] = {time + unit: ns for time in _TIMES for unit, ns in _UNITS.items()}
        for number, name in enumerate(names):
            if name in known:
                return number, known[name]
        fix = "Name one arrived_at (seconds), arrival_ms or timestamp, beside input_tokens and output_tokens"
        raise UsageError(f"no column is a time, of {self._header}", where=f"{self._file}:1", fix=fix)

    def arrivals(self) -> Iterator[tuple[int, Arrival]]:
        """Line number and arrival of each row; its time is as in the file."""
        for line, row in enumerate(self._rows, 2):
            if not any(cell.strip() for cell in row):
                continue
            at_ns = self._cell(row, line, self._time, self._nanoseconds)
            yield (
                line,
                Arrival(
                    at_ns=at_ns if at_ns is not None else self._wrong(line, self._time, ""),
                    traffic="" if self._class is None or self._class >= len(row) else row[self._class].strip(),
                    input_tokens=self._cell(row, line, self._input, _tokens),
                    output_tokens=self._cell(row, line, self._output, _tokens),
                ),
            )

    def _cell(self, row: list[str], line: int, column: int | None, read: Callable[[str], int]) -> int | None:
        text = row[column].strip() if column is not None and column < len(row) else ""
        if column is None or not text:
            return None
        try:
            return read(text)
        except (ValueError, OverflowError):
            return self._wrong(line, column, text)

    def _wrong(self, line: int, column: int, text: str) -> int:
        is_time = column == self._time
        fix = "Write seconds or a date" if is_time else "Write a whole number of tokens, or leave the cell empty"
        where = f"{self._file}:{line}, column {self._header[column]}"
        raise UsageError(f"{text!r} is no {'time' if is_time else 'number of tokens'}", where=where, fix=fix)

    def _nanoseconds(self, text: str) -> int:
        try:
            value = float(text)
        except ValueError:
            return round(datetime.fromisoformat(text).timestamp() * 1e6) * 1000
        if not math.isfinite(value):
            raise ValueError(text)
        return round(value * self._unit_ns)


def _tokens(text: str) -> int:
    value = float(text)
    if value < 0 or not value.is_integer():
        raise ValueError(text)
    return int(value)


def _first(names: Sequence[str], known: Sequence[str]) -> int | None:
    return next((number for number, name in enumerate(names) if name in known), None)
