"""The scripted endpoint: a server that plays scripts and knows when it really sent what."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from speedqual.endpoints.scripted.connection import Connection, HttpHead, as_json
from speedqual.endpoints.scripted.dialects import DIALECTS, Dialect
from speedqual.endpoints.scripted.plan import Plan, Step, plain_reply, plan_reply
from speedqual.endpoints.scripted.script import Asked, Script, script_from_words
from speedqual.errors import ConfigError

__all__ = ["ScriptedServer", "Scripts"]

Scripts = Script | Mapping[str, Script | Sequence[Script]]
"""One script for every model, or scripts by model (``*`` = any other); of several, each request gets the next one."""

_PREFIX = "script:"
_LOG_KEPT = 100_000
_PROMPT_KEPT = 80


class ScriptedServer:
    """``async with ScriptedServer(scripts) as server: server.base_url``. In the caller's loop: for tests of structure;
    where times matter use ``serve_in_process``.

    A model named ``script:ttft_ms=200,tok_s=50`` plays what its name says. ``slots``: so many replies at a time, the
    others queue. ``api_key``: refuse requests that do not bear it.
    """

    def __init__(
        self,
        scripts: Scripts | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        slots: int | None = None,
        api_key: str = "",
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._scripts: Mapping[str, Script | Sequence[Script]] = (
            {"*": scripts or Script()} if scripts is None or isinstance(scripts, Script) else scripts
        )
        self._host, self._port, self._tls, self._api_key = host, port, tls, api_key
        self._slots, self._waiting = slots, deque[Callable[[], None]]()
        self._served: dict[str, int] = {}
        self._server: asyncio.Server | None = None
        self._active = self._peak = self._writes = self._bytes = self._late_max_ns = 0
        self._cpu_ns = self._wall_ns = 0
        self.connections: set[Connection] = set()
        self.requests: deque[Asked] = deque(maxlen=_LOG_KEPT)
        self.entries: deque[dict[str, Any]] = deque(maxlen=_LOG_KEPT)

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: Connection(self), self._host, self._port, ssl=self._tls, backlog=4096
        )
        self._port = self._server.sockets[0].getsockname()[1]
        self._cpu_ns, self._wall_ns = time.process_time_ns(), time.perf_counter_ns()
        return self

    async def __aexit__(self, *exc: object) -> None:
        if self._server is not None:
            self._server.close()
        for connection in list(self.connections):
            connection.close()
        await asyncio.sleep(0)

    @property
    def root_url(self) -> str:
        """Where the server is, without a path."""
        return f"{'https' if self._tls else 'http'}://{self._host}:{self._port}"

    @property
    def base_url(self) -> str:
        """For OpenAI-compatible clients; Ollama clients take ``root_url``."""
        return f"{self.root_url}/v1"

    def log(self) -> list[dict[str, Any]]:
        """Finished requests: the beginning of ``prompt``, ``t_request`` (read completely), ``t_start`` (slot had),
        ``t_head``, ``sent`` and ``tokens`` of each write with text, ``t_end``, ``end``, ``blocked``. Times are
        ``perf_counter_ns``, read just before each write."""
        return list(self.entries)

    def stats(self) -> dict[str, Any]:
        """Load of the server since it started; ``busy`` is its share of one core."""
        cpu_ns, wall_ns = time.process_time_ns() - self._cpu_ns, time.perf_counter_ns() - self._wall_ns
        return {
            "requests": len(self.requests),
            "active": self._active,
            "peak_active": self._peak,
            "writes": self._writes,
            "bytes": self._bytes,
            "late_max_ms": self._late_max_ns / 1e6,
            "cpu_s": cpu_ns / 1e9,
            "wall_s": wall_ns / 1e9,
            "busy": cpu_ns / wall_ns if wall_ns else 0.0,
        }

    # ------------------------------------------------------------------------------ what a connection asks

    def look(self, path: str) -> bytes:
        """The reply to a GET."""
        names = [name for name in self._scripts if name != "*"] or ["scripted"]
        if path.endswith("/models"):
            return as_json({"object": "list", "data": [{"id": n, "object": "model"} for n in names]})
        if path.endswith("/api/tags"):
            return as_json({"models": [{"name": n, "model": n} for n in names]})
        if path == "/script/log":
            return as_json(self.log())
        if path == "/script/stats":
            return as_json(self.stats())
        if path == "/health":
            return as_json({"status": "ok"})
        return plain_reply(404, "application/json", b'{"error":{"message":"no such path"}}')

    def plan(self, head: HttpHead, body: bytes) -> tuple[Plan, dict[str, Any]]:
        """What to play, and the beginnings of its log entry."""
        dialect = next((d for end, d in DIALECTS.items() if head.path.partition("?")[0].endswith(end)), None)
        entry: dict[str, Any] = {"id": len(self.requests), "model": "", "sent": [], "tokens": [], "blocked": False}
        if dialect is None:
            return _error(404, f"no such path: {head.path}", "not_found", DIALECTS["/chat/completions"]), entry
        if self._api_key and head.headers.get("authorization") != f"Bearer {self._api_key}":
            return _error(401, "Incorrect API key provided", "invalid_api_key", dialect), entry
        try:
            asked = _asked(json.loads(body), head, self._served)
        except (ValueError, TypeError, AttributeError) as fault:
            return _error(400, f"unreadable request: {fault}", "invalid_request", dialect), entry
        self.requests.append(asked)
        entry |= {"model": asked.model, "prompt": asked.prompt[:_PROMPT_KEPT]}
        try:
            plan = plan_reply(self._script_for(asked), asked, dialect)
        except KeyError:
            return _error(404, f"The model `{asked.model}` does not exist", "model_not_found", dialect), entry
        except ConfigError as fault:
            return _error(400, str(fault), "invalid_script", dialect), entry
        return plan, entry | {"n_out": plan.n_out, "status": plan.status}

    def _script_for(self, asked: Asked) -> Script:
        if asked.model.startswith(_PREFIX):
            return script_from_words(asked.model.removeprefix(_PREFIX))
        found = self._scripts[asked.model] if asked.model in self._scripts else self._scripts["*"]
        return found if isinstance(found, Script) else found[asked.number % len(found)]

    def note_write(self, late_ns: int, size: int) -> None:
        """Count one write."""
        self._writes += 1
        self._bytes += size
        self._late_max_ns = max(self._late_max_ns, late_ns)

    def take_slot(self, start: Callable[[], None]) -> None:
        """Start now, or when a slot is free."""
        if self._slots is not None and self._active >= self._slots:
            self._waiting.append(start)
            return
        self._active += 1
        self._peak = max(self._peak, self._active)
        start()

    def finish(self, entry: dict[str, Any], start: Callable[[], None]) -> None:
        """A reply is over: log it and pass its slot on. One that never had a slot leaves the queue."""
        self.entries.append(entry)
        if "t_start" not in entry:
            self._waiting.remove(start)
            return
        self._active -= 1
        if self._waiting:
            self.take_slot(self._waiting.popleft())


def _asked(body: Any, head: HttpHead, served: dict[str, int]) -> Asked:
    model = str(body.get("model", ""))
    number = served.get(model, 0)
    served[model] = number + 1
    messages = tuple(body.get("messages") or ())
    options = body.get("options") or {}
    limits = (body.get("max_completion_tokens"), body.get("max_tokens"), options.get("num_predict"))
    is_ollama = head.path.endswith("/api/chat")
    wants_usage = is_ollama or not body.get("stream") or bool((body.get("stream_options") or {}).get("include_usage"))
    return Asked(
        model=model,
        prompt=_prompt(messages),
        messages=messages,
        max_tokens=next((v for v in limits if v), None),
        stream=bool(body.get("stream", is_ollama)),
        wants_usage=wants_usage,
        body=body,
        headers=head.headers,
        number=number,
    )


def _prompt(messages: tuple[Mapping[str, Any], ...]) -> str:
    """The text of the last user message."""
    content = next((m.get("content") for m in reversed(messages) if m.get("role") == "user"), "")
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content)
    return str(content or "")


def _error(status: int, message: str, code: str, dialect: Dialect) -> Plan:
    body = plain_reply(status, "application/json", dialect.error_body(message, code))
    return Plan((Step(0, "end", body),), "keep", 0, status)
