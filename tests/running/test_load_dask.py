"""The same load test on a Dask cluster: worker processes of a LocalCluster, one of which is killed in mid-run."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from speedqual.endpoints.scripted import Script, serve_in_process
from speedqual.errors import UnreachableError
from speedqual.evalsets.generators.load_texts import long_input
from speedqual.records import Candidate
from speedqual.running import Run
from speedqual.running.load import Level, LoadPlan
from speedqual.running.load.shards_processes import WORKER
from speedqual.running.load.tester import load_test
from speedqual.running.watching import LevelFinished, RunEvent, TrialFinished

pytestmark = pytest.mark.slow
SET = long_input(100)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serve_in_process(Script(ttft_ms=60, tok_s=500, n=8)) as served:
        yield served.base_url


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two worker processes; Dask starts another one in the place of a worker that was killed."""
    from distributed import LocalCluster

    how = {"processes": True, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with LocalCluster(n_workers=2, **how) as made:
        yield made


@pytest.fixture
def address(cluster: Any) -> str:
    cluster.wait_for_workers(2, timeout=60)
    return str(cluster.scheduler_address)


async def loaded(url: str, level: Level, folder: Path, **how: Any) -> Run:
    candidate = Candidate(name="m", model="m", base_url=url)
    return await load_test([candidate], LoadPlan(levels=(level,)), evalsets=[SET], folder=folder, environ={}, **how)


def level(arrivals: str, **how: Any) -> Level:
    return Level(layer="arrivals", name="level", x=1, unit="req/s", arrivals=arrivals, evalset=SET.name, **how)


async def test_workers_share_the_requests_and_tell_how_their_clocks_stand(
    url: str, address: str, tmp_path: Path
) -> None:
    run = await loaded(url, level("constant:40", duration_s=0.5), tmp_path / "run", dask=address)
    (entry,) = run.manifest["load"]["levels"]
    assert sorted(record.trial.load.number for record in run.records) == list(range(20))
    assert len(entry["client"]["processes"]) == 2
    workers = run.manifest["load"]["workers"]
    assert len(workers) == 2
    for worker in workers:
        assert worker["name"].startswith("tcp://") and not worker["lost"]
        assert worker["round_trips"] > 1 and worker["half_width_ms"] > 0
        assert abs(worker["offset_ms"]) <= worker["half_width_ms"]  # of one machine: the true offset is 0
    for record in run.records:
        line = record.last.timeline
        assert line.t_sched is not None and line.t_send is not None and line.events[0].t_ns > line.t_send
        wanted_ms = record.trial.t_sched_ns / 1e6 - entry["start_ms"]
        assert wanted_ms == pytest.approx(25.0 * record.trial.load.number, abs=1e-3)


def sending() -> list[psutil.Process]:
    """The processes that send, whose parents are the workers."""
    return [one for one in psutil.Process().children(recursive=True) if WORKER in one.cmdline()]


async def nobody_sends() -> None:
    """A process that was told to go needs a moment to be gone."""
    async with asyncio.timeout(20):
        while sending():  # noqa: ASYNC110  # other processes tell no event
            await asyncio.sleep(0.05)


class KillsAWorker:
    """After so many finished trials."""

    def __init__(self, after: int) -> None:
        self.after, self.killed = after, 0

    def __call__(self, event: RunEvent) -> None:
        self.after -= isinstance(event, TrialFinished)
        if self.after <= 0 and not self.killed:
            self.killed = sending()[0].parent().pid
            os.kill(self.killed, signal.SIGKILL)


@pytest.mark.parametrize("arrivals", ["constant:30", "users:4"])
async def test_what_a_killed_worker_had_not_finished_is_sent_again_once(
    url: str, address: str, tmp_path: Path, arrivals: str
) -> None:
    how: dict[str, Any] = {"duration_s": 2.0} if arrivals.startswith("constant") else {"n": 60}
    kills = KillsAWorker(after=10)
    run = await loaded(url, level(arrivals, **how), tmp_path / "run", dask=address, observers=[kills])
    assert kills.killed
    await nobody_sends()
    records = list(run.records)
    assert sorted(record.trial.load.number for record in records) == list(range(60))
    assert {record.last.outcome for record in records} == {"ok"}
    again = [record for record in records if "sent_again" in record.flags]
    assert 0 < len(again) <= 30
    assert [worker["lost"] for worker in run.manifest["load"]["workers"]].count(True) == 1
    assert run.manifest["status"] == "finished"


async def test_the_worker_that_replaces_a_killed_one_takes_part_in_the_next_level(
    url: str, address: str, cluster: Any, tmp_path: Path
) -> None:
    class WaitsForTheNext(KillsAWorker):
        def __call__(self, event: RunEvent) -> None:
            super().__call__(event)
            if isinstance(event, LevelFinished) and event.level == "first":
                cluster.wait_for_workers(2, timeout=60)

    levels = [replace(level("users:4", n=40), name=name, x=x) for x, name in enumerate(("first", "idle", "last"), 1)]
    levels[1] = replace(levels[1], arrivals="users:1,think=3", n=3)  # time to be seen and to start
    kills = WaitsForTheNext(after=10)
    plan = LoadPlan(levels=tuple(levels))
    who = [Candidate(name="m", model="m", base_url=url)]
    how: dict[str, Any] = {"evalsets": [SET], "folder": tmp_path / "run", "environ": {}, "observers": [kills]}
    run = await load_test(who, plan, dask=address, **how)
    await nobody_sends()
    first, _, last = run.manifest["load"]["levels"]
    known = {worker["name"]: worker for worker in run.manifest["load"]["workers"]}
    assert sorted(worker["lost"] for worker in known.values()) == [False, False, True]
    played = {process["name"] for process in last["client"]["processes"]}
    assert len(played) == 2 and not any(known[name]["lost"] for name in played)
    assert all(known[name]["round_trips"] > 1 for name in played)
    assert {process["name"] for process in first["client"]["processes"]} != played
    assert run.df["outcome"].tolist() == ["ok"] * 83


async def test_a_scheduler_that_is_not_there_is_told(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("speedqual.running.load.dask_workers.CONNECT_S", 1.0)
    with pytest.raises(UnreachableError, match=r"tcp://127.0.0.1:9: no Dask scheduler answers. Start one"):
        await loaded(url, level("users:2", n=4), tmp_path / "run", dask="tcp://127.0.0.1:9")


async def test_a_cluster_without_workers_is_told(url: str, tmp_path: Path) -> None:
    from distributed import Scheduler

    async with Scheduler(dashboard_address=":0", port=0) as scheduler:
        with pytest.raises(UnreachableError, match="the Dask cluster has no workers"):
            await loaded(url, level("users:2", n=4), tmp_path / "run", dask=scheduler.address)
