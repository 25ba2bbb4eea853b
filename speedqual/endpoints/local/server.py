"""The llama.cpp server in a process of its own, so that decoding never shares an interpreter with the clock."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from speedqual.errors import MissingDependencyError, UnreachableError, UsageError

__all__ = ["LocalServer", "default_threads"]

START_S = 120.0  # a 100 MB model is there in one second; a big one from a cold disk takes its time


def default_threads() -> int:
    """All cores but one: with every core taken, decoding stalls for seconds whenever anything else runs."""
    return max(1, len(os.sched_getaffinity(0)) - 1 if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 2) - 1)


@dataclass
class LocalServer:
    """Serves one GGUF file over loopback, OpenAI-compatible. A context manager; ``base_url`` is set while it runs.

    ``slots`` prompts are kept side by side in the prefix cache, each with ``n_ctx`` tokens of context.
    """

    model: Path
    alias: str = ""
    threads: int = field(default_factory=default_threads)
    n_ctx: int = 2048
    slots: int = 1
    port: int = 0
    base_url: str = field(default="", init=False)
    _child: subprocess.Popen[str] | None = field(default=None, init=False, repr=False)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start the child and wait until it answers. Raises when the engine or the file is not usable."""
        if not self.model.is_file():
            raise UsageError(
                f"no model file {self.model.name}", fix="speedqual local list shows the files that are there"
            )
        settings = {
            "model": str(self.model),
            "alias": self.alias or self.model.stem,
            "threads": self.threads,
            "n_ctx": self.n_ctx * self.slots,
            "slots": self.slots,
            "port": self.port,
        }
        self._child = subprocess.Popen(
            [sys.executable, "-m", "speedqual.endpoints.local.engine", json.dumps(settings)],
            stdin=subprocess.PIPE,  # the child ends when this pipe closes, whatever ends us
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,  # Ctrl-C is ours to handle: the run stops first, the engine after it
        )
        try:
            self.base_url = self._wait_for_address()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End the child. Safe to call twice."""
        child, self._child, self.base_url = self._child, None, ""
        if child is None:
            return
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                pipe.close()
        try:
            child.wait(timeout=2)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()

    def _wait_for_address(self) -> str:
        assert self._child is not None and self._child.stdout is not None
        until = time.monotonic() + START_S
        while time.monotonic() < until:
            ready, _, _ = select.select([self._child.stdout], [], [], 0.2)
            if ready:
                return self._read_address(self._child.stdout.readline())
        raise UnreachableError(f"the local engine did not start within {START_S:.0f} s", where=self.model.name)

    def _read_address(self, line: str) -> str:
        said = json.loads(line) if line.startswith("{") else {}
        if "address" in said:
            return f"{said['address']}/v1"
        if said.get("error") == "no engine":
            raise MissingDependencyError(
                "the engine xllamacpp is not installed", fix="Install the extra: pip install 'speedqual[local]'"
            )
        raise UnreachableError(
            "the local engine could not load the model", where=self.model.name, fix="Check that it is a GGUF model file"
        )
