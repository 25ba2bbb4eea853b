"""``speedqual load --processes`` and ``--dask``."""

from __future__ import annotations

import json
from pathlib import Path

from speedqual.cli.load_said import _worker

WHO = ("load", "--model", "openai/good", "--quiet", "--no-check", "--out", "r", "--json")


def test_processes_share_a_level(call, endpoint: str, bare_set: Path) -> None:
    words = ("--users", "2", "--requests", "6", "--evalset", bare_set, "--processes", "2")
    said = call(*WHO, "--base-url", endpoint, *words)
    assert said.code == 0, said.err
    found = json.loads(said.out)
    assert found["levels"][0]["n"] == 6
    assert [worker["name"] for worker in found["workers"]] == ["process 1", "process 2"]


def test_a_scheduler_that_is_not_there_is_an_endpoint_out_of_reach(call, endpoint: str, bare_set: Path) -> None:
    words = ("--users", "2", "--requests", "6", "--evalset", bare_set, "--dask", "tcp://127.0.0.1:9")
    said = call(*WHO, "--base-url", endpoint, *words)
    assert said.code == 3
    assert "tcp://127.0.0.1:9: no Dask scheduler answers. Start one" in said.err


def test_each_worker_tells_its_clock_and_whether_it_was_lost() -> None:
    worker = {"name": "tcp://a:1", "lost": False, "offset_ms": -12.3456, "half_width_ms": 0.789, "round_trips": 12}
    assert _worker(worker) == "tcp://a:1: its clock is -12.35 ms (± 0.79) from this one, on which all times are given"
    assert _worker(worker | {"lost": True}).endswith(", lost: what it had not finished was sent again")
