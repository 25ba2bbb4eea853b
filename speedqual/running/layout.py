"""Where things lie in a run folder, and how they are found again after a crash."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from speedqual.errors import RunFolderError, StorageError
from speedqual.records import EvalSet, Event
from speedqual.running.codec import decode_events, to_json

__all__ = ["Layout"]

_MEND = "Restore the file from a copy, or drop the line"


@dataclass(frozen=True, slots=True)
class Layout:
    """The files of one run folder."""

    folder: Path

    @property
    def name(self) -> str:
        """How messages call the folder: its own name, never its whole path."""
        return self.folder.name

    @property
    def shown(self) -> str:
        """The folder as it was typed where that is a relative path, else its own name."""
        return self.name or "." if self.folder.is_absolute() else str(self.folder)

    @property
    def manifest(self) -> Path:
        return self.folder / "manifest.json"

    @property
    def records(self) -> Path:
        return self.folder / "records.jsonl"

    @property
    def grades(self) -> Path:
        return self.folder / "grades.jsonl"

    @property
    def parquet(self) -> Path:
        return self.folder / "records.parquet"

    def segment(self, session: int) -> Path:
        """The token events of one call of evaluate."""
        return self.folder / "events" / f"{session:04d}.jsonl.gz"

    def evalset(self, file: str) -> Path:
        return self.folder / "evalsets" / f"{file}.json"

    def create(self) -> None:
        """Make the folders."""
        try:
            for part in (self.folder / "events", self.folder / "evalsets"):
                part.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise StorageError(
                f"the run folder cannot be made: {fault.strerror}", where=str(self.folder), fix="Choose another folder"
            ) from fault

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder against other processes. The lock dies with its holder."""
        lock = FileLock(self.folder / ".lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise RunFolderError(
                "another process is writing this run", where=self.name, fix="Wait for it, or choose another folder"
            ) from None
        except OSError as fault:
            raise StorageError(f"the run folder cannot be locked: {fault.strerror}", where=self.name) from fault
        try:
            yield
        finally:
            lock.release()

    def write_json(self, path: Path, value: Mapping[str, Any]) -> None:
        """Replace a file in one step, so that a crash leaves the old one or the new one."""
        new = path.with_name(f".{path.name}.new")
        try:
            with new.open("wb") as file:
                file.write(to_json(value, indent=1))
                file.flush()
                os.fsync(file.fileno())
            new.replace(path)
        except OSError as fault:
            raise self.unwritable(path.name, fault) from fault

    def unwritable(self, what: str, fault: OSError) -> StorageError:
        """The error for a disk that is full or gives out."""
        return StorageError(
            f"{what} cannot be written: {fault.strerror or fault}",
            where=self.name,
            fix="Free some space and resume the run; all that was finished before is kept",
        )

    def read_manifest(self) -> dict[str, Any]:
        """Raises RunFolderError when there is none or it cannot be read."""
        where = f"{self.name}/manifest.json"
        try:
            manifest = json.loads(self.manifest.read_bytes())
        except FileNotFoundError:
            raise RunFolderError("this is no run folder: it has no manifest.json", where=self.shown) from None
        except OSError as fault:
            raise RunFolderError(f"the file cannot be read: {fault.strerror}", where=where) from None
        except ValueError as fault:
            raise RunFolderError(f"the file is damaged: {fault}", where=where, fix="Restore it from a copy") from None
        if not isinstance(manifest, dict) or not isinstance(manifest.get("format"), int):
            raise RunFolderError("the file is no manifest of a run", where=where, fix="Restore it from a copy")
        return manifest

    def lines(self, path: Path) -> Iterator[dict[str, Any]]:
        """The lines of an append-only file. A last line that was cut off is left out.

        Raises RunFolderError with file and line when one in the middle cannot be read.
        """
        for _, line in self._numbered(path):
            yield line

    def _numbered(self, path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
        """``(end offset, line)`` for each whole line."""
        end = 0
        try:
            with path.open("rb") as file:
                for number, raw in enumerate(file, 1):
                    if not raw.endswith(b"\n"):
                        return
                    end += len(raw)
                    yield end, _parsed(raw, f"{self.name}/{path.name}:{number}")
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as fault:
            raise RunFolderError(
                f"the file cannot be read: {fault.strerror}", where=f"{self.name}/{path.name}"
            ) from None

    def repair(self) -> None:
        """Cut what a crash left half-written: the last line, and records whose events never reached the disk.

        Those are asked again, so that their grades, and all after them, are made again as well.
        """
        sizes = {path.name: path.stat().st_size for path in (self.folder / "events").glob("*.gz")}

        def has_events(line: Mapping[str, Any]) -> bool:
            where = line.get("events")
            return not where or sizes.get(where["segment"], 0) >= where["offset"] + where["bytes"]

        whole, lost = 0, False
        for end, line in self._numbered(self.records):
            lost = not has_events(line)
            if lost:
                break
            whole = end
        _cut(self.records, whole)
        _cut(self.grades, 0 if lost else max((end for end, _ in self._numbered(self.grades)), default=0))

    def read_events(self, where: Mapping[str, Any] | None) -> list[list[Event]]:
        """The events of each attempt of a record; empty when it has none."""
        if where is None:
            return []
        path = self.folder / "events" / Path(where["segment"]).name
        try:
            with path.open("rb") as file:
                file.seek(where["offset"])
                return decode_events(file.read(where["bytes"]))
        except (OSError, ValueError) as fault:
            raise RunFolderError(
                f"the token events at byte {where['offset']} cannot be read: {fault}",
                where=f"{self.name}/events/{path.name}",
                fix="Resume the run to ask these again, or restore the file",
            ) from None

    def write_evalset(self, evalset: EvalSet, file: str) -> None:
        """Keep a set, so that grading again needs nothing else."""
        self.write_json(self.evalset(file), evalset.to_dict())

    def read_evalset(self, file: str) -> EvalSet:
        """A set as it was asked. Code that it brought is not allowed to run until the caller says so."""
        path = self.evalset(file)
        where = f"{self.name}/evalsets/{path.name}"
        try:
            data = json.loads(path.read_bytes())
            data["grader"]["options"].pop("_allow_code", None)
            return EvalSet.from_dict(data)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as fault:
            raise RunFolderError(f"the eval set cannot be read: {fault}", where=where) from None


def _cut(path: Path, size: int) -> None:
    if path.exists() and path.stat().st_size > size:
        os.truncate(path, size)


def _parsed(raw: bytes, where: str) -> dict[str, Any]:
    try:
        line = json.loads(raw)
    except ValueError as fault:
        raise RunFolderError(f"the line is damaged: {fault}", where=where, fix=_MEND) from None
    if not isinstance(line, dict):
        raise RunFolderError("the line is no JSON object", where=where, fix=_MEND)
    return line
