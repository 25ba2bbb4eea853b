"""Routes asked for real: a fast lane that is good, fails, stalls or answers badly, with a strong one behind it."""

import asyncio
import json
import time
from dataclasses import replace

import pytest

from speedqual.endpoints.scripted import Script, ScriptedServer
from speedqual.errors import ConfigError, RunFolderError, UsageError
from speedqual.evalsets.hashing import hashed
from speedqual.records import Attempt, Event, GraderSpec, Item, Price, Timeline
from speedqual.running import Limits, Policy, Retry, Route, Run, estimate, evaluate

from .conftest import FakeClient, candidate, echo, ok, toy_evalset

PRICES = {
    "fast": Price(input_usd_per_mtok=1.0, output_usd_per_mtok=1.0),
    "strong": Price(input_usd_per_mtok=10.0, output_usd_per_mtok=100.0),
}
AT_ONCE = Retry(base_s=0.001, jitter=0)


def right(asked) -> str:
    return asked.prompt.rpartition(" ")[2]


STRONG = Script(ttft_ms=10, tok_s=0, text=right)


def lanes(base_url: str = "https://example.test/v1", **fields):
    return [candidate(name, model=name, base_url=base_url, **fields) for name in ("fast", "strong")]


def route(fast, strong, **policy) -> Route:
    made = Policy("fast", "strong", **policy)
    return Route(name="r", endpoint="route", model="fast → strong", policy=made, fast=fast, strong=strong)


async def asked(tmp_path, fast: Script, strong: Script = STRONG, *, items: int = 1, evalset=None, **policy):
    """A run of a route alone, and its rows."""
    async with ScriptedServer({"fast": fast, "strong": strong}) as server:
        run = await evaluate(
            [route(*lanes(server.base_url), **policy)],
            [evalset or toy_evalset(items)],
            folder=tmp_path / "run",
            prices=PRICES,
            retry=AT_ONCE,
            preflight=False,
            warm_up=False,
        )
    return run, next(run.records)


def who(record) -> list[tuple[int, str, str]]:
    """Number, lane and outcome of each attempt."""
    return [(a.number, next(f for f in a.flags if f.startswith("lane_")), a.outcome) for a in record.attempts]


def usd(lane: str, prompt: int, out: int) -> float:
    price = PRICES[lane]
    return (prompt * price.input_usd_per_mtok + out * price.output_usd_per_mtok) / 1e6


async def test_a_good_fast_lane_is_all_that_is_asked_and_paid(tmp_path):
    run, record = await asked(tmp_path, Script(ttft_ms=20, tok_s=100, text=right), items=3)
    assert who(record) == [(1, "lane_fast", "ok")]
    assert list(run.df["success"]) == [True] * 3
    assert run.df["cost_usd"].tolist() == pytest.approx([usd("fast", 2, 1)] * 3)
    assert set(run.df["candidate"]) == {"r"} and set(run.df["endpoint"]) == {"route"}
    assert all("lane_fast" in flags.split() for flags in run.df["flags"])
    assert not any("fell_back" in flags or "perfect" in flags for flags in run.df["flags"])


async def test_a_checked_answer_is_shown_when_the_check_is_over(tmp_path):
    slow = Script(ttft_ms=20, tok_s=100, text="0 and some more words so that it takes a while to come")
    _, record = await asked(tmp_path, slow)
    line, metrics = record.last.timeline, record.metrics
    assert line.t_checked > line.events[-1].t_ns > line.events[0].t_ns
    shown = (line.t_checked - line.t_send) / 1e6
    assert [metrics[n] for n in ("ttft_ms", "ttfa_ms", "e2e_ms", "ttft_user_ms", "e2e_user_ms")] == [shown] * 5
    _, streamed = await asked(tmp_path / "2", slow, check=False)
    line = streamed.last.timeline
    assert line.t_checked is None
    assert streamed.metrics["ttft_ms"] == (line.events[0].t_ns - line.t_send) / 1e6 < streamed.metrics["e2e_ms"]


async def test_a_fast_lane_that_fails_is_not_tried_again(tmp_path):
    run, record = await asked(tmp_path, Script(error="http", status=500))
    assert who(record) == [(1, "lane_fast", "http_error"), (2, "lane_strong", "ok")]
    assert record.attempts[0].retryable
    assert {"lane_strong", "fell_back_failed"} <= set(run.df["flags"][0].split())
    assert run.df["success"][0]
    first, last = (attempt.timeline for attempt in record.attempts)
    assert record.metrics["ttft_ms"] == (last.events[0].t_ns - first.t_send) / 1e6
    assert record.metrics["e2e_ms"] == (last.events[-1].t_ns - first.t_send) / 1e6
    assert record.metrics["cost_usd"] == pytest.approx(usd("strong", 2, 1))  # a refused request costs nothing


@pytest.mark.timing
@pytest.mark.parametrize(
    "stall",
    [Script(error="silent"), Script(ttft_ms=5, tok_s=1000, n=50, error="hang", error_after=2), Script(tok_s=8, n=60)],
    ids=["silent", "hangs in mid-stream", "too slow"],
)
async def test_a_fast_lane_that_stalls_is_left_at_the_deadline(tmp_path, stall):
    run, record = await asked(tmp_path, stall, deadline_ms=400.0)
    assert who(record) == [(1, "lane_fast", "timeout"), (2, "lane_strong", "ok")]
    assert record.attempts[0].deadline == "total"
    assert "fell_back_late" in record.flags and run.df["success"][0]
    first, last = (attempt.timeline for attempt in record.attempts)
    assert 400 <= (last.t_send - first.t_begun) / 1e6 <= 550  # the deadline, and little more
    assert record.metrics["ttft_ms"] == (last.events[0].t_ns - first.t_send) / 1e6 >= 300
    assert record.metrics["cost_usd"] is None  # the endpoint did not say what it wrote until then
    assert record.missing["cost_usd"].startswith("attempt 1, fast: ")


async def test_a_fast_lane_that_cannot_be_reached_is_waited_for_as_well(tmp_path):
    class Dead(FakeClient):
        async def ask(self, candidate, prompt, *, number=1, deadlines=None):
            await asyncio.sleep(0.05 if candidate.name == "fast" else 0)
            if candidate.name == "fast":
                return ok("", outcome="unreachable", timeline=Timeline())
            t_ns = time.perf_counter_ns()
            return ok("0", timeline=Timeline(t_send=t_ns, events=(Event(t_ns + 1_000_000, "answer", "0", 1),)))

    run = await evaluate([route(*lanes())], [toy_evalset(1)], folder=tmp_path, client=Dead(echo))
    assert run.df["ttft_ms"][0] >= 51


@pytest.mark.parametrize(
    ("text", "finish", "reason"),
    [
        ("I'm sorry, but I can't help with that request.", "stop", "check_refused"),
        ("The answer is", "length", "check_truncated"),
        ("<think>so long", "stop", "check_truncated"),
    ],
)
async def test_a_fast_answer_that_the_check_turns_down(tmp_path, text, finish, reason):
    run, record = await asked(tmp_path, Script(ttft_ms=5, tok_s=0, text=text, finish_reason=finish))
    assert who(record) == [(1, "lane_fast", "ok"), (2, "lane_strong", "ok")]
    fast, strong = record.attempts
    assert {"rejected", reason} <= set(fast.flags)
    assert "fell_back_check" in record.flags and "rejected" not in record.flags
    assert fast.text == text and run.df["success"][0]
    assert record.metrics["ttft_ms"] == (strong.timeline.events[0].t_ns - fast.timeline.t_send) / 1e6
    assert record.metrics["cost_usd"] == pytest.approx(usd("fast", 2, fast.usage.n_out) + usd("strong", 2, 1))
    assert record.metrics["attempts"] == 2


async def test_an_empty_reply_is_a_failure_of_the_fast_lane(tmp_path):
    _, record = await asked(tmp_path, Script(error="empty"), check=False)
    assert who(record) == [(1, "lane_fast", "empty"), (2, "lane_strong", "ok")]


async def test_a_form_alone_says_nothing_of_the_content(tmp_path):
    wrong = Script(ttft_ms=5, tok_s=0, text="17")
    run, record = await asked(tmp_path, wrong)
    assert who(record) == [(1, "lane_fast", "ok")] and not run.df["success"][0]
    _, record = await asked(tmp_path / "perfect", wrong, perfect=True)
    assert who(record) == [(1, "lane_fast", "ok"), (2, "lane_strong", "ok")]
    assert "check_wrong" in record.attempts[0].flags and record.grade.score == 1.0
    assert "assumes_perfect_check" in record.flags


async def test_when_both_fail_the_strong_lane_is_tried_as_often_as_any(tmp_path):
    broken = Script(error="http", status=503)
    run, record = await asked(tmp_path, broken, broken)
    assert who(record) == [(1, "lane_fast", "http_error")] + [(n, "lane_strong", "http_error") for n in (2, 3, 4)]
    row = run.df.iloc[0]
    assert (row["outcome"], row["verdict"], row["attempts"]) == ("http_error", "", 4)
    assert row[["ttft_ms", "e2e_ms"]].isna().all() and row["cost_usd"] == 0


async def test_a_rejected_answer_is_not_measured_when_the_strong_lane_fails(tmp_path):
    run, record = await asked(tmp_path, Script(ttft_ms=1, text="Sorry, I cannot help with that."), Script(error="cut"))
    assert who(record)[0] == (1, "lane_fast", "ok")
    assert run.df["outcome"][0] == "disconnect" and run.df["ttft_ms"].isna()[0] and run.df["score"].isna()[0]


async def test_the_policy_chooses_by_what_is_known_of_the_item(tmp_path):
    items = [
        Item(id=t, row={"q": f"Question {k}"}, target={"answer": str(k)}, difficulty=t)
        for k, t in enumerate(("easy", "hard"))
    ]
    evalset = toy_evalset(items=tuple(items))
    quick = Script(ttft_ms=1, tok_s=0, text=right)
    run, _ = await asked(tmp_path, quick, evalset=evalset, column="difficulty", values=("easy",))
    flags = run.df.set_index("item")["flags"]
    assert "lane_fast" in flags["easy"] and "lane_strong" in flags["hard"]
    assert not any("fell_back" in words for words in flags)
    with pytest.raises(
        ConfigError, match=r"candidate 'r': the policy chooses by 'colour', and no item of toy has that"
    ):
        await asked(tmp_path / "2", quick, evalset=evalset, column="colour", values=("red",))


async def test_broken_json_and_broken_code_fall_back(tmp_path):
    target = Item(id="x", row={"text": "n is 1"}, target={"n": 1})
    given = toy_evalset(items=(target,), prompt="{text}")
    extraction = hashed(replace(given, task="extraction", grader=GraderSpec(name="extraction")))
    good = Script(ttft_ms=1, tok_s=0, text='{"n": 1}')
    run, record = await asked(tmp_path, Script(ttft_ms=1, tok_s=0, text='{"n": '), good, evalset=extraction)
    assert "check_not_json" in record.attempts[0].flags and run.df["success"][0]

    tests = {"entry_point": "f", "cases": [{"args": [1], "expect": 2}]}
    program = Item(id="y", row={"text": "Write f", "tests": tests})
    code = hashed(replace(toy_evalset(items=(program,), prompt="{text}"), task="code"))
    good = Script(ttft_ms=1, tok_s=0, text="```python\ndef f(x):\n    return x + 1\n```")
    bad = Script(ttft_ms=1, tok_s=0, text="```python\ndef f(x):\n    return x +\n```")
    for number, fast in enumerate((bad, good)):
        async with ScriptedServer({"fast": fast, "strong": good}) as server:
            both = lanes(server.base_url)
            run = await evaluate([route(*both)], [code], folder=tmp_path / f"c{number}", grade=False)
        flags = [flag for attempt in next(run.records).attempts for flag in attempt.flags]
        assert ("check_does_not_parse" in flags) == (fast is bad)


async def test_a_route_beside_its_lanes_is_one_candidate_of_three(tmp_path):
    async with ScriptedServer({"fast": Script(error="http"), "strong": STRONG}) as server:
        both = lanes(server.base_url)
        run = await evaluate(
            [*both, route(*both)], [toy_evalset(3)], folder=tmp_path, prices=PRICES, preflight=False, retry=AT_ONCE
        )
    rows = run.df.groupby("candidate")
    assert rows.size().to_dict() == {"fast": 3, "strong": 3, "r": 3}
    assert rows["success"].sum().to_dict() == {"fast": 0, "strong": 3, "r": 3}
    assert run.manifest["prices"].keys() == {"fast", "strong"}
    assert run.candidates == Run.open(tmp_path).candidates == (*both, route(*both))


async def test_a_limit_between_the_lanes_leaves_the_trial_unfinished_and_resuming_asks_it_whole(tmp_path):
    def refusing(who, prompt, number) -> Attempt:
        return ok("I'm sorry, I can't help with that.") if who.name == "fast" else echo(who, prompt, number)

    client = FakeClient(refusing)
    made = route(*lanes())
    run = await evaluate([made], [toy_evalset(3)], folder=tmp_path, client=client, limits=Limits(requests=3))
    assert (run.status, len(run)) == ("stopped", 1)
    # the folder alone is enough to go on: no policy file is read
    run = await evaluate(run.candidates, run.evalsets, folder=tmp_path, client=client, resume=True)
    assert (run.status, len(run)) == ("finished", 3)
    assert [(name, number) for name, _, number in client.asked] == [("fast", 1), ("strong", 2), ("fast", 1)] + [
        ("fast", 1),
        ("strong", 2),
    ] * 2
    other = route(*lanes(), deadline_ms=5.0)
    with pytest.raises(RunFolderError, match="other candidates"):
        await evaluate([other], [toy_evalset(3)], folder=tmp_path, client=client, resume=True)


async def test_a_cancelled_route_keeps_what_was_finished(tmp_path):
    hung = asyncio.Event()

    class Hanging(FakeClient):
        async def ask(self, candidate, prompt, *, number=1, deadlines=None):
            if candidate.name == "strong" and len(self.asked) > 3:
                hung.set()
                await asyncio.sleep(60)
            return await super().ask(candidate, prompt, number=number)

    def failing(who, prompt, number) -> Attempt:
        return ok("", outcome="http_error") if who.name == "fast" else echo(who, prompt, number)

    task = asyncio.create_task(evaluate([route(*lanes())], [toy_evalset(4)], folder=tmp_path, client=Hanging(failing)))
    await hung.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (Run.open(tmp_path).status, len(Run.open(tmp_path))) == ("interrupted", 2)
    client = FakeClient(failing)
    run = await evaluate([route(*lanes())], [toy_evalset(4)], folder=tmp_path, client=client, resume=True)
    assert (len(run), len(client.asked), run.df["item"].nunique()) == (4, 4, 4)


def test_the_identity_is_the_policy_and_both_lanes():
    fast, strong = lanes()
    one = route(fast, strong)
    assert one.id == Route.from_dict(json.loads(json.dumps(one.to_dict()))).id
    renamed = Route(
        name="x", policy=Policy("f", "strong"), fast=candidate("f", model="fast"), strong=strong, model="other"
    )
    assert renamed.id == one.id
    others = [
        route(fast, strong, deadline_ms=1.0),
        route(fast, strong, check=False),
        route(fast, strong, perfect=True),
        route(fast, strong, column="difficulty", values=("easy",)),
        route(candidate("fast", model="fast", params={"seed": 1}), strong),
        route(strong, fast),
    ]
    assert len({one.id, *(other.id for other in others)}) == 7


async def test_a_policy_file_finds_its_lanes_by_name(tmp_path):
    Policy("fast", "strong").save(tmp_path / "policy.json")
    named = f"route:{tmp_path / 'policy.json'}"
    run = await evaluate([*lanes(), named], [toy_evalset(2)], folder=tmp_path / "run", client=FakeClient(echo))
    assert sorted(set(run.df["candidate"])) == sorted(["fast", "strong", named])
    assert run.candidates[2].fast == run.candidates[0]
    with pytest.raises(ConfigError, match=r"policy\.json: the policy needs a candidate 'strong' and there is none"):
        await evaluate([lanes()[0], named], [toy_evalset(2)], client=FakeClient(echo))
    Policy("fast", "fast").save(tmp_path / "policy.json")
    with pytest.raises(ConfigError, match="the same candidate"):
        await evaluate([*lanes(), named], [toy_evalset(2)], client=FakeClient(echo))
    Policy("fast", named).save(tmp_path / "policy.json")
    with pytest.raises(ConfigError, match="is a route itself"):
        await evaluate([*lanes(), named], [toy_evalset(2)], client=FakeClient(echo))
    with pytest.raises(UsageError, match="two candidates are named 'fast'"):
        await evaluate([lanes()[1], route(*lanes()), candidate("fast", model="other")], [toy_evalset(2)])


def test_an_estimate_counts_both_lanes_and_their_prices():
    route_row = estimate([route(*lanes())], [toy_evalset(4)], prices=PRICES).rows[0]
    rows = estimate(lanes(), [toy_evalset(4)], prices=PRICES).rows
    assert (route_row.candidate, route_row.requests) == ("r", 8)
    assert route_row.usd == pytest.approx(sum(row.usd for row in rows))
    passed_by = route(*lanes(), column="difficulty", values=("easy",))
    assert estimate([passed_by], [toy_evalset(4)], prices=PRICES).rows[0].usd == pytest.approx(rows[1].usd)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"send_to_fast": {"values": ["easy"]}}, "send_to_fast names no column"),
        ({"send_to_fast": {"column": "difficulty", "values": "easy"}}, "send_to_fast names no column"),
        ({"fall_back": ["check"]}, "fall_back is no object"),
        ({"fall_back": {"deadline_ms": 0}}, "deadline_ms is 0"),
        ({"fall_back": {"deadline_ms": "soon"}}, "deadline_ms is 'soon'"),
        ({"fall_back": {"assumes": "luck"}}, "'luck' is nothing"),
        ({"strong": ""}, "strong is missing"),
    ],
)
def test_a_policy_with_a_slip_says_where(change, words):
    with pytest.raises(ConfigError, match=words):
        Policy.from_dict({**Policy("fast", "strong").to_dict(), **change})


def test_a_perfect_check_is_labelled_so():
    perfect = Policy("fast", "strong", perfect=True)
    assert perfect.to_dict()["fall_back"]["assumes"] == "perfect check"
    assert Policy.from_dict(perfect.to_dict()) == perfect
    assert "assumes" not in Policy("fast", "strong").to_dict()["fall_back"]
