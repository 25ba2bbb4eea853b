"""Open loops never wait, closed ones do; conversations carry what the model said."""

import asyncio
import itertools
from dataclasses import dataclass, field, replace

import pytest

from speedqual.clock import FakeClock
from speedqual.endpoints.scripted import Script, ScriptedServer, serve_in_process
from speedqual.records import Event, Item, Timeline
from speedqual.running import Policy, Retry, Route
from speedqual.running.arrivals import Arrival, arrivals
from speedqual.running.load.loops import open_loop
from speedqual.running.load.questions import Questions
from speedqual.running.load.traces import trace_set
from speedqual.running.plan import approx_tokens
from speedqual.timing import measure

from .conftest import MS, FakeClient, candidate, ok, toy_evalset
from .loading import entries, level, loaded, someone


class SteppingClock(FakeClock):
    """Lets those who are due act before it moves on."""

    async def sleep_until(self, t_ns: int) -> None:
        await asyncio.sleep(0)
        await super().sleep_until(t_ns)


@dataclass
class LateSender:
    """Stands for the sender: notes the clock at each send, on a clock that the sending itself moves on."""

    clock: FakeClock
    start_ns: int
    sent: list[tuple[int, int, int]] = field(default_factory=list)  # number, t_sched, t_send
    takes_ns: int = 0

    def may_send(self) -> bool:
        return True

    async def send(self, request, t_sched):
        self.sent.append((request.trial.load.number, t_sched, self.clock.now_ns()))
        self.clock.advance(self.takes_ns)


async def scheduled(takes_ns: int, at_ns: list[int]) -> tuple[LateSender, FakeClock]:
    clock = SteppingClock(t_ns=1_000)
    sender = LateSender(clock, start_ns=5_000, takes_ns=takes_ns)
    asked = Questions(level("constant:1", duration_s=9.0), candidate(), {"toy": toy_evalset(4)}, "run")
    async with asyncio.TaskGroup() as group:
        await open_loop(sender, asked, enumerate(map(Arrival, at_ns)), 1_000, group)
    return sender, clock


async def test_an_open_loop_starts_each_request_at_its_time_after_the_start_of_the_level():
    sender, clock = await scheduled(0, [0, 10 * MS, 10 * MS, 25 * MS])
    due = [5_000, 5_000 + 10 * MS, 5_000 + 10 * MS, 5_000 + 25 * MS]
    assert [t_sched for _, t_sched, _ in sender.sent] == due
    assert [t_send for _, _, t_send in sender.sent] == due
    assert clock.slept == due


async def test_a_late_client_moves_no_intended_start():
    """Each send takes 40 ms of a schedule of 10 ms: the lateness shows in sched_lag and nowhere else."""
    sender, _ = await scheduled(40 * MS, [0, 10 * MS, 20 * MS])
    assert [t_sched - 5_000 for _, t_sched, _ in sender.sent] == [0, 10 * MS, 20 * MS]
    assert [(t_send - t_sched) // MS for _, t_sched, t_send in sender.sent] == [0, 30, 60]


async def test_the_intended_start_is_counted_from_the_start_of_the_run():
    asked = Questions(level("constant:1", duration_s=9.0), candidate(), {"toy": toy_evalset(4)}, "run")
    assert asked.request(3, t_sched_ns=4_000).trial.t_sched_ns == 4_000
    assert asked.request(3).trial.t_sched_ns is None


def test_sched_lag_is_the_first_send_after_the_intended_start():
    events = (Event(190 * MS, "answer", "x", 1),)
    late = ok(timeline=Timeline(t_sched=100 * MS, t_send=112 * MS, events=events, t_close=200 * MS))
    found = measure([late]).metrics
    assert (found["sched_lag_ms"], found["ttft_ms"], found["e2e_sched_ms"]) == (12, 78, 90)


async def test_an_open_loop_waits_for_no_reply(tmp_path):
    """Replies take 400 ms, 30 requests come 10 ms apart: nearly all are in flight at once."""
    with serve_in_process(Script(ttft_ms=400, tok_s=0, n=2)) as server:
        run = await loaded(server.base_url, tmp_path / "r", level("constant:100", duration_s=0.3))
        assert server.stats()["peak_active"] >= 20
    frame = run.df.sort_values("load_number")
    assert list(frame["load_number"]) == list(range(30))
    assert frame["sched_ms"].diff().dropna().round(6).eq(10.0).all()
    assert (frame["sched_lag_ms"] > 0).all()
    assert (frame["started_ms"] - frame["sched_ms"] - frame["sched_lag_ms"]).abs().max() < 1e-3


@pytest.mark.timing
async def test_the_realised_rate_is_within_half_a_percent_at_200_a_second(tmp_path):
    with serve_in_process(Script(ttft_ms=5, tok_s=0, n=4)) as server:
        run = await loaded(server.base_url, tmp_path / "r", level("constant:200", duration_s=3.0))
    frame = run.df.sort_values("sched_ms")
    assert len(frame) == 600
    span_s = (frame["started_ms"].iloc[-1] - frame["started_ms"].iloc[0]) / 1000
    assert 599 / span_s == pytest.approx(200, rel=0.005)


@pytest.mark.timing
async def test_500_short_requests_a_second_leave_in_time(tmp_path):
    """The goal is 5 ms at the 99th percentile; three times that is allowed here."""
    with serve_in_process(Script(ttft_ms=5, tok_s=0, n=4)) as server:
        run = await loaded(server.base_url, tmp_path / "r", level("constant:500", duration_s=3.0))
    assert run.df["sched_lag_ms"].quantile(0.99) < 15


async def test_users_wait_for_their_reply(tmp_path):
    with serve_in_process(Script(ttft_ms=20, tok_s=0, n=2)) as server:
        run = await loaded(server.base_url, tmp_path / "r", level("users:3", n=12))
        assert server.stats()["peak_active"] == 3
    assert sorted(run.df["load_number"]) == list(range(12))
    assert run.df["sched_ms"].isna().all()
    assert run.df["repeat"].value_counts().to_dict() == {0: 4, 1: 4, 2: 4}
    assert run.events.groupby(["layer", "level", "load_number"]).ngroups == 12
    (entry,) = entries(run)
    assert (entry["ended"], entry["n_planned"], entry["n_sent"], entry["unit"]) == ("completed", 12, 12, "users")
    assert entry["start_ms"] < entry["end_ms"] <= entry["drained_ms"]


class SlowReader(FakeClient):
    """Replies end at once and are read 50 ms later; notes when each was asked for and when it was read."""

    def __init__(self) -> None:
        super().__init__(lambda *asked: ok())
        self.log: list[str] = []

    async def ask(self, candidate, prompt, *, number=1, deadlines=None, slot=None):
        self.log.append("asked")
        if slot.over is not None:
            slot.over()
        await asyncio.sleep(0.05)
        self.log.append("read")
        return await super().ask(candidate, prompt, number=number, deadlines=deadlines)


async def test_a_user_goes_on_when_the_reply_has_ended_not_when_we_have_read_it(tmp_path):
    """One request overtakes the reading of the reply before it, never two."""
    client = SlowReader()
    run = await loaded("http://nobody.invalid", tmp_path / "r", level("users:1", n=4), client=client)
    assert client.log[:3] == ["asked", "asked", "read"]
    ahead = list(itertools.accumulate(1 if what == "asked" else -1 for what in client.log))
    assert max(ahead) == 2
    assert len(run) == 4


async def test_where_a_retry_may_follow_a_user_waits_for_the_reading(tmp_path):
    client = SlowReader()
    await loaded("http://nobody.invalid", tmp_path / "r", level("users:1", n=2), client=client, retry=Retry(attempts=2))
    assert client.log == ["asked", "read"] * 2


@pytest.mark.timing
async def test_replies_that_end_together_do_not_date_the_next_ones_late(tmp_path):
    """Two waves of 64 streams in step: the first tokens of the second come while the first replies are read."""
    with serve_in_process(Script(ttft_ms=30, tok_s=100, n=100)) as server:
        run = await loaded(server.base_url, tmp_path / "r", level("users:64", n=128))
        written = sorted(entry["sent"][0] for entry in server.log())
    seen = sorted(record.last.timeline.events[0].t_ns for record in run)
    late_ms = sorted((a - b) / 1e6 for a, b in zip(seen, written, strict=True))
    assert late_ms[-2] < 9  # less than one gap between tokens: else two of them came in one read


async def test_users_stop_when_their_time_is_over_and_the_last_replies_are_kept(tmp_path):
    with serve_in_process(Script(ttft_ms=150, tok_s=0, n=2)) as server:
        run = await loaded(server.base_url, tmp_path / "r", level("users:2,think=0.02", duration_s=0.4))
    (entry,) = entries(run)
    assert entry["n_planned"] is None
    assert len(run) == entry["n_sent"] == run.manifest["n_trials"] >= 2
    assert entry["end_ms"] - entry["start_ms"] >= 400
    assert run.df["started_ms"].between(entry["start_ms"], entry["end_ms"]).all()
    assert (run.df["outcome"] == "ok").all()


async def test_a_conversation_grows_by_what_the_model_said(tmp_path):
    script = Script(ttft_ms=1, tok_s=0, text=lambda asked: f"Reply {asked.number}")
    async with ScriptedServer(script) as server:
        run = await loaded(server.base_url, tmp_path / "r", level("conversations:1x3", layer="concurrency"))
        asked = [[message["content"] for message in one.messages] for one in server.requests]
        roles = [message["role"] for message in server.requests[-1].messages]
    assert [len(messages) for messages in asked] == [1, 3, 5]
    assert roles == ["user", "assistant"] * 2 + ["user"]
    assert asked[2][:3] == asked[1]
    assert asked[2][1::2] == ["Reply 0", "Reply 1"]
    frame = run.df.sort_values("turn")
    assert list(frame["session"]) == ["0.0"] * 3 and list(frame["turn"]) == [0, 1, 2]


async def test_a_swarm_runs_its_rounds_in_parallel_with_pauses_for_tools(tmp_path):
    with serve_in_process(Script(ttft_ms=30, tok_s=0, n=2)) as server:
        run = await loaded(server.base_url, tmp_path / "r", level("swarm:5x2,pause=0.05", layer="concurrency"))
        assert server.stats()["peak_active"] == 5
    assert sorted(run.df["load_number"]) == list(range(10))
    for _, agent in run.df.groupby("session"):
        first, second = agent.sort_values("turn")["started_ms"]
        assert second - first >= 80


async def test_a_conversation_breaks_off_where_a_turn_fails(tmp_path):
    scripts = {"m": [Script(ttft_ms=1, tok_s=0), Script(error="http", status=500)]}
    with serve_in_process(scripts) as server:
        run = await loaded(server.base_url, tmp_path / "r", level("conversations:1x4", layer="concurrency"))
    assert list(run.df.sort_values("turn")["outcome"]) == ["ok", "http_error"]


async def test_sessions_start_anew_until_their_number_is_reached(tmp_path):
    with serve_in_process(Script(ttft_ms=1, tok_s=0, n=2)) as server:
        run = await loaded(server.base_url, tmp_path / "r", level("conversations:2x2", layer="concurrency", n=8))
    assert sorted(run.df["session"]) == ["0.0", "0.0", "0.1", "0.1", "1.0", "1.0", "1.1", "1.1"]


async def test_classes_of_traffic_keep_their_name_and_their_set(tmp_path):
    mixed = level("quick=constant:50 + batch=constant:20", duration_s=0.2, traffic_sets={"batch": "long"}, max_tokens=9)
    with serve_in_process(Script(ttft_ms=1, tok_s=0, n=2)) as server:
        run = await loaded(
            server.base_url, tmp_path / "r", mixed, evalsets=[toy_evalset(4), toy_evalset(5, name="long")]
        )
    assert run.df.groupby("traffic")["evalset"].agg(["first", "nunique", "size"]).values.tolist() == [
        ["long", 1, 4],
        ["toy", 1, 10],
    ]


async def test_every_prompt_is_unique_unless_caches_shall_work(tmp_path):
    async with ScriptedServer(Script(ttft_ms=1, tok_s=0, n=2)) as server:
        await loaded(server.base_url, tmp_path / "r", level("users:1", n=8))
        marked = [asked.prompt for asked in server.requests]
        server.requests.clear()
        await loaded(server.base_url, tmp_path / "s", level("users:1", n=8, unique=False))
        same = [asked.prompt for asked in server.requests]
    assert len(set(marked)) == 8 and len(set(same)) == 4
    assert len({prompt[:20] for prompt in marked}) == 8
    assert {prompt[-10:] for prompt in marked} == set(same)


async def test_candidates_take_turns_at_each_level(tmp_path):
    with serve_in_process(Script(ttft_ms=1, tok_s=0, n=2)) as server:
        two = [someone(server.base_url, "a"), someone(server.base_url, "b")]
        levels = [level("users:1", n=2), level("users:2", n=2, candidates=("b",))]
        run = await loaded(server.base_url, tmp_path / "r", *levels, candidates=two)
    assert [(one["candidate"], one["level"]) for one in entries(run)] == [
        ("a", "users:1"),
        ("b", "users:1"),
        ("b", "users:2"),
    ]
    ends = [(one["start_ms"], one["drained_ms"]) for one in entries(run)]
    assert all(before[1] < after[0] for before, after in itertools.pairwise(ends))


def test_the_same_seed_asks_the_same_items_at_each_level():
    sets = {"toy": toy_evalset(20)}
    orders = [
        [Questions(one, candidate(), sets, "run").request(k).trial.item for k in range(20)]
        for one in (level("users:1", n=20), level("users:8", n=20), level("users:1", n=20, seed=1))
    ]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2])


async def test_a_route_falls_back_under_load_too(tmp_path):
    """The fast lane is down: each request of both users gets its answer from the strong one."""
    scripts = {"fast": Script(error="http", status=400), "strong": Script(ttft_ms=1, tok_s=0, n=2)}
    with serve_in_process(scripts) as server:
        fast, strong = (replace(someone(server.base_url, name), model=name) for name in scripts)
        policy = Policy("fast", "strong")
        both = Route(name="r", endpoint="route", model="fast → strong", policy=policy, fast=fast, strong=strong)
        run = await loaded(server.base_url, tmp_path / "r", level("users:2", n=6), candidates=[both])
    assert run.df["outcome"].tolist() == ["ok"] * 6
    assert all("fell_back_failed" in flags for flags in run.df["flags"])
    assert all(len(record.attempts) == 2 for record in run)


def test_items_that_say_cold_or_warm_say_so_in_the_record():
    items = tuple(Item(id=note, row={"q": "Question 1", "note": note, "prefix": "p"}) for note in ("cold", "warm"))
    evalset = replace(toy_evalset(1), items=items)
    asked = Questions(level("users:1", n=2, shuffled=False), candidate(), {"toy": evalset}, "run")
    cold, warm = asked.request(0), asked.request(1)
    assert [one.trial.load.note for one in (cold, warm)] == ["cold", "warm"]
    assert cold.prompts["a"] == warm.prompts["a"]  # the same line first: they begin alike


def test_a_trace_brings_its_own_lengths(tmp_path):
    """Of the items those are asked that are nearest in length; the limit of output is that of the row."""
    path = tmp_path / "trace.csv"
    path.write_text("arrival_s,input_tokens,output_tokens\n0,100,7\n1.5,900,9\n2,100,5\n", encoding="utf-8")
    how = arrivals(f"trace:{path}")
    evalset = trace_set(how)
    one = level(how.text, duration_s=how.span_s, evalset="trace", unique=False)
    asked = Questions(one, candidate(), {"trace": evalset}, "run")
    rows = list(how.schedule(0, how.span_s))
    prompts = [
        asked.request(k, n_tokens=row.input_tokens, max_tokens=row.output_tokens).prompts["a"]
        for k, row in enumerate(rows)
    ]
    assert [prompt.max_tokens for prompt in prompts] == [7, 9, 5]
    assert [approx_tokens(prompt) for prompt in prompts] == pytest.approx([100, 900, 100], rel=0.4)
    assert rows[1].at_ns - rows[0].at_ns == 1_500 * MS


def test_a_reply_of_no_tokens_in_a_trace_is_asked_for_as_one_of_one():
    asked = Questions(level(n=3), candidate(), {"toy": toy_evalset(4)}, "run")
    limits = [asked.request(0, max_tokens=n).prompts["a"].max_tokens for n in (0, 7, None)]
    assert limits == [1, 7, 64]


def test_a_trace_without_lengths_needs_no_texts_of_its_own(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text("arrival_s\n0\n1\n", encoding="utf-8")
    assert trace_set(arrivals(f"trace:{path}")) is None
