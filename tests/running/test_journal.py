"""The journal: written at once, synced in groups, events before their records, and loud when the disk fails."""

import asyncio
import errno
import os
import threading
import time
from pathlib import Path

import pytest

from speedqual.errors import StorageError
from speedqual.records import Record, Trial
from speedqual.running import journal
from speedqual.running.journal import Journal
from speedqual.running.layout import Layout

from .conftest import ok


def record(k: int) -> Record:
    return Record(trial=Trial(candidate="a", evalset="toy", item=f"i{k}"), attempts=(ok(),))


@pytest.fixture
def layout(tmp_path) -> Layout:
    made = Layout(tmp_path / "run")
    made.create()
    return made


def lines(layout: Layout) -> int:
    return layout.records.read_bytes().count(b"\n")


def test_a_record_is_in_the_file_at_once_and_synced_soon(layout, monkeypatch):
    synced, real = [], os.fsync

    def fsync(file):
        synced.append((Path(f"/proc/self/fd/{file}").readlink().name, time.monotonic()))
        real(file)

    monkeypatch.setattr(os, "fsync", fsync)
    kept = Journal(layout, 0, bytes)
    begun = time.monotonic()
    for k in range(20):
        kept.put(record(k))
    while len(synced) < 2 and time.monotonic() < begun + 5:
        time.sleep(0.005)
    assert lines(layout) == 20
    assert [name for name, _ in synced] == ["0000.jsonl.gz", "records.jsonl"]  # one group, events first
    kept.close()
    assert len(synced) == 2  # nothing new to sync


def test_closing_writes_and_syncs_what_waits(layout):
    kept = Journal(layout, 0, bytes)
    for k in range(300):
        kept.put(record(k))
    kept.close()
    kept.close()
    assert lines(layout) == 300
    whole = [layout.read_events(line["events"]) for line in layout.lines(layout.records)]
    assert all(len(events) == 1 and events[0] for events in whole)


async def test_however_many_wait_for_the_disk_one_of_them_looks(layout, monkeypatch):
    """500 replies that each looked every 5 ms would take the loop from those still to come."""
    gate, write, looks = threading.Event(), journal.Journal._write, 0

    def slow(self, one):
        gate.wait(10)
        write(self, one)

    async def look(delay):
        nonlocal looks
        looks += 1
        await real(delay)

    real = asyncio.sleep
    monkeypatch.setattr(journal.Journal, "_write", slow)
    monkeypatch.setattr(journal.asyncio, "sleep", look)
    kept = Journal(layout, 0, bytes)
    for k in range(200):
        kept.put(record(k))
    waiting = [asyncio.create_task(kept.room()) for _ in range(500)]
    await real(0.05)
    assert not any(one.done() for one in waiting)
    gate.set()
    await asyncio.gather(*waiting)
    assert 1 <= looks < 500
    kept.close()


async def test_asking_waits_while_the_disk_is_behind(layout, monkeypatch):
    gate, write = threading.Event(), journal.Journal._write

    def slow(self, one):
        gate.wait(5)
        write(self, one)

    monkeypatch.setattr(journal.Journal, "_write", slow)
    kept = Journal(layout, 0, bytes)
    for k in range(journal.BACKLOG + 5):
        kept.put(record(k))
    waiting = asyncio.create_task(kept.room())
    await asyncio.sleep(0.05)
    assert not waiting.done()
    gate.set()
    await asyncio.wait_for(waiting, 5)
    kept.close()
    assert lines(layout) == journal.BACKLOG + 5


def test_a_disk_that_fails_is_said_and_stays_said(layout, monkeypatch):
    def full(file, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    kept = Journal(layout, 0, bytes)
    monkeypatch.setattr(os, "write", full)
    kept.put(record(0))
    with pytest.raises(StorageError, match="run: the run folder cannot be written: No space left"):
        kept.close()
    with pytest.raises(StorageError):
        kept.put(record(1))


def test_a_fault_of_ours_is_not_swallowed(layout):
    def broken(data: bytes) -> bytes:
        raise ZeroDivisionError

    kept = Journal(layout, 0, broken)
    kept.put(record(0))
    with pytest.raises(ZeroDivisionError):
        kept.close()
