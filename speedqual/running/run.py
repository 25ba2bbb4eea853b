"""A run as it lies on disk: open it anywhere, read it as records or as a table, without any endpoint."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from speedqual import display
from speedqual.errors import RunFolderError
from speedqual.records import Candidate, EvalSet, Grade, Record
from speedqual.running import table
from speedqual.running.analyses import analysis
from speedqual.running.codec import decode_record, key_of
from speedqual.running.layout import Layout
from speedqual.running.manifest import FORMAT, candidates_of, starts_ns

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Run"]


class Run:
    """A run folder, finished or not. Nothing is read before it is asked for; ``reload`` forgets what was read."""

    def __init__(self, layout: Layout, manifest: dict[str, Any]) -> None:
        self.layout = layout
        self.manifest = manifest

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """The run in a folder. Raises RunFolderError naming file and line when it cannot be read."""
        layout = Layout(Path(path))
        if not layout.folder.is_dir():
            raise RunFolderError("there is no such folder", where=layout.shown, fix="Give a run folder")
        manifest = layout.read_manifest()
        if manifest["format"] > FORMAT:
            raise RunFolderError(
                f"the run has format {manifest['format']} and this speedqual reads up to {FORMAT}",
                where=f"{layout.name}/manifest.json",
                fix="Install a newer speedqual",
            )
        return cls(layout, manifest)

    @property
    def folder(self) -> Path:
        return self.layout.folder

    @property
    def name(self) -> str:
        return str(self.manifest["run"])

    @property
    def status(self) -> str:
        """running | finished | stopped (a limit) | interrupted | failed; the manifest's ``why`` says more."""
        return str(self.manifest["status"])

    @property
    def client_limit(self) -> str:
        """Why the client, not the endpoint, was the limit, so that speeds must not be ranked; empty = it was not."""
        for session in self.manifest["sessions"]:
            health = session.get("client") or {}
            if health.get("limited"):
                return str(health.get("why") or "the client was the limit")
        return ""

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        return candidates_of(self.manifest)

    @cached_property
    def evalsets(self) -> tuple[EvalSet, ...]:
        files = (entry.get("file") or entry["hash"] for entry in self.manifest["evalsets"])
        return tuple(self.layout.read_evalset(file) for file in files)

    def __len__(self) -> int:
        """Finished trials."""
        return sum(1 for _ in self.layout.lines(self.layout.records))

    def __iter__(self) -> Iterator[Record]:
        return self.records

    @property
    def records(self) -> Iterator[Record]:
        """Every finished trial with its token events and its grade, one at a time, in the order of their end."""
        grades = self.grades
        for line in self.layout.lines(self.layout.records):
            yield decode_record(line, self.layout.read_events(line.get("events")), grades.get(key_of(line)))

    @property
    def grades(self) -> dict[str, Grade]:
        """The latest grade of each trial by its key."""
        lines = self.layout.lines(self.layout.grades)
        return {line["key"]: Grade.from_dict(line["grade"]) for line in lines}

    @cached_property
    def df(self) -> pd.DataFrame:
        """One row a finished trial; ``speedqual.running.columns`` documents every column."""
        stamp = self._stamp()
        found = table.read_table(self.layout, stamp)
        if found is not None:
            return found
        frame = table.frame_of(self._rows())
        with suppress(OSError):  # a folder that cannot be written can still be read
            table.write_table(self.layout, frame, stamp)
        return frame

    def _rows(self) -> Iterator[dict[str, Any]]:
        rows = table.Rows(self.name, self.candidates, self.evalsets, starts_ns(self.manifest))
        grades = self.grades
        for line in self.layout.lines(self.layout.records):
            yield rows.row(decode_record(line, grade=grades.get(key_of(line))), line["session"])

    def _stamp(self) -> dict[str, Any]:
        """What the table is made from: it is made again when a size has changed."""
        files = (self.layout.records, self.layout.grades)
        return {"format": FORMAT, **{path.name: path.stat().st_size if path.exists() else 0 for path in files}}

    @cached_property
    def events(self) -> pd.DataFrame:
        """One row a token event: trial, attempt, ``t_ms`` after t_send, channel, read, ``n_tokens``, characters; and
        where the trial stands in a load test."""
        import pandas as pd

        own = ("attempt", "t_ms", "channel", "read", "n_tokens", "chars")
        columns = ("candidate", "evalset", "item", "repeat", *own, "layer", "level", "load_number")
        return pd.DataFrame(list(self._event_rows()), columns=list(columns))

    def _event_rows(self) -> Iterator[tuple[Any, ...]]:
        for record in self.records:
            trial, place = record.trial, record.trial.load
            whose = (trial.candidate, trial.evalset, trial.item, trial.repeat)
            where = ("", "", None) if place is None else (place.layer, place.level, place.number)
            for attempt in record.attempts:
                start = attempt.timeline.t_send
                for event in attempt.timeline.events:
                    t_ms = None if start is None else (event.t_ns - start) / 1e6
                    own = (attempt.number, t_ms, event.channel, event.read, event.n_tokens, len(event.text))
                    yield (*whose, *own, *where)

    def compare(self, new: Run, **parameters: Any) -> Any:
        """The gate of ``new`` against this run as its base: pass, fail or inconclusive for each metric.

        ``parameters`` are those of ``speedqual.analysis.gate.Gate`` (margins, alpha, allow). Raises RefusedError naming
        what differs between the two and must not.
        """
        return analysis("gate")(**parameters)(self, new)

    def reload(self) -> Self:
        """Forget what was read, since the folder has changed; returns itself."""
        for name in ("candidates", "evalsets", "df", "events"):
            self.__dict__.pop(name, None)
        self.manifest = self.layout.read_manifest()
        return self

    def __repr__(self) -> str:
        names = ", ".join(entry["name"] for entry in self.manifest["evalsets"])
        who = f"{len(self.manifest['candidates'])} candidates"
        return f"<Run {self.name}: {self.status}, {len(self)} of {self.manifest['n_trials']} trials, {who}, {names}>"

    def _repr_html_(self) -> str | None:
        show = display.find("html", self)
        return None if show is None else str(show(self))
