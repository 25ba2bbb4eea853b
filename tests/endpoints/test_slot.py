"""An end that several replies share, and that may be brought forward while they come."""

import asyncio
import time

from speedqual.endpoints.client import Client
from speedqual.endpoints.deadlines import Deadlines
from speedqual.endpoints.scripted import Script, ScriptedServer
from speedqual.endpoints.slot import Slot, Until
from speedqual.records import Candidate, Message, Prompt

PROMPT = Prompt(messages=(Message("user", "Hello"),))


def test_an_end_only_moves_forward_and_tells_those_who_follow():
    until, told = Until(), []
    until.follow(lambda: told.append(until.by_ns))
    for by_ns in (100, 200, 50, 50):
        until.bring_forward(by_ns)
    assert until.by_ns == 50
    assert told == [100, 50]
    assert (until.before(49), until.before(50)) == (False, True)
    assert Until().before(10**18) is False


async def test_who_left_is_told_nothing():
    until, told = Until(), []

    def moved() -> None:
        told.append(1)

    until.follow(moved)
    until.leave(moved)
    until.bring_forward(5)
    assert told == []


async def test_replies_in_flight_end_when_their_end_is_brought_forward():
    async with ScriptedServer(Script(ttft_ms=1, tok_s=50, n=10_000)) as server, Client(environ={}) as client:
        candidate = Candidate(name="x", model="m", base_url=server.base_url)
        until = Until(time.perf_counter_ns() + 3600 * 10**9)
        asking = [asyncio.create_task(client.ask(candidate, PROMPT, slot=Slot(until=until))) for _ in range(3)]
        await asyncio.sleep(0.3)
        moved_ns = time.perf_counter_ns()
        until.bring_forward(moved_ns + 200_000_000)
        attempts = await asyncio.wait_for(asyncio.gather(*asking), 20)
    for attempt in attempts:
        assert (attempt.outcome, attempt.deadline) == ("timeout", "total")
        assert attempt.timeline.t_close >= moved_ns + 200_000_000
        assert attempt.timeline.events


async def test_an_end_that_has_passed_leaves_an_attempt_to_keep():
    async with ScriptedServer(Script(ttft_ms=60_000)) as server, Client(environ={}) as client:
        candidate = Candidate(name="x", model="m", base_url=server.base_url)
        attempt = await client.ask(candidate, PROMPT, slot=Slot(until=Until(0)), deadlines=Deadlines())
    assert (attempt.outcome, attempt.deadline) == ("timeout", "total")


async def test_the_end_of_a_whole_reply_is_told_before_it_is_read_and_that_of_a_refusal_is_not():
    told: list[int] = []
    scripts = {"good": Script(ttft_ms=1, tok_s=0, n=3), "bad": Script(error="http", status=503)}
    async with ScriptedServer(scripts) as server, Client(environ={}) as client:
        for model in scripts:
            candidate = Candidate(name=model, model=model, base_url=server.base_url)
            slot = Slot(over=lambda: told.append(time.perf_counter_ns()))
            attempt = await client.ask(candidate, PROMPT, slot=slot)
            if model == "good":
                assert told[0] >= attempt.timeline.t_end
    assert len(told) == 1
