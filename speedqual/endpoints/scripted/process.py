"""The scripted endpoint in a process of its own, so that neither side's event loop is the other's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any, cast

from speedqual.endpoints.scripted.script import Script
from speedqual.endpoints.scripted.server import Scripts
from speedqual.errors import EndpointError, UsageError

__all__ = ["Served", "serve_in_process"]


@dataclass(frozen=True, slots=True)
class Served:
    """A scripted endpoint elsewhere. Its clock is this machine's: its times compare with ours."""

    host: str
    port: int
    pid: int

    @property
    def root_url(self) -> str:
        """Where the server is, without a path."""
        return f"http://{self.host}:{self.port}"

    @property
    def base_url(self) -> str:
        """For OpenAI-compatible clients; Ollama clients take ``root_url``."""
        return f"{self.root_url}/v1"

    def log(self) -> list[dict[str, Any]]:
        """Finished requests with their true send times; see ``ScriptedServer.log``."""
        return cast("list[dict[str, Any]]", self._get("/script/log"))

    def stats(self) -> dict[str, Any]:
        """The server's load; see ``ScriptedServer.stats``."""
        return cast("dict[str, Any]", self._get("/script/stats"))

    def _get(self, path: str) -> Any:
        connection = HTTPConnection(self.host, self.port, timeout=30)
        try:
            connection.request("GET", path)
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()


@contextmanager
def serve_in_process(
    scripts: Scripts | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    slots: int | None = None,
    api_key: str = "",
    core: int | None = None,
) -> Iterator[Served]:
    """Start the server, give its address, stop it at the end. ``core`` pins it to one CPU (Linux).

    A script's ``text`` must be a string here: a callable cannot cross over, rules can.
    """
    settings = {"scripts": scripts_to_dict(scripts), "host": host, "port": port, "slots": slots, "api_key": api_key}
    child = subprocess.Popen(
        [sys.executable, "-m", "speedqual.endpoints.scripted"],
        stdin=subprocess.PIPE,  # the child ends when this pipe closes
        stdout=subprocess.PIPE,
        start_new_session=True,  # an interrupted notebook cell or Ctrl-C stops the run, not who answers it
    )
    assert child.stdin is not None and child.stdout is not None
    try:
        if core is not None:
            os.sched_setaffinity(child.pid, {core})
        child.stdin.write(json.dumps(settings).encode() + b"\n")
        child.stdin.flush()
        ready = child.stdout.readline()
        if not ready:
            raise EndpointError("the scripted endpoint did not start", where=f"port {port}", fix="See its words above")
        yield Served(host, json.loads(ready)["port"], child.pid)
    finally:
        child.stdin.close()  # which is how it is told to stop
        try:
            child.wait(timeout=5)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        child.stdout.close()


def scripts_to_dict(scripts: Scripts | None) -> dict[str, list[dict[str, Any]]]:
    """Scripts as JSON: model → list of scripts."""
    by_model = {"*": scripts or Script()} if scripts is None or isinstance(scripts, Script) else scripts
    return {model: [_to_dict(s) for s in _listed(found)] for model, found in by_model.items()}


def scripts_from_dict(data: Mapping[str, Any]) -> dict[str, Sequence[Script]]:
    """The reverse."""
    return {model: [Script.from_dict(s) for s in found] for model, found in data.items()}


def _listed(found: Script | Sequence[Script]) -> Sequence[Script]:
    return [found] if isinstance(found, Script) else found


def _to_dict(script: Script) -> dict[str, Any]:
    if not isinstance(script.text, str):
        raise UsageError("text is a callable", where="serve_in_process", fix="Use rules, or ScriptedServer")
    return script.to_dict()
