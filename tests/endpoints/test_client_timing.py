"""The client's stamps against the true send times of a server in another process, with slack for a busy machine."""

import asyncio
import socket
import ssl
import sys
import time
from pathlib import Path
from statistics import median

import aiohttp
import pytest

from speedqual.endpoints import client as client_module
from speedqual.endpoints.client import Client
from speedqual.endpoints.scripted import Script, ScriptedServer, serve_in_process
from speedqual.endpoints.slot import Slot
from speedqual.endpoints.transport import call, sockets
from speedqual.endpoints.transport.connection import Exchange
from speedqual.records import Candidate, Message, Prompt

PROMPT = Prompt(messages=(Message("user", "Hello"),))
TLS = Path(__file__).parent / "tls"
LINUX = sys.platform.startswith("linux")


def errors_ms(attempts, log):
    """Stamp − logged send of each token, requests matched by their order of sending."""
    sent = sorted(log, key=lambda entry: entry["t_request"])
    seen = sorted(attempts, key=lambda attempt: attempt.timeline.t_send)
    pairs = [
        (e.t_ns, t)
        for a, entry in zip(seen, sent, strict=True)
        for e, t in zip(a.timeline.events, entry["sent"], strict=True)
    ]
    return [(got - true) / 1e6 for got, true in pairs]


@pytest.mark.timing
async def test_arrivals_are_dated_within_a_fraction_of_a_millisecond():
    with serve_in_process(Script(ttft_ms=50, tok_s=100, n=20)) as server:
        candidate = Candidate(name="x", model="m", base_url=server.base_url)
        async with Client(environ={}) as client:
            await client.warm_up(candidate)
            attempts = [await client.ask(candidate, PROMPT) for _ in range(3)]
        errors = errors_ms(attempts, server.log()[1:])
    assert min(errors) > -0.1  # nothing arrives before it is sent
    assert median(errors) < (0.5 if LINUX else 2)
    assert {a.timeline.stamp for a in attempts} == {"kernel" if LINUX else "data_received"}


@pytest.mark.timing
@pytest.mark.skipif(not LINUX, reason="kernel stamps are Linux only")
async def test_a_blocked_loop_does_not_date_bytes_late():
    with serve_in_process(Script(ttft_ms=100, tok_s=10, n=3)) as server:
        candidate = Candidate(name="x", model="m", base_url=server.base_url)
        async with Client(environ={}) as client:
            await client.warm_up(candidate)
            task = asyncio.create_task(client.ask(candidate, PROMPT))
            await asyncio.sleep(0.06)
            time.sleep(0.07)  # noqa: ASYNC251  the first token comes meanwhile
            attempt = await task
        errors = errors_ms([attempt], server.log()[1:])
    assert errors[0] < 5  # by our own clock it would have been about 30
    assert attempt.timeline.client_lag_ns > 40_000_000


async def test_the_start_is_when_the_request_goes_out_not_when_the_connection_opens():
    async with ScriptedServer(Script(ttft_ms=20, tok_s=0)) as server, Client(environ={}) as client:
        candidate = Candidate(name="x", model="m", base_url=server.base_url)
        first, second = [await client.ask(candidate, PROMPT, slot=Slot(t_sched=7)) for _ in range(2)]
    for attempt, entry in zip((first, second), server.log(), strict=True):
        assert attempt.timeline.t_send <= entry["t_request"]
        assert attempt.timeline.t_sched == 7
    assert first.timeline.connection == "new"
    assert second.timeline.connection == "reused"
    assert second.timeline.t_send > first.timeline.t_close


async def test_a_connection_given_to_the_next_request_keeps_the_start_of_the_last():
    first, second = (Exchange((), lambda: False, 1000) for _ in range(2))
    sock = sockets.StampedSocket(socket.AF_INET, socket.SOCK_STREAM, 0)
    with sock:
        first.begin(sock, reused=False)
        sock.t_send = 5
        first.end("eof")
        second.begin(sock, reused=True)
        assert (first.t_send, second.t_send) == (5, None)


async def test_stamps_are_refused_when_the_wall_clock_steps(monkeypatch):
    offsets = iter([0, 10**9])
    true_offset = sockets.realtime_offset_ns()
    monkeypatch.setattr(call, "realtime_offset_ns", lambda: true_offset + next(offsets))
    async with ScriptedServer(Script(ttft_ms=20, tok_s=0)) as server, Client(environ={}) as client:
        attempt = await client.ask(Candidate(name="x", model="m", base_url=server.base_url), PROMPT)
    assert attempt.timeline.stamp == "data_received"
    assert attempt.timeline.t_send < attempt.timeline.events[0].t_ns


async def test_without_kernel_stamps_our_own_clock_dates_the_reads_and_says_so(monkeypatch):
    monkeypatch.setattr(sockets.StampedSocket, "stamp_arrivals", lambda self: False)
    async with ScriptedServer(Script(ttft_ms=20, tok_s=0)) as server, Client(environ={}) as client:
        attempt = await client.ask(Candidate(name="x", model="m", base_url=server.base_url), PROMPT)
        assert client.health().stamps == {"data_received": 1}
    assert attempt.outcome == "ok"
    assert attempt.timeline.stamp == "data_received"


async def test_without_our_protocol_replies_are_read_all_the_same_and_the_stamp_says_so(monkeypatch):
    monkeypatch.setattr(client_module, "make_connector", lambda book, **options: aiohttp.TCPConnector(limit=0))
    scripts = {"good": Script(ttft_ms=20, tok_s=0, n=3), "cut": Script(ttft_ms=20, error="cut", error_after=2)}
    async with ScriptedServer(scripts) as server, Client(environ={}) as client:
        good, cut = [
            await client.ask(Candidate(name="x", model=model, base_url=server.base_url), PROMPT) for model in scripts
        ]
    assert (good.outcome, cut.outcome) == ("ok", "disconnect")
    assert good.timeline.stamp == "task"
    assert good.timeline.t_send < good.timeline.events[0].t_ns


async def test_tls_is_stamped_like_plain_text(monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(TLS / "cert.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / "cert.pem", TLS / "key.pem")
    async with ScriptedServer(Script(ttft_ms=30, tok_s=200, n=10), tls=context) as server, Client(environ={}) as client:
        candidate = Candidate(name="x", model="m", base_url=server.base_url)
        attempts = [await client.ask(candidate, PROMPT) for _ in range(2)]
        errors = errors_ms(attempts, server.log())
    assert [a.outcome for a in attempts] == ["ok", "ok"]
    assert {a.timeline.stamp for a in attempts} == {"kernel" if LINUX else "data_received"}
    assert attempts[1].timeline.connection == "reused"
    assert min(errors) > -0.1
    assert median(errors) < 10


async def test_a_certificate_that_is_not_trusted_makes_it_unreachable(monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / "cert.pem", TLS / "key.pem")
    async with ScriptedServer(Script(), tls=context) as server, Client(environ={}) as client:
        attempt = await client.ask(Candidate(name="x", model="m", base_url=server.base_url), PROMPT)
    assert attempt.outcome == "unreachable"
    assert "certificate" in attempt.error_message


async def test_events_of_one_read_share_its_stamp_and_are_counted_as_merged():
    script = Script(ttft_ms=10, tok_s=1000, n=8, chunks_per_write=4)
    async with ScriptedServer(script) as server, Client(environ={}) as client:
        attempt = await client.ask(Candidate(name="x", model="m", base_url=server.base_url), PROMPT)
        health = client.health()
    events = attempt.timeline.events
    assert len({e.t_ns for e in events[:4]}) == 1
    assert health.merged_share == 1.0


async def test_the_health_of_the_client_is_told():
    async with ScriptedServer(Script(ttft_ms=10, tok_s=1000, n=8)) as server, Client(environ={}) as client:
        for _ in range(3):
            await client.ask(Candidate(name="x", model="m", base_url=server.base_url), PROMPT)
        health = client.health()
    assert health.requests == 3
    assert health.connections == {"new": 1, "reused": 2}
    assert health.trust_env is False
    assert 0 < health.cpu_share < 2
    assert health.queued_to_sent_ms_p99 >= health.queued_to_sent_ms_p50 > 0
