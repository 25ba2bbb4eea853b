"""A program that stays: confined like any other, asked one line at a time over its standard input and output."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Sequence

from speedqual.grading.sandbox.launch import ENVIRONMENT, arguments, configuration
from speedqual.grading.sandbox.pool import Sandbox, SandboxLost

__all__ = ["Service"]

MAX_ANSWER_BYTES = 1 << 20


class Service:
    """Starts ``argv`` in a sandbox's backend.

    It ends when its input is closed, which also happens when this process ends.
    """

    def __init__(self, sandbox: Sandbox, argv: Sequence[str], *, readable: Sequence[str] = ()) -> None:
        more = (*sandbox.readable, *readable)
        start = arguments(sandbox.backend, sandbox.python, more, module="enter")
        self._folder = tempfile.TemporaryDirectory(prefix="sq-service-")
        scratch = "/tmp" if sandbox.backend == "bubblewrap" else self._folder.name
        config = {**configuration(sandbox.backend, sandbox.python, (), more), "argv": list(argv), "scratch": scratch}
        self._process = subprocess.Popen(
            [*start, json.dumps(config)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=ENVIRONMENT,
            cwd="/",
            start_new_session=True,
        )
        self._rest = b""

    def ask(self, line: str, timeout_s: float) -> str:
        """Send one line, wait for one. Raises SandboxLost when none comes in time."""
        assert self._process.stdin and self._process.stdout
        deadline = time.monotonic() + timeout_s
        data = memoryview(line.encode("utf-8", "surrogatepass") + b"\n")
        to, back = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(to, False)
        while b"\n" not in self._rest:
            left_s = deadline - time.monotonic()
            readable, writable, _ = select.select([back], [to] if data else [], [], max(0.0, left_s))
            if left_s <= 0 or len(self._rest) > MAX_ANSWER_BYTES:
                raise SandboxLost("the confined program did not answer")
            try:
                if writable:
                    data = data[os.write(to, data[:65_536]) :]
                if readable and not self._take(back):
                    raise SandboxLost("the confined program ended")
            except OSError as fault:
                raise SandboxLost("the confined program ended") from fault
        answer, _, self._rest = self._rest.partition(b"\n")
        return answer.decode("utf-8", "replace")

    def _take(self, fd: int) -> bool:
        piece = os.read(fd, 65_536)
        self._rest += piece
        return bool(piece)

    def close(self) -> None:
        """End it."""
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, 9)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._folder.cleanup()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            if self._process.poll() is None:
                self.close()
