"""Several processes share a load test: the same trials as one process sends, one journal, nothing lost or kept twice."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from speedqual.endpoints.scripted import Script, serve_in_process
from speedqual.errors import UnreachableError, UsageError
from speedqual.evalsets.generators.load_texts import long_input
from speedqual.records import Attempt, Candidate, Event, Record, Timeline, Trial
from speedqual.running import Run
from speedqual.running.load import BreakerRule, Level, LoadPlan
from speedqual.running.load.shards_crew import Offset
from speedqual.running.load.shards_home import _frame, moved
from speedqual.running.load.shards_messages import Broke, Prepared
from speedqual.running.load.shards_processes import WORKER
from speedqual.running.load.tester import load_test
from speedqual.running.settings import Limits, Retry
from speedqual.running.watching import RunEvent, TrialFinished, TrialStarted

SET = long_input(100)
ANSWER = Script(ttft_ms=30, tok_s=500, n=8)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    scripts = {
        "m": ANSWER,
        "slow": Script(ttft_ms=60, tok_s=500, n=8),
        "down": Script(error="http", status=503),
    }
    with serve_in_process(scripts) as served:
        yield served.base_url


def level(name: str, arrivals: str, **how: Any) -> Level:
    return Level(layer="arrivals", name=name, x=1, unit="users", arrivals=arrivals, evalset=SET.name, **how)


def children() -> list[psutil.Process]:
    return [one for one in psutil.Process().children() if WORKER in one.cmdline()]


async def loaded(url: str, levels: list[Level], folder: Path, *, model: str = "m", **how: Any) -> Run:
    plan = LoadPlan(levels=tuple(levels), **({"breaker": how.pop("breaker")} if "breaker" in how else {}))
    candidate = Candidate(name="m", model=model, base_url=url)
    try:
        return await load_test([candidate], plan, evalsets=[SET], folder=folder, environ={}, **how)
    finally:
        assert children() == []  # no process is left behind, however it ended


def identity(record: Record) -> tuple[Any, ...]:
    """All that one trial is, but its times and what they say."""
    trial = record.trial
    assert trial.load is not None and record.grade is not None
    return trial.key, trial.t_sched_ns is None, trial.load, record.last.text, record.grade.score


LEVELS = [
    level("users", "users:4", n=13),
    level("alone", "users:1", n=3),
    level("talks", "conversations:3x3"),
    level("rate", "poisson:60", duration_s=0.5),
    level("new", "users:2", n=6, new_connections=True),
]


async def test_two_processes_keep_the_records_of_one(url: str, tmp_path: Path) -> None:
    one = await loaded(url, LEVELS, tmp_path / "one")
    two = await loaded(url, LEVELS, tmp_path / "two", processes=2)
    assert Counter(map(identity, one.records)) == Counter(map(identity, two.records))
    assert sum(len(record.last.timeline.events) for record in two.records) == 8 * one.manifest["n_done"]
    for a, b in zip(one.manifest["load"]["levels"], two.manifest["load"]["levels"], strict=True):
        assert {name: a[name] for name in ("level", "n_planned", "n_sent", "ended")} == {
            name: b[name] for name in ("level", "n_planned", "n_sent", "ended")
        }
    assert two.manifest["status"] == "finished"
    assert two.manifest["n_done"] == two.manifest["n_trials"] == one.manifest["n_done"]


async def test_shards_start_together_and_each_process_speaks_for_its_client(url: str, tmp_path: Path) -> None:
    run = await loaded(url, [level("rate", "constant:40", duration_s=0.5)], tmp_path / "run", processes=2)
    (entry,) = run.manifest["load"]["levels"]
    at_ms = sorted(record.trial.t_sched_ns / 1e6 - entry["start_ms"] for record in run.records)
    assert at_ms == pytest.approx([25.0 * number for number in range(20)], abs=1e-3)
    for record in run.records:
        line = record.last.timeline
        assert line.t_sched is not None and line.t_send is not None and line.t_sched <= line.t_send
    each = entry["client"]["processes"]
    assert {one["name"] for one in each} == {"process 1", "process 2"}
    for figure in ("loop_lag_p99_ms", "sched_lag_p99_ms", "cpu_share"):
        assert entry["client"][figure] == max(one[figure] for one in each)
    assert run.manifest["sessions"][-1]["client"]["requests"] == 20
    assert [worker["lost"] for worker in run.manifest["load"]["workers"]] == [False, False]


class Kills:
    """Kills a process of the load test after so many finished trials."""

    def __init__(self, after: int, n: int = 1) -> None:
        self.after, self.n, self.killed = after, n, 0

    def __call__(self, event: RunEvent) -> None:
        self.after -= isinstance(event, TrialFinished)
        if self.after <= 0 and not self.killed:
            self.killed = self.n
            for victim in children()[: self.n]:
                os.kill(victim.pid, signal.SIGKILL)


KILLED = [
    level("rate", "constant:60", duration_s=1.0),
    level("users", "users:4", n=40),
    level("talks", "conversations:4x4"),
]


@pytest.mark.parametrize("one", KILLED, ids=lambda one: one.name)
async def test_what_a_lost_process_had_not_finished_is_sent_again_once(url: str, tmp_path: Path, one: Level) -> None:
    started: Counter[str] = Counter()

    def count(event: RunEvent) -> None:
        if isinstance(event, TrialStarted):
            started[event.trial.key] += 1

    watch = [Kills(after=6), count]
    run = await loaded(url, [one], tmp_path / "run", model="slow", processes=2, observers=watch)
    records = list(run.records)
    n = {"rate": 60, "users": 40, "talks": 16}[one.name]
    assert sorted(record.trial.load.number for record in records) == list(range(n))
    assert {record.last.outcome for record in records} == {"ok"}
    again = [record for record in records if "sent_again" in record.flags]
    assert again
    assert max(started.values()) == 2
    twice = {key for key, times in started.items() if times == 2}
    assert twice <= {record.trial.key for record in again}  # what was in flight, and no more
    assert [worker["lost"] for worker in run.manifest["load"]["workers"]].count(True) == 1
    assert run.manifest["load"]["levels"][0]["n_sent"] == n
    assert run.manifest["status"] == "finished"


async def test_a_run_whose_processes_are_all_lost_can_be_resumed(url: str, tmp_path: Path) -> None:
    one = level("users", "users:4", n=40)
    with pytest.raises(UnreachableError, match="every process of the load test is gone"):
        await loaded(url, [one], tmp_path / "run", processes=2, observers=[Kills(after=6, n=2)])
    left = Run.open(tmp_path / "run")
    assert left.manifest["status"] == "failed" and 6 <= left.manifest["n_done"] < 40
    run = await loaded(url, [one], tmp_path / "run", processes=2, resume=True)
    assert sorted(record.trial.load.number for record in run.records) == list(range(40))


async def test_a_limit_stops_every_process(url: str, tmp_path: Path) -> None:
    one = level("users", "users:4", n=200)
    run = await loaded(url, [one], tmp_path / "run", processes=2, limits=Limits(requests=20))
    assert run.manifest["status"] == "stopped"
    assert run.manifest["load"]["levels"][0]["ended"] == "budget"
    assert 20 <= run.manifest["n_done"] <= 20 + 4  # what was in flight


async def test_the_breaker_counts_the_faults_of_all_processes(url: str, tmp_path: Path) -> None:
    one = level("users", "users:4", n=200)
    how: dict[str, Any] = {"preflight": False, "warm_up": False, "retry": Retry(attempts=1)}
    rule = BreakerRule(in_a_row=10, probes=0)
    run = await loaded(url, [one], tmp_path / "run", model="down", processes=2, breaker=rule, **how)
    (entry,) = run.manifest["load"]["levels"]
    assert entry["ended"] == "breaker" and "requests in a row failed" in entry["why"]
    assert 10 <= entry["n_sent"] <= 30


def test_a_process_ends_when_home_is_gone() -> None:
    worker = subprocess.Popen([sys.executable, "-m", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    said, _ = worker.communicate(b"", timeout=30)
    assert (worker.returncode, said) == (0, b"")


async def test_a_fault_in_a_process_comes_home_as_itself(url: str, tmp_path: Path) -> None:
    one = level("users", "users:2", n=4, items=("nobody",))
    with pytest.raises(UsageError, match="long-input-100 has no item 'nobody'"):
        await loaded(url, [one], tmp_path / "run", processes=2)
    assert children() == []


def test_what_cannot_be_sent_home_is_told_in_words() -> None:
    for bad in (lambda: lambda: None, lambda: 1 / 0):  # no pickle of that; a fault in the making
        frame = _frame([lambda: Prepared(1), bad])
        before, broke = pickle.loads(frame[8:])
        assert before == Prepared(1)
        assert isinstance(broke, Broke) and "a process of the load test broke" in str(broke.fault)


async def test_slips_are_told_before_anything_is_sent(url: str, tmp_path: Path) -> None:
    one = [level("users", "users:2", n=4)]
    for how, said in (
        ({"processes": 0}, "processes is 0"),
        ({"processes": 2, "dask": "tcp://x"}, "processes and dask are both given"),
        ({"processes": 2, "client": object()}, "a client of your own cannot be shared"),
    ):
        with pytest.raises(UsageError, match=said):
            await loaded(url, one, tmp_path / "run", **how)
    assert not (tmp_path / "run").exists()


def test_every_stamp_of_a_record_moves_to_the_clock_of_home() -> None:
    names = [one.name for one in fields(Timeline) if one.name.startswith("t_")]
    events = (Event(50, "answer", "a", 1), Event(70, "answer", "b", 2, 2))
    line = Timeline(events=events, client_lag_ns=3, **{name: number for number, name in enumerate(names)})
    attempt = Attempt(number=1, outcome="ok", timeline=replace(line, t_usage=None))
    record = Record(trial=Trial(candidate="m", evalset="e", item="i"), attempts=(attempt,))
    there = moved(record, 1000).last.timeline
    assert {name: getattr(there, name) for name in names} == {
        name: None if name == "t_usage" else 1000 + number for number, name in enumerate(names)
    }
    assert there.events == (Event(1050, "answer", "a", 1), Event(1070, "answer", "b", 2, 2))
    assert there.client_lag_ns == 3
    assert moved(moved(record, 1000), -1000) == record


def test_offsets_agree_where_one_can_explain_both() -> None:
    assert Offset(1000, 300, 5).agrees(Offset(1500, 200, 5))
    assert not Offset(1000, 300, 5).agrees(Offset(1501, 200, 5))
