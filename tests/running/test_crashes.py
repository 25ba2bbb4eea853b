"""Killed, out of disk, interrupted: what was finished stays, and going on neither loses nor repeats a trial."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from speedqual.endpoints.scripted import Script, serve_in_process
from speedqual.running import Run

KILLED = Path(__file__).with_name("killed.py")
N = 60


def start(base_url: str, folder: Path, *more: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, str(KILLED), base_url, str(folder), str(N), *more], stdout=subprocess.PIPE)


def records(folder: Path) -> int:
    path = folder / "records.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def wait_for(folder: Path, n: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 60
    while records(folder) < n and process.poll() is None and time.monotonic() < end:
        time.sleep(0.002)


@pytest.mark.slow
def test_kill_9_at_any_moment_loses_and_repeats_nothing(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    rng = random.Random(5)
    with serve_in_process({"m": Script(ttft_ms=5, tok_s=2000)}) as server:
        kills = 0
        for goal in (0, 9, 31, 57, 80):
            process = start(server.base_url, folder)
            wait_for(folder, goal, process)
            time.sleep(rng.random() * 0.02)
            kills += process.poll() is None
            process.send_signal(signal.SIGKILL)
            process.communicate()
            if (folder / "manifest.json").exists():
                assert all(record.last.outcome == "ok" for record in Run.open(folder))
        assert kills == 5
        process = start(server.base_url, folder)
        assert process.communicate()[0] == b""
        assert process.returncode == 0
    run = Run.open(folder)
    assert run.status == "finished"
    assert [session["status"] for session in run.manifest["sessions"]][-2:] == ["killed", "finished"]
    seen = Counter(record.trial.key for record in run.records)
    assert len(seen) == 2 * N
    assert set(seen.values()) == {1}
    assert all(len(record.last.timeline.events) > 1 for record in run.records)
    assert len(run.df) == len(run.grades) == 2 * N
    assert (run.df["verdict"] == "pass").all()


@pytest.mark.slow
@pytest.mark.parametrize("max_bytes", [20_000, 45_000])
def test_a_full_disk_is_an_error_and_keeps_what_was_written(tmp_path, max_bytes):
    """A limit on the size of a file stands for the full disk: the write that crosses it fails half-way."""
    folder = tmp_path / "run"
    folder.mkdir()
    with serve_in_process({"m": Script(ttft_ms=1, tok_s=5000)}) as server:
        process = start(server.base_url, folder, str(max_bytes))
        said = process.communicate()[0].decode()
        assert process.returncode == 4
        assert said.startswith("StorageError: run: the run folder cannot be written")
        assert "resume" in said
        run = Run.open(folder)
        kept = len(list(run.records))
        assert 0 < kept < 2 * N
        assert run.status in ("failed", "running")
        process = start(server.base_url, folder)
        process.communicate()
        assert process.returncode == 0
    run = Run.open(folder)
    assert len({record.trial.key for record in run.records}) == len(run) == 2 * N


@pytest.mark.slow
def test_ctrl_c_keeps_what_was_finished(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    with serve_in_process({"m": Script(ttft_ms=20, tok_s=500)}) as server:
        process = start(server.base_url, folder)
        wait_for(folder, 5, process)
        process.send_signal(signal.SIGINT)
        process.communicate()
        assert process.returncode not in (0, 1)
        run = Run.open(folder)
        assert run.status == "interrupted"
        assert 5 <= len(run) < 2 * N
        assert json.loads((folder / "manifest.json").read_bytes())["n_done"] == len(run)


def test_a_second_process_cannot_write_the_same_run(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    with serve_in_process({"m": Script(ttft_ms=200, tok_s=200)}) as server:
        first = start(server.base_url, folder)
        wait_for(folder, 1, first)
        second = start(server.base_url, folder)
        said = second.communicate()[0].decode()
        assert "another process is writing this run" in said
        assert second.returncode == 2
        assert first.poll() is None
        os.kill(first.pid, signal.SIGKILL)
        first.communicate()
