"""The client against raw HTTP: whatever the transport does becomes an outcome, and connections are kept."""

import asyncio
import contextlib
import tracemalloc
import zlib
from collections.abc import AsyncIterator

import pytest

from speedqual.endpoints.client import Client, Deadlines
from speedqual.records import Candidate, Message, Prompt

PROMPT = Prompt(messages=(Message("user", "Hello"),), max_tokens=50)
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
DONE = b"data: [DONE]\n\n"
LAST = b"0\r\n\r\n"


def token(text: str, finish: str = "null") -> bytes:
    return f'data: {{"choices":[{{"index":0,"delta":{{"content":"{text}"}},"finish_reason":{finish}}}]}}\n\n'.encode()


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


STREAM = token("Hello") + token(" you", '"stop"') + DONE


class RawServer:
    """Answers the n-th request with the n-th script: bytes are sent, floats slept, "close" and "reset" end it."""

    def __init__(self, *scripts: list[bytes | float | str]) -> None:
        self.scripts, self.requests, self.connections = scripts, [], 0
        self.stop, self.open = asyncio.Event(), set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open.add(asyncio.current_task())
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                await self.one(reader, writer)
        writer.close()
        self.open.discard(asyncio.current_task())

    async def one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        size = next(int(h.split(b":")[1]) for h in head.split(b"\r\n") if h.lower().startswith(b"content-length"))
        self.requests.append((head, await reader.readexactly(size)))
        for step in self.scripts[min(len(self.requests), len(self.scripts)) - 1]:
            if isinstance(step, float):
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self.stop.wait(), step)
                    raise ConnectionError
            elif step == "reset":
                writer.transport.abort()
                raise ConnectionError
            elif step == "close":
                raise ConnectionError
            else:
                writer.write(step)
                await writer.drain()


@contextlib.asynccontextmanager
async def served(*scripts: list[bytes | float | str]) -> AsyncIterator[tuple[RawServer, Candidate]]:
    raw = RawServer(*scripts)
    server = await asyncio.start_server(raw.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        yield raw, Candidate(name="raw", model="m", base_url=f"http://127.0.0.1:{port}/v1")
        raw.stop.set()
        if raw.open:
            await asyncio.wait(raw.open, timeout=5)


async def ask_once(*script: bytes | float | str, **options: object):
    async with served(list(script)) as (raw, candidate), Client(environ={}, **options) as client:
        return raw, await client.ask(candidate, PROMPT)


FRAMINGS = {
    "one chunk": HEAD + chunk(STREAM) + LAST,
    "chunk extension and trailer": HEAD + b"%x;a=b\r\n%b\r\n0\r\nx: y\r\n\r\n" % (len(STREAM), STREAM),
    "content-length": b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n%b"
    % (len(STREAM), STREAM),
    "bare newlines": HEAD.replace(b"\r\n", b"\n") + chunk(STREAM) + LAST,
    "100 first": b"HTTP/1.1 100 Continue\r\n\r\n" + HEAD + chunk(STREAM) + LAST,
}


@pytest.mark.parametrize("name", FRAMINGS)
async def test_every_framing_gives_the_same_text_and_keeps_the_connection(name):
    async with served([FRAMINGS[name]]) as (raw, candidate), Client(environ={}) as client:
        first = await client.ask(candidate, PROMPT)
        second = await client.ask(candidate, PROMPT)
    assert (first.outcome, first.text, first.finish_reason) == ("ok", "Hello you", "stop")
    assert second.text == "Hello you"
    assert (first.timeline.connection, second.timeline.connection) == ("new", "reused")
    assert raw.connections == 1


async def test_bytes_one_by_one_give_the_same_text():
    whole = FRAMINGS["one chunk"]
    _, attempt = await ask_once(*[whole[i : i + 1] for i in range(len(whole))])
    assert (attempt.outcome, attempt.text) == ("ok", "Hello you")


async def test_a_body_that_the_closing_ends_is_whole():
    _, attempt = await ask_once(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n", STREAM, "close")
    assert (attempt.outcome, attempt.text) == ("ok", "Hello you")


async def test_compression_is_refused_and_survived():
    packer = zlib.compressobj(wbits=31)
    packed = packer.compress(STREAM) + packer.flush()
    head = HEAD.replace(b"transfer", b"content-encoding: gzip\r\ntransfer")
    raw, attempt = await ask_once(head, chunk(packed[:20]), 0.02, chunk(packed[20:]), LAST)
    assert (attempt.outcome, attempt.text) == ("ok", "Hello you")
    assert b"accept-encoding: identity" in raw.requests[0][0].lower()


ENDS = {
    "cut": ([HEAD + chunk(token("Hello")), 0.02, "close"], "disconnect", "Hello"),
    "reset": ([HEAD + chunk(token("Hello")), 0.05, "reset"], "disconnect", "Hello"),
    "short": (
        [
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 999\r\n\r\n" + token("Hello"),
            "close",
        ],
        "disconnect",
        "Hello",
    ),
    "no marker": ([HEAD + chunk(token("Hello")) + LAST], "cut_off", "Hello"),
    "broken framing": ([HEAD + chunk(token("Hello")) + b"zz\r\n", 1.0], "disconnect", "Hello"),
    "chunk too long": ([HEAD + b"2\r\nabcdef\r\n", 1.0], "", ""),
    "closed before the head": (["close"], "", ""),
    "no HTTP": ([b"SSH-2.0-OpenSSH_9.6\r\n\r\n", 1.0], "", ""),
    "half a head": ([b"HTTP/1.1 200 OK\r\ncontent-", "close"], "", ""),
}
FAILURES = {"disconnect", "unreachable", "not_stream", "cut_off"}


@pytest.mark.parametrize("name", ENDS)
async def test_no_broken_transport_is_a_short_fast_success(name):
    script, outcome, text = ENDS[name]
    _, attempt = await ask_once(*script)
    assert attempt.outcome in FAILURES
    if outcome:
        assert (attempt.outcome, attempt.text) == (outcome, text)


async def test_the_head_is_dated_apart_from_the_first_token():
    _, attempt = await ask_once(HEAD, 0.1, chunk(STREAM), LAST)
    line = attempt.timeline
    assert line.t_send < line.t_headers < line.events[0].t_ns
    assert line.events[0].t_ns - line.t_headers >= 90_000_000


async def test_after_the_end_marker_the_body_is_drained_so_that_the_connection_is_reused():
    script = [HEAD, chunk(STREAM), 0.05, LAST]
    async with served(script) as (raw, candidate), Client(environ={}) as client:
        await client.ask(candidate, PROMPT)
        again = await client.ask(candidate, PROMPT)
    assert again.timeline.connection == "reused"
    assert raw.connections == 1


async def test_a_body_that_does_not_end_is_left_a_tenth_of_a_second_after_the_end_marker():
    started = asyncio.get_running_loop().time()
    _, attempt = await ask_once(HEAD, chunk(STREAM), 5.0, LAST)
    assert (attempt.outcome, attempt.text) == ("ok", "Hello you")
    assert asyncio.get_running_loop().time() - started < 2


async def test_a_model_that_writes_the_end_marker_is_not_cut_short():
    _, attempt = await ask_once(HEAD, chunk(token("say data: [DONE] now")), 0.3, chunk(STREAM) + LAST)
    assert attempt.text == "say data: [DONE] nowHello you"


async def test_nothing_but_a_dead_kept_alive_connection_is_a_stale_one():
    good = [FRAMINGS["one chunk"]]
    async with served(good, ["close"], good) as (raw, candidate), Client(environ={}) as client:
        await client.ask(candidate, PROMPT)
        stale = await client.ask(candidate, PROMPT)
        after = await client.ask(candidate, PROMPT)
    assert "stale_connection" in stale.flags
    assert stale.retryable
    assert (after.outcome, after.timeline.connection) == ("ok", "new")
    assert len(raw.requests) == 3  # nothing was sent twice behind our back


async def test_a_server_that_closes_after_each_reply_gets_a_fresh_connection_for_each():
    """llama.cpp announces keep-alive and closes: no request may be lost in that."""
    closing = [FRAMINGS["one chunk"], 0.005, "close"]
    async with served(*[closing] * 4) as (raw, candidate), Client(environ={}) as client:
        attempts = [await client.ask(candidate, PROMPT) for _ in range(4)]
    assert [(a.outcome, a.timeline.connection) for a in attempts] == [("ok", "new")] * 4
    assert len(raw.requests) == 4


async def test_a_new_connection_that_dies_is_not_stale_and_neither_is_one_with_a_first_byte():
    _, attempt = await ask_once("close")
    assert "stale_connection" not in attempt.flags
    good = [FRAMINGS["one chunk"]]
    async with served(good, [b"HTTP/1.1 200", "close"]) as (_, candidate), Client(environ={}) as client:
        await client.ask(candidate, PROMPT)
        assert "stale_connection" not in (await client.ask(candidate, PROMPT)).flags


async def test_a_cancelled_call_closes_its_socket():
    async with served([HEAD, chunk(token("Hello")), 30.0]) as (raw, candidate), Client(environ={}) as client:
        task = asyncio.create_task(client.ask(candidate, PROMPT))
        await asyncio.sleep(0.2)
        assert raw.requests
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        reader_saw_it = await open_connections(client)
    assert reader_saw_it == 0


async def open_connections(client: Client) -> int:
    await asyncio.sleep(0.01)
    connector = client._session.connector
    return len(connector._acquired) + sum(len(c) for c in connector._conns.values())


DEADLINES = {
    "first_token": ([HEAD, chunk(b": ping\n\n"), 0.2, chunk(b": ping\n\n"), 9.0], {"first_token_s": 0.3}),
    "silence": ([HEAD, chunk(token("Hello")), 0.2, chunk(b": ping\n\n"), 9.0], {"silence_s": 0.3}),
    "total": ([HEAD, *[step for _ in range(99) for step in (chunk(token("x")), 0.05)]], {"total_s": 0.4}),
}


@pytest.mark.parametrize("name", DEADLINES)
async def test_each_deadline_ends_the_call_and_keeps_what_came(name):
    script, settings = DEADLINES[name]
    started = asyncio.get_running_loop().time()
    async with served(script) as (_, candidate), Client(environ={}, deadlines=Deadlines(**settings)) as client:
        attempt = await client.ask(candidate, PROMPT)
        assert await open_connections(client) == 0
    assert (attempt.outcome, attempt.deadline) == ("timeout", name)
    assert bool(attempt.text) == (name != "first_token")
    assert asyncio.get_running_loop().time() - started < 3


async def test_silence_is_no_deadline_while_tokens_come():
    script = [HEAD, *[step for _ in range(5) for step in (chunk(token("x")), 0.15)], chunk(STREAM), LAST]
    async with served(script) as (_, candidate), Client(environ={}, deadlines=Deadlines(silence_s=0.4)) as client:
        assert (await client.ask(candidate, PROMPT)).outcome == "ok"


async def test_a_line_of_64_mb_is_cut_off_in_bounded_memory():
    bulk = chunk(b"x" * (1 << 20))
    script = [HEAD, chunk(b"data: "), *[bulk] * 64, LAST]
    async with served(script) as (_, candidate), Client(environ={}, max_reply_bytes=8 << 20) as client:
        tracemalloc.start()
        try:
            attempt = await client.ask(candidate, PROMPT)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert attempt.outcome in FAILURES
    assert "8 MiB" in (attempt.error_message or "")
    assert peak < 48 << 20


async def test_redirects_are_refused_with_the_right_url():
    target = b"https://user:secret@elsewhere.example/v2/chat?token=abc"
    raw, attempt = await ask_once(b"HTTP/1.1 307 Moved\r\nlocation: %b\r\ncontent-length: 0\r\n\r\n" % target)
    assert (attempt.outcome, attempt.status) == ("http_error", 307)
    assert "https://elsewhere.example/v2/chat" in attempt.error_message
    assert "secret" not in attempt.error_message
    assert "token=abc" not in attempt.error_message
    assert len(raw.requests) == 1


async def test_more_than_a_hundred_streams_are_open_at_once():
    script = [HEAD, chunk(token("Hello")), 0.6, chunk(STREAM), LAST]
    async with served(script) as (raw, candidate), Client(environ={}) as client:
        attempts = await asyncio.gather(*(client.ask(candidate, PROMPT) for _ in range(150)))
    assert {a.outcome for a in attempts} == {"ok"}
    assert raw.connections == 150


async def test_nobody_there_is_unreachable():
    async with Client(environ={}) as client:
        refused = await client.ask(Candidate(name="x", model="m", base_url="http://127.0.0.1:9/v1"), PROMPT)
    assert refused.outcome == "unreachable"
    assert "http://127.0.0.1:9/v1" in refused.error_message
