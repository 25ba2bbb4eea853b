"""The evaluator from plan to table, against a client that answers from a list and against the scripted endpoint."""

import asyncio
import gc
import getpass
import gzip
import json
import logging
import socket
import time
from dataclasses import replace

import pytest

from speedqual import running
from speedqual.endpoints.scripted import Script, ScriptedServer
from speedqual.endpoints.transport.lag import Vitals
from speedqual.errors import AuthError, ConfigError, EndpointError, EvalSetError, RunFolderError, UsageError
from speedqual.grading import base
from speedqual.records import Attempt, Grade, GraderSpec, Price
from speedqual.running import Finished, Graded, Limits, Retry, Run, Started, TrialFinished, TrialStarted, evaluate
from speedqual.running.columns import COLUMNS

from .conftest import FakeClient, candidate, echo, failed, ok, toy_evalset

PRICE = Price(input_usd_per_mtok=1.0, output_usd_per_mtok=2.0, as_of="2026-01-01")
AT_ONCE = Retry(base_s=0.001, jitter=0)


def answer(asked) -> str:
    return asked.prompt.rpartition(" ")[2]


async def test_asks_times_grades_and_keeps(tmp_path):
    async with ScriptedServer({"m": Script(ttft_ms=5, tok_s=1000, text=answer, reasoning="let me see")}) as server:
        two = [candidate(name, base_url=server.base_url, params={"seed": i}) for i, name in enumerate("ab")]
        run = await evaluate(two, [toy_evalset(4)], folder=tmp_path / "run", prices={"m": PRICE}, seed=3)
        assert len(server.requests) == 8 + 1  # one preflight for what is one endpoint and model
    assert (run.status, len(run)) == ("finished", 8)
    df = run.df
    assert list(df.columns) == [column.name for column in COLUMNS]
    assert df["success"].all()
    assert set(df["candidate"]) == {"a", "b"}
    assert (df["ttfa_ms"] >= df["ttft_ms"]).all()
    assert (df["n_out"] == 4).all()
    assert df["cost_usd"].sum() == pytest.approx(8 * (2 * 1.0 + 4 * 2.0) / 1e6)
    assert df["started_ms"].is_monotonic_increasing
    record = next(run.records)
    assert record.grade is not None
    assert [event.channel for event in record.last.timeline.events][-1] == "answer"
    assert len(run.events) == sum(len(r.last.timeline.events) for r in run.records)


async def test_a_run_is_read_from_its_folder_alone(tmp_path):
    run = await evaluate([candidate()], [toy_evalset(3)], folder=tmp_path / "run", client=FakeClient(echo))
    again = Run.open(tmp_path / "run")
    assert list(again.records) == list(run.records)
    assert again.df.equals(run.df)
    assert again.candidates == run.candidates
    assert again.evalsets == run.evalsets == (toy_evalset(3),)


async def test_attempts_stand_in_the_record_and_failures_are_no_wrong_answers(tmp_path):
    def reply(who, prompt, number):
        if "Question 1" in str(prompt.messages[-1].content):
            return failed(status=503) if number < 3 else echo(who, prompt, number)
        if "Question 2" in str(prompt.messages[-1].content):
            return failed("timeout", retryable=False, deadline="silence")
        return echo(who, prompt, number)

    run = await evaluate([candidate()], [toy_evalset(3)], folder=tmp_path, client=FakeClient(reply), retry=AT_ONCE)
    rows = run.df.set_index("item")
    assert list(rows.loc[["i0", "i1", "i2"], "attempts"]) == [1, 3, 1]
    assert [a.outcome for r in run.records if r.trial.item == "i1" for a in r.attempts] == ["http_error"] * 2 + ["ok"]
    assert (rows.loc["i2", "outcome"], rows.loc["i2", "verdict"]) == ("timeout", "")
    assert rows["success"].isna()["i2"]
    assert rows["ttft_ms"].isna()["i2"]
    assert "no attempt succeeded" in next(r for r in run.records if r.trial.item == "i2").missing["ttft_ms"]


async def test_observers_see_everything_in_order_and_break_nothing(tmp_path, caplog):
    seen = []

    def broken(event):
        raise ValueError("observer broke")

    with caplog.at_level(logging.ERROR, logger="speedqual"):
        await evaluate(
            [candidate()], [toy_evalset(2)], folder=tmp_path, client=FakeClient(echo), observers=[broken, seen.append]
        )
    kinds = [type(event) for event in seen]
    assert kinds == [Started, *[TrialStarted, TrialFinished] * 2, Graded, Graded, Finished]
    assert (seen[0].n_trials, seen[0].n_done) == (2, 0)
    assert seen[-2].n_graded == seen[-2].n_to_grade == 2
    assert (seen[-1].status, seen[-1].n_done) == ("finished", 2)


async def test_one_clear_error_before_anything_is_spent(tmp_path):
    class Refusing(FakeClient):
        async def check(self, candidate):
            raise AuthError("the key was refused", where=candidate.name)

    client = Refusing(echo)
    with pytest.raises(AuthError, match="refused"):
        await evaluate([candidate()], [toy_evalset()], folder=tmp_path / "run", client=client)
    assert client.asked == []
    assert not (tmp_path / "run").exists()
    skipped = await evaluate([candidate()], [toy_evalset()], folder=tmp_path / "run", client=client, preflight=False)
    assert skipped.status == "finished"


async def test_an_unknown_model_is_named_by_the_preflight(tmp_path):
    async with ScriptedServer({"m": Script()}) as server:
        with pytest.raises(EndpointError, match="nope"):
            wrong = candidate(base_url=server.base_url, model="nope")
            await evaluate([wrong], [toy_evalset()], folder=tmp_path / "run")


@pytest.mark.parametrize(
    ("limits", "why", "n"),
    [
        (Limits(requests=3), "the limit of 3 requests", 3),
        (Limits(tokens=20), "the limit of 20 tokens", 2),
        (Limits(usd=23e-6), "the limit of 2.3e-05 USD", 2),
    ],
)
async def test_a_limit_stops_the_run_and_it_can_be_resumed(tmp_path, limits, why, n):
    asked = {"folder": tmp_path, "client": FakeClient(echo), "prices": {"m": PRICE}}
    run = await evaluate([candidate()], [toy_evalset(6)], limits=limits, **asked)
    assert (run.status, run.manifest["why"], len(run)) == ("stopped", why, n)
    rest = await evaluate([candidate()], [toy_evalset(6)], resume=True, **asked)
    assert (rest.status, len(rest), rest.df["item"].nunique()) == ("finished", 6, 6)
    assert rest.df["success"].all()


async def test_the_wall_limit_cuts_off_what_is_in_flight(tmp_path):
    class Slow(FakeClient):
        async def ask(self, candidate, prompt, *, number=1, deadlines=None):
            await asyncio.sleep(0.05 if len(self.asked) < 2 else 60)
            return await super().ask(candidate, prompt, number=number)

    run = await evaluate([candidate()], [toy_evalset()], folder=tmp_path, client=Slow(echo), limits=Limits(wall_s=0.4))
    assert (run.status, run.manifest["why"], len(run)) == ("stopped", "the limit of 0.4 s", 2)


async def test_a_limit_in_money_needs_prices(tmp_path):
    with pytest.raises(UsageError, match="price of a is unknown"):
        await evaluate(
            [candidate(model="no-such-model")],
            [toy_evalset()],
            folder=tmp_path,
            client=FakeClient(echo),
            limits=Limits(usd=1.0),
        )


async def test_a_cancelled_run_leaves_a_folder_that_resumes(tmp_path):
    class Hanging(FakeClient):
        async def ask(self, candidate, prompt, *, number=1, deadlines=None):
            if len(self.asked) == 3:
                hung.set()
                await asyncio.sleep(60)
            return await super().ask(candidate, prompt, number=number)

    hung, seen = asyncio.Event(), []
    task = asyncio.create_task(
        evaluate([candidate()], [toy_evalset()], folder=tmp_path, client=Hanging(echo), observers=[seen.append])
    )
    await hung.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    run = Run.open(tmp_path)
    assert (run.status, len(run), run.manifest["n_done"]) == ("interrupted", 3, 3)
    assert (type(seen[-1]), seen[-1].status) == (Finished, "interrupted")
    client = FakeClient(echo)
    run = await evaluate([candidate()], [toy_evalset()], folder=tmp_path, client=client, resume=True)
    assert (run.status, len(run), len(client.asked)) == ("finished", 6, 3)
    assert sorted(run.df["item"]) == [f"i{k}" for k in range(6)]
    assert [session["status"] for session in run.manifest["sessions"]] == ["interrupted", "finished"]


async def test_a_fault_in_the_client_is_raised_as_itself(tmp_path):
    class Broken(FakeClient):
        async def ask(self, candidate, prompt, *, number=1, deadlines=None):
            raise UsageError("the client is not open")

    with pytest.raises(UsageError, match="not open"):
        await evaluate([candidate()], [toy_evalset()], folder=tmp_path, client=Broken(echo))
    assert Run.open(tmp_path).status == "failed"


async def test_another_tier_is_kept_apart(tmp_path):
    def reply(who, prompt, number):
        served = "default" if "Question 1" in str(prompt.messages[-1].content) else "priority"
        return replace(echo(who, prompt, number), served_tier=served)

    run = await evaluate([candidate(tier="priority")], [toy_evalset(3)], folder=tmp_path, client=FakeClient(reply))
    rows = run.df.set_index("item")
    assert list(rows.loc[["i0", "i1", "i2"], "phase"]) == ["main", "other_tier", "main"]
    assert "other_tier" in rows.loc["i1", "flags"]


async def test_streams_in_flight_are_bounded(tmp_path):
    class Counting(FakeClient):
        now = most = 0

        async def ask(self, candidate, prompt, *, number=1, deadlines=None):
            Counting.now += 1
            Counting.most = max(Counting.most, Counting.now)
            await asyncio.sleep(0.002)
            Counting.now -= 1
            return await super().ask(candidate, prompt, number=number)

    grouped = [candidate(name, group="box") for name in "ab"]
    await evaluate(grouped, [toy_evalset(8)], folder=tmp_path / "one", client=Counting(echo))
    assert Counting.most == 1
    await evaluate(grouped, [toy_evalset(8)], folder=tmp_path / "load", client=Counting(echo), concurrency=3)
    assert Counting.most == 6


async def test_another_run_is_not_overwritten_or_mixed_in(tmp_path):
    client = FakeClient(echo)
    await evaluate([candidate()], [toy_evalset(2)], folder=tmp_path, client=client)
    with pytest.raises(UsageError, match="holds a run"):
        await evaluate([candidate()], [toy_evalset(2)], folder=tmp_path, client=client)
    with pytest.raises(RunFolderError, match="other eval sets"):
        await evaluate([candidate()], [toy_evalset(3)], folder=tmp_path, client=client, resume=True)
    with pytest.raises(RunFolderError, match="other candidates"):
        await evaluate([candidate(params={"t": 1})], [toy_evalset(2)], folder=tmp_path, client=client, resume=True)
    with pytest.raises(RunFolderError, match="no run to resume"):
        await evaluate([candidate()], [toy_evalset(2)], folder=tmp_path / "none", client=client, resume=True)
    assert len(client.asked) == 2


async def test_seed_and_repeats_of_a_run_outlive_it(tmp_path):
    client = FakeClient(echo)
    await evaluate(
        [candidate()], [toy_evalset(2)], folder=tmp_path, client=client, seed=7, repeats=2, limits=Limits(requests=1)
    )
    run = await evaluate([candidate()], [toy_evalset(2)], folder=tmp_path, client=client, resume=True)
    assert (run.manifest["seed"], len(run)) == (7, 4)


async def test_the_key_is_nowhere_in_the_folder(tmp_path):
    key = "sk-test-0123456789abcdef"
    leak = Script(ttft_ms=1, tok_s=2000, text=f"your key is {key} thanks", reasoning=f"{key}")
    refuse = Script(error="http", status=400, message=f"Incorrect API key provided: {key}")
    async with ScriptedServer({"m": [leak, leak, refuse]}, api_key=key) as server:
        header = {"X-Api-Key": key + "-header"}
        url = server.base_url.replace("://", "://user:" + key + "@") + "?key=" + key
        run = await evaluate(
            [candidate(base_url=server.base_url, api_key_env="TOY_KEY", headers=header)],
            [toy_evalset(4)],
            folder=tmp_path / "run",
            environ={"TOY_KEY": key},
        )
        assert {"ok", "http_error"} == set(run.df["outcome"])
        assert "[key]" in next(r for r in run.records if r.last.outcome == "ok").last.text
        await evaluate(
            [candidate("b", base_url=url)], [toy_evalset(1)], folder=tmp_path / "url", client=FakeClient(echo)
        )
    assert run.events["chars"].sum() > 0
    for path in [*tmp_path.rglob("*"), tmp_path]:
        if path.is_file():
            data = path.read_bytes()
            assert key.encode() not in data, path
            if path.suffix == ".gz":
                assert key.encode() not in gzip.decompress(data)


async def test_the_manifest_names_nobody(tmp_path):
    run = await evaluate([candidate()], [toy_evalset(1)], folder=tmp_path / "run", client=FakeClient(echo))
    manifest = run.manifest
    text = json.dumps({name: value for name, value in manifest.items() if name != "created"})
    assert str(tmp_path) not in text
    assert socket.gethostname() not in text
    assert f'"{getpass.getuser()}"' not in text
    assert {"speedqual", "versions", "machine", "clock", "seed", "prices", "sessions", "settings"} <= set(manifest)


async def test_the_client_says_when_it_was_the_limit(tmp_path):
    class Late(FakeClient):
        def health(self):
            return replace(Vitals().health(trust_env=False), limited=True, why="the client used 97% of a core")

    run = await evaluate([candidate()], [toy_evalset(1)], folder=tmp_path, client=Late(echo))
    assert run.client_limit == "the client used 97% of a core"
    assert run.manifest["client"]["trust_env"] is False


async def test_grading_comes_after_all_timing(tmp_path):
    seen = []
    await evaluate([candidate()], [toy_evalset(4)], folder=tmp_path, client=FakeClient(echo), observers=[seen.append])
    kinds = [type(event) for event in seen]
    assert kinds.index(Graded) > max(i for i, kind in enumerate(kinds) if kind is TrialFinished)


async def test_grading_can_wait_and_be_done_again(tmp_path):
    run = await evaluate([candidate()], [toy_evalset(4)], folder=tmp_path, client=FakeClient(echo), grade=False)
    assert (run.df["verdict"] == "").all()
    graded = running.regrade(run)
    assert graded.df["success"].all()
    first = graded.layout.grades.read_bytes()
    again = running.regrade(Run.open(tmp_path))
    assert again.layout.grades.read_bytes() == first * 2
    assert len(again.grades) == 4


def test_scripts_run_without_a_loop_and_notebooks_are_told(tmp_path):
    run = running.run_sync([candidate()], [toy_evalset(1)], folder=tmp_path, client=FakeClient(echo))
    assert run.status == "finished"

    async def inside():
        running.run_sync([candidate()], [toy_evalset(1)], folder=tmp_path / "other", client=FakeClient(echo))

    with pytest.raises(UsageError, match="await evaluate"):
        asyncio.run(inside())


async def test_memory_does_not_grow_with_finished_trials(tmp_path):
    big = "word " * 2000

    def count() -> int:
        gc.collect()
        held = (thing for thing in gc.get_objects() if type(thing) is Attempt)
        return sum(thing.text == big for thing in held)  # other tests keep attempts of their own

    seen = []

    def reply(who, prompt, number):
        if len(client.asked) % 50 == 0:
            seen.append(count())
        return ok(big)

    client = FakeClient(reply)
    await evaluate([candidate()], [toy_evalset(200)], folder=tmp_path, client=client, grade=False)
    assert len(seen) == 4
    assert max(seen) < 80  # what waits for the disk, never all of them


async def test_nobody_is_asked_when_only_grades_are_missing(tmp_path):
    await evaluate([candidate()], [toy_evalset(2)], folder=tmp_path, client=FakeClient(echo), grade=False)
    client = FakeClient(echo)
    run = await evaluate([candidate()], [toy_evalset(2)], folder=tmp_path, client=client, resume=True)
    assert (client.asked, client.checked) == ([], [])
    assert run.df["success"].all()


async def test_an_eval_set_bounds_the_seconds_of_an_answer(tmp_path):
    async with ScriptedServer({"m": Script(ttft_ms=5, tok_s=10, n=60)}) as server:
        slow = candidate(base_url=server.base_url)
        sets = [toy_evalset(1, timeout_s=0.4)]
        run = await evaluate([slow], sets, folder=tmp_path, retry=Retry(attempts=1), preflight=False, warm_up=False)
    last = next(run.records).last
    assert (last.outcome, last.deadline) == ("timeout", "total")


async def test_grading_stops_when_the_run_is_cancelled(tmp_path):
    def slow(answer, item):
        time.sleep(0.02)
        return Grade(score=1.0, verdict="pass")

    base.register("toy", lambda evalset: slow)
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()

    def watch(event):
        if isinstance(event, Graded):
            loop.call_soon_threadsafe(begun.set)

    task = asyncio.create_task(
        evaluate([candidate()], [toy_evalset(80)], folder=tmp_path, client=FakeClient(echo), observers=[watch])
    )
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await loop.shutdown_default_executor()
    n = len(Run.open(tmp_path).grades)
    assert 0 < n < 80
    run = running.regrade(Run.open(tmp_path))
    assert len(run.grades) == 80


async def test_what_would_break_in_mid_run_breaks_before_it(tmp_path):
    client = FakeClient(echo)
    with pytest.raises(EvalSetError, match="grader"):
        unknown = replace(toy_evalset(1), grader=GraderSpec(name="no-such-grader"))
        await evaluate([candidate()], [unknown], folder=tmp_path, client=client)
    with pytest.raises(EvalSetError, match="example"):
        await evaluate([candidate(shots=3)], [toy_evalset(1)], folder=tmp_path, client=client)
    assert (client.asked, client.checked) == ([], [])


async def test_headers_are_not_kept_and_their_absence_is_noticed(tmp_path):
    client = FakeClient(echo)
    with_header = candidate(headers={"X-Team": "blue"})
    run = await evaluate([with_header], [toy_evalset(2)], folder=tmp_path, client=client, limits=Limits(requests=1))
    assert run.candidates[0].headers == {"X-Team": "[not kept]"}
    with pytest.raises(ConfigError, match="not kept"):
        await evaluate(run.candidates, run.evalsets, folder=tmp_path, client=client, resume=True)
    whole = await evaluate([with_header], run.evalsets, folder=tmp_path, client=client, resume=True)
    assert len(whole) == 2


async def test_a_bug_comes_out_as_itself_and_leaves_a_folder(tmp_path):
    class Buggy(FakeClient):
        async def ask(self, candidate, prompt, *, number=1, deadlines=None):
            raise ZeroDivisionError("a bug in /some/path")

    with pytest.raises(ZeroDivisionError):
        await evaluate([candidate()], [toy_evalset()], folder=tmp_path, client=Buggy(echo), concurrency=3)
    run = Run.open(tmp_path)
    assert (run.status, run.manifest["why"]) == ("failed", "ZeroDivisionError")
