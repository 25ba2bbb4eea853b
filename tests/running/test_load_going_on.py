"""Killed, interrupted, stopped: what was finished stays, the rest is sent on a fresh schedule and says so."""

import itertools
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from speedqual.endpoints.scripted import Script, ScriptedServer, serve_in_process
from speedqual.errors import RunFolderError
from speedqual.running import Limits, Run, evaluate
from speedqual.running.arrivals import Arrival
from speedqual.running.load.level import planned
from speedqual.timing.goodput import parse_slo

from .conftest import MS, toy_evalset
from .load_killed import PLAN, N
from .loading import entries, level, loaded, on_a_quiet_host, someone

KILLED = Path(__file__).with_name("load_killed.py")
GOOD = Script(ttft_ms=2, tok_s=0, n=3)


def start(base_url: str, folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, str(KILLED), base_url, str(folder)], stderr=subprocess.PIPE)


def wait_for(folder: Path, n: int, process: subprocess.Popen[bytes]) -> None:
    path, end = folder / "records.jsonl", time.monotonic() + 60
    while process.poll() is None and time.monotonic() < end:
        if path.exists() and path.read_bytes().count(b"\n") >= n:
            return
        time.sleep(0.002)


@pytest.mark.slow
def test_kill_9_at_any_moment_loses_and_repeats_nothing(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    rng = random.Random(11)
    with serve_in_process({"m": Script(ttft_ms=15, tok_s=0, n=2)}) as server:
        for goal in (20, 60, 95):
            process = start(server.base_url, folder)
            wait_for(folder, goal, process)
            time.sleep(rng.random() * 0.02)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            if (folder / "manifest.json").exists():
                assert all(record.last.outcome == "ok" for record in Run.open(folder))
        process = start(server.base_url, folder)
        assert process.communicate()[1] == b""
        assert process.returncode == 0
    run = Run.open(folder)
    assert run.status == "finished"
    seen = Counter(record.trial.key for record in run.records)
    assert len(seen) == N and set(seen.values()) == {1}
    assert len(run.df) == len(run.grades) == N == run.manifest["n_trials"]
    frame = run.df.sort_values("load_number")
    for one, n in zip(PLAN.levels, (50, 40, 18), strict=True):
        rows, own = frame[frame["level"] == one.name], [e for e in entries(run) if e["level"] == one.name]
        assert list(rows["load_number"]) == list(range(n))
        assert sum(entry["n_sent"] for entry in own) == n
        assert [entry["ended"] for entry in own] == ["interrupted"] * (len(own) - 1) + ["completed"]
        assert all(a["end_ms"] <= b["start_ms"] for a, b in itertools.pairwise(own))
    assert any(entry["ended"] == "interrupted" for entry in entries(run))


@pytest.mark.slow
def test_ctrl_c_leaves_a_readable_folder(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    with serve_in_process({"m": Script(ttft_ms=20, tok_s=0, n=2)}) as server:
        process = start(server.base_url, folder)
        wait_for(folder, 10, process)
        process.send_signal(signal.SIGINT)
        process.communicate()
        assert process.returncode != 0
    run = Run.open(folder)
    assert run.status == "interrupted"
    assert 10 <= len(run) == len(run.df) < N == run.manifest["n_trials"]
    last = entries(run)[-1]
    assert last["ended"] == "interrupted" and last["n_sent"] >= 1 and last["client"]["cpu_share"] > 0


async def test_a_level_that_a_limit_cut_goes_on_with_its_rest(tmp_path):
    one = level("constant:100", duration_s=0.3)
    with serve_in_process(GOOD) as server:
        await loaded(server.base_url, tmp_path / "r", one, limits=Limits(requests=12))
        run = await loaded(server.base_url, tmp_path / "r", one, resume=True)
    first, second = entries(run)
    assert (first["ended"], first["n_sent"]) == ("budget", 12)
    assert (second["ended"], second["n_sent"], second["n_planned"]) == ("completed", 18, 18)
    frame = run.df.sort_values("load_number")
    assert list(frame["load_number"]) == list(range(30))
    assert frame["sched_ms"].iloc[12] == pytest.approx(second["start_ms"], abs=1e-6)
    assert frame["sched_ms"].iloc[12:].diff().dropna().round(6).eq(10.0).all()
    assert (run.status, run.manifest["n_trials"]) == ("finished", 30)


async def test_a_level_that_goes_on_is_judged_by_all_its_requests(tmp_path, monkeypatch):
    """12 slow ones before, 18 quick ones after: 60 % keep a promise made for 95 %."""
    on_a_quiet_host(monkeypatch)
    one, plan = level("constant:100", duration_s=0.3), {"slos": (parse_slo("ttft_ms < 150 @ 95%"),)}
    with serve_in_process({"m": [Script(ttft_ms=250, tok_s=0, n=3)] * 12 + [GOOD] * 40}) as server:
        await loaded(server.base_url, tmp_path / "r", one, limits=Limits(requests=12), plan=plan)
        run = await loaded(server.base_url, tmp_path / "r", one, resume=True, plan=plan)
    first, second = entries(run)
    assert (first["n_sent"], second["n_sent"]) == (12, 18)
    assert (second["held"], second["ended"]) == ("fails", "slo")
    assert second["why"].endswith("18 of 30 requests kept it")


def test_the_rest_of_a_schedule_keeps_its_distances():
    one = level("constant:100", duration_s=0.1)
    keys = {f'["a", "toy", "i0", 0, "arrivals", "constant:100", {number}]': "" for number in (0, 1, 2, 4)}
    assert planned(one, keys) == [(k, Arrival((k - 3) * 10 * MS)) for k in (3, 5, 6, 7, 8, 9)]
    assert planned(one, {}) == [(k, Arrival(k * 10 * MS)) for k in range(10)]


async def test_a_conversation_goes_on_upon_the_replies_that_it_got(tmp_path):
    one = level("conversations:1x4", layer="concurrency")
    script = Script(ttft_ms=1, tok_s=0, text=lambda asked: f"Reply {asked.number}")
    async with ScriptedServer(script) as server:
        await loaded(server.base_url, tmp_path / "r", one, limits=Limits(requests=2))
        run = await loaded(server.base_url, tmp_path / "r", one, resume=True)
        asked = [[message["content"] for message in request.messages] for request in server.requests]
    assert [len(messages) for messages in asked] == [1, 3, 5, 7]
    assert all(after[: len(before)] == before for before, after in itertools.pairwise(asked))
    assert asked[3][1::2] == ["Reply 0", "Reply 1", "Reply 2"]
    assert sorted(run.df["turn"]) == [0, 1, 2, 3]


async def test_a_finished_load_test_sends_nothing_again(tmp_path):
    with serve_in_process(GOOD) as server:
        levels = [level("users:1", n=3), level("users:2", n=3)]
        await loaded(server.base_url, tmp_path / "r", *levels)
        n_asked = len(server.log())
        run = await loaded(server.base_url, tmp_path / "r", *levels, resume=True)
        assert len(server.log()) == n_asked
    assert [entry["ended"] for entry in entries(run)] == ["completed"] * 2
    assert (run.status, len(run)) == ("finished", 6)


async def test_another_plan_does_not_fit_the_folder(tmp_path):
    with serve_in_process(GOOD) as server:
        await loaded(server.base_url, tmp_path / "r", level("users:1", n=3))
        with pytest.raises(RunFolderError, match="other load plan"):
            await loaded(server.base_url, tmp_path / "r", level("users:1", n=4), resume=True)
        with pytest.raises(RunFolderError, match=r"this is a load test\. Go on with: speedqual load --resume r"):
            await evaluate([someone(server.base_url)], [toy_evalset(4)], folder=tmp_path / "r", resume=True)
