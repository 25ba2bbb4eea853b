"""A stream that a deadline cut off keeps all its stamps."""

import pytest

from speedqual.endpoints.client import Client, Deadlines
from speedqual.endpoints.scripted import Script, ScriptedServer
from speedqual.records import Candidate, Message, Prompt

HELLO = Prompt(messages=(Message(role="user", content="hello"),))


@pytest.mark.parametrize(
    ("script", "limits", "deadline"),
    [
        (Script(ttft_ms=5, tok_s=20, n=200), {"total_s": 0.4}, "total"),
        (Script(ttft_ms=5, tok_s=1000, n=20, error="hang", error_after=5), {"silence_s": 0.2}, "silence"),
        (Script(error="silent"), {"total_s": 0.3}, "total"),
    ],
)
async def test_the_start_of_a_stream_outlives_its_deadline(script, limits, deadline):
    async with ScriptedServer({"m": script}) as server, Client() as client:
        attempt = await client.ask(
            Candidate(name="m", model="m", base_url=server.base_url), HELLO, deadlines=Deadlines(**limits)
        )
    line = attempt.timeline
    assert (attempt.outcome, attempt.deadline) == ("timeout", deadline)
    assert line.t_send is not None and line.t_send < line.t_close
    assert all(line.t_send < event.t_ns <= line.t_close for event in line.events)
    assert bool(line.events) == (script.error != "silent")
