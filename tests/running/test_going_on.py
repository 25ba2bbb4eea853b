"""What a second call may change and what not, and limits that hold when a server says nothing of tokens."""

import json
from dataclasses import replace

import pytest

from speedqual.errors import RunFolderError
from speedqual.records import Price, Timeline, Usage
from speedqual.running import Limits, Policy, Route, Run, Settings, evaluate
from speedqual.running.limits import spent
from speedqual.running.plan import lanes, make_plan

from .conftest import FakeClient, candidate, echo, failed, ok, toy_evalset

PRICE = Price(input_usd_per_mtok=1.0, output_usd_per_mtok=2.0)


def silent(who, prompt, number):
    """The right answer of a server that never counts tokens."""
    return replace(echo(who, prompt, number), usage=Usage())


async def test_a_resumed_run_is_paid_at_the_prices_it_began_with(tmp_path):
    asked = {"folder": tmp_path, "client": FakeClient(echo)}
    dear = replace(PRICE, input_usd_per_mtok=100.0)
    await evaluate([candidate()], [toy_evalset(4)], prices={"m": PRICE}, limits=Limits(requests=2), **asked)
    rest = await evaluate([candidate()], [toy_evalset(4)], prices={"m": dear}, resume=True, **asked)
    assert len(rest) == 4 and rest.df["cost_usd"].nunique() == 1
    assert Price.from_dict(rest.manifest["prices"]["a"]) == PRICE


async def test_a_price_that_was_unknown_may_be_told_later(tmp_path):
    asked = {"folder": tmp_path, "client": FakeClient(echo)}
    who = candidate(model="no-such-model")
    await evaluate([who], [toy_evalset(2)], limits=Limits(requests=1), **asked)
    rest = await evaluate([who], [toy_evalset(2)], prices={"a": PRICE}, resume=True, **asked)
    assert rest.df["cost_usd"].isna().sum() == 1
    assert Price.from_dict(rest.manifest["prices"]["a"]) == PRICE


async def test_each_call_keeps_its_own_settings(tmp_path):
    asked = {"folder": tmp_path, "client": FakeClient(echo)}
    await evaluate([candidate()], [toy_evalset(4)], limits=Limits(requests=2), **asked)
    run = await evaluate([candidate()], [toy_evalset(4)], concurrency=3, resume=True, **asked)
    assert [session["settings"]["concurrency"] for session in run.manifest["sessions"]] == [1, 3]
    assert run.manifest["sessions"][0]["settings"]["limits"]["requests"] == 2


@pytest.mark.parametrize("limits", [Limits(tokens=30), Limits(usd=60e-6)], ids=["tokens", "usd"])
async def test_a_limit_holds_when_the_server_counts_nothing(tmp_path, limits):
    run = await evaluate(
        [candidate()], [toy_evalset(50)], folder=tmp_path, client=FakeClient(silent), prices={"m": PRICE}, limits=limits
    )
    assert run.status == "stopped" and 1 <= len(run) < 10
    assert run.df["cost_usd"].isna().all()  # what limits guess is no measurement


def test_what_counts_against_a_limit():
    def prompt_tokens() -> int:
        return 100

    assert spent(ok(), prompt_tokens, PRICE) == (8, pytest.approx((5 * 1 + 3 * 2) / 1e6))
    unsaid = ok("four", usage=Usage(), reasoning="and thought")
    assert spent(unsaid, prompt_tokens, PRICE) == (104, pytest.approx((100 * 1 + 4 * 2) / 1e6))
    assert spent(replace(unsaid, cost_usd=0.5), prompt_tokens, PRICE) == (104, 0.5)
    assert spent(replace(unsaid, outcome="timeout"), prompt_tokens, None) == (104, 0.0)
    assert spent(failed(), prompt_tokens, PRICE) == (0, 0.0)


async def test_somebody_elses_timeout_is_not_taken_for_the_wall_limit(tmp_path):
    class Broken(FakeClient):
        async def ask(self, candidate, prompt, *, number=1, deadlines=None):
            raise TimeoutError("from a custom client")

    for limits in (Limits(), Limits(wall_s=60)):
        with pytest.raises(TimeoutError, match="custom client"):
            await evaluate(
                [candidate()], [toy_evalset()], folder=tmp_path / str(limits.wall_s), client=Broken(echo), limits=limits
            )
        assert Run.open(tmp_path / str(limits.wall_s)).status == "failed"


async def test_a_table_with_other_columns_is_made_again(tmp_path):
    import pyarrow.parquet as pq

    run = await evaluate([candidate()], [toy_evalset(2)], folder=tmp_path, client=FakeClient(echo))
    older = pq.read_table(run.layout.parquet)
    pq.write_table(older.drop_columns(["decay_ratio"]), run.layout.parquet)
    again = Run.open(tmp_path)
    assert again.df.equals(run.df)
    assert pq.read_table(run.layout.parquet).column_names == older.column_names


async def test_a_manifest_of_no_known_format_is_named(tmp_path):
    run = await evaluate([candidate()], [toy_evalset(2)], folder=tmp_path, client=FakeClient(echo))
    run.layout.manifest.write_text(json.dumps({**run.manifest, "format": "new"}))
    with pytest.raises(RunFolderError, match="no manifest of a run"):
        Run.open(tmp_path)


def test_a_route_holds_the_machines_of_both_its_lanes():
    a, b, c = (candidate(name, group=group) for name, group in (("a", "x + y"), ("b", "y"), ("c", "z")))
    route = Route(name="r", endpoint="route", policy=Policy("b", "c"), fast=b, strong=c)
    away = candidate("far")
    sharing = lanes(make_plan([a, b, c, route, away], [toy_evalset()], Settings()), Settings(), {})
    assert sharing == {
        "group x + y": (["a"], 1),
        "group y + z": (["b", "c", "r"], 1),
        "candidate far": (["far"], 1),
    }
    again = [a, replace(a, name="d"), route, b, c]
    names = [names for names, _ in lanes(make_plan(again, [toy_evalset()], Settings()), Settings(), {}).values()]
    assert names == [["a", "d"], ["r", "b", "c"]]


async def test_a_trial_that_never_reached_the_socket_has_no_start(tmp_path):
    lost = failed("unreachable", timeline=Timeline(), retryable=False)
    run = await evaluate([candidate()], [toy_evalset(1)], folder=tmp_path, client=FakeClient(lambda *_: lost))
    assert run.df["started_ms"].isna().all() and run.df["cost_usd"][0] == 0
