"""The append-only truth of a run: events first, then the record, written by a thread and synced in groups.

A record is in the file (and survives a kill) as soon as it is written; it survives a power cut within 200 ms.
"""

from __future__ import annotations

import asyncio
import os
import queue
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from speedqual.records import Record
from speedqual.running.codec import Packed, pack
from speedqual.running.layout import Layout

__all__ = ["Journal"]

SYNC_EVERY_S = 0.2
BACKLOG = 64


class Journal:
    """Appends records. ``put`` never blocks; ``room`` waits while the disk is behind; ``close`` makes all durable.

    The first fault of the disk ends the writing: what was written stays, ``put`` and ``close`` raise StorageError.
    """

    def __init__(self, layout: Layout, session: int, scrub: Callable[[bytes], bytes]) -> None:
        self._layout, self._session, self._scrub = layout, session, scrub
        self._queue: queue.SimpleQueue[Record | Packed | None] = queue.SimpleQueue()
        self._looking = asyncio.Lock()
        self._failure: Exception | None = None
        try:
            self._events = _Appender(layout.segment(session))
            self._records = _Appender(layout.records)
        except OSError as fault:
            raise layout.unwritable("the run folder", fault) from fault
        self._thread = threading.Thread(target=self._work, name="speedqual-journal", daemon=True)
        self._thread.start()

    def put(self, record: Record | Packed) -> None:
        """Queue a finished trial; another process may have packed it."""
        self._raise_failure()
        self._queue.put(record)

    async def room(self) -> None:
        """Return when few records wait, so that memory stays bounded on a slow disk. However many ask, one looks."""
        if self._queue.qsize() > BACKLOG:
            async with self._looking:
                while self._queue.qsize() > BACKLOG and self._failure is None:  # noqa: ASYNC110  # a thread writes
                    await asyncio.sleep(0.005)
        self._raise_failure()

    def close(self) -> None:
        """Write what waits, sync, and raise the fault if there was one. May be called twice."""
        if self._thread.is_alive():
            self._queue.put(None)
            self._thread.join()
        self._raise_failure()

    def _raise_failure(self) -> None:
        if isinstance(self._failure, OSError):
            raise self._layout.unwritable("the run folder", self._failure) from self._failure
        if self._failure is not None:
            raise self._failure

    def _work(self) -> None:
        try:
            self._drain()
        except Exception as fault:  # raised again in the event loop, by put or close
            self._failure = fault
        finally:
            self._events.close()
            self._records.close()

    def _drain(self) -> None:
        due: float | None = None
        while True:
            try:
                record = self._queue.get(timeout=None if due is None else max(0.0, due - time.monotonic()))
            except queue.Empty:
                self._sync()
                due = None
                continue
            if record is None:
                return self._sync()
            self._write(record)
            due = due or time.monotonic() + SYNC_EVERY_S
            if time.monotonic() >= due:
                self._sync()
                due = None

    def _write(self, record: Record | Packed) -> None:
        packed = record if isinstance(record, Packed) else pack(record, self._session, self._scrub)
        where: Mapping[str, Any] | None = None
        if packed.events:
            where = {"segment": self._layout.segment(self._session).name, "offset": self._events.size}
            where = {**where, "bytes": len(packed.events)}
            self._events.append(packed.events)
        self._records.append(packed.line(where))

    def _sync(self) -> None:
        self._events.sync()  # before the records that point at them
        self._records.sync()


class _Appender:
    """A file that only grows."""

    def __init__(self, path: os.PathLike[str]) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self.size = os.fstat(self._file).st_size
        self._dirty = False

    def append(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            n = os.write(self._file, view)
            self.size += n
            view = view[n:]
        self._dirty = True

    def sync(self) -> None:
        if self._dirty:
            os.fsync(self._file)
            self._dirty = False

    def close(self) -> None:
        os.close(self._file)
