"""The live view: text while it streams, off the hot path."""

import asyncio

import pytest

from speedqual.endpoints.client import Client
from speedqual.endpoints.scripted import Script, ScriptedServer
from speedqual.records import Candidate, Message, Prompt

PROMPT = Prompt(messages=(Message("user", "Hello"),))


@pytest.mark.parametrize("endpoint", ["openai", "ollama"])
async def test_the_pieces_shown_are_the_whole_text_and_come_while_it_streams(endpoint):
    shown = []
    loop = asyncio.get_running_loop()
    script = Script(ttft_ms=10, tok_s=30, n=20, reasoning="let me think", text="好的, yes and so on. ")
    async with ScriptedServer(script) as server, Client(environ={}) as client:
        base_url = server.base_url if endpoint == "openai" else server.root_url
        candidate = Candidate(name="x", endpoint=endpoint, model="m", base_url=base_url)
        attempt = await client.ask(candidate, PROMPT, watch=lambda *piece: shown.append((loop.time(), *piece)))
    assert "".join(piece for _, channel, piece in shown if channel == "answer") == attempt.text
    assert (
        "".join(piece for _, channel, piece in shown if channel == "reasoning") == attempt.reasoning == "let me think"
    )
    assert shown[-1][0] - shown[0][0] > 0.3


async def test_a_view_that_fails_breaks_nothing():
    told = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: told.append(context["message"]))

    def broken(channel, piece):
        raise ZeroDivisionError

    async with ScriptedServer(Script(ttft_ms=1, tok_s=20, n=10)) as server, Client(environ={}) as client:
        candidate = Candidate(name="x", model="m", base_url=server.base_url)
        attempt = await client.ask(candidate, PROMPT, watch=broken)
    assert attempt.outcome == "ok"
    assert told == ["a live view failed"]


async def test_nothing_is_shown_of_a_reply_that_is_no_stream():
    shown = []
    async with ScriptedServer(Script(error="html", ttft_ms=300)) as server, Client(environ={}) as client:
        candidate = Candidate(name="x", model="m", base_url=server.base_url)
        await client.ask(candidate, PROMPT, watch=lambda *piece: shown.append(piece))
    assert shown == []
