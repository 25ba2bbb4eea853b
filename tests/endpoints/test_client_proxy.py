"""Proxies of the environment: unused unless asked for, and right when they are."""

import asyncio
import contextlib
import ssl
from pathlib import Path

import pytest

from speedqual.endpoints.client import Client
from speedqual.endpoints.scripted import Script, ScriptedServer
from speedqual.records import Candidate, Message, Prompt

PROMPT = Prompt(messages=(Message("user", "Hello"),))
TLS = Path(__file__).parent / "tls"


class Proxy:
    """An HTTP proxy that knows CONNECT and absolute URLs."""

    def __init__(self):
        self.asked = []

    async def serve(self, reader, writer):
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            head = await reader.readuntil(b"\r\n\r\n")
            method, target, _ = head.split(b" ", 2)
            self.asked.append(method.decode())
            host = target if method == b"CONNECT" else target.split(b"/")[2]
            name, port = host.decode().split(":")
            far_reader, far_writer = await asyncio.open_connection(name, int(port))
            if method == b"CONNECT":
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                far_writer.write(head)
            await asyncio.gather(self.pump(reader, far_writer), self.pump(far_reader, writer))
        writer.close()

    async def pump(self, reader, writer):
        while data := await reader.read(1 << 16):
            writer.write(data)
        writer.close()


@contextlib.asynccontextmanager
async def proxied(monkeypatch):
    proxy = Proxy()
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.setenv(name, url)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    async with server:
        yield proxy


@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize("trust_env", [False, True])
async def test_a_proxy_is_used_only_when_the_environment_is_trusted(monkeypatch, tls, trust_env):
    monkeypatch.setenv("SSL_CERT_FILE", str(TLS / "cert.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) if tls else None
    if context is not None:
        context.load_cert_chain(TLS / "cert.pem", TLS / "key.pem")
    script = Script(ttft_ms=30, tok_s=100, n=5)
    async with proxied(monkeypatch) as proxy, ScriptedServer(script, tls=context) as server:
        async with Client(environ={}, trust_env=trust_env) as client:
            candidate = Candidate(name="x", model="m", base_url=server.base_url)
            attempts = [await client.ask(candidate, PROMPT) for _ in range(2)]
            assert client.health().trust_env is trust_env
        await asyncio.sleep(0.05)
    assert [(a.outcome, len(a.timeline.events)) for a in attempts] == [("ok", 5), ("ok", 5)]
    assert [a.timeline.connection for a in attempts] == ["new", "reused"]
    assert proxy.asked == ([] if not trust_env else ["CONNECT"] if tls else ["POST"])
