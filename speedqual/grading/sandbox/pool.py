"""A sandbox as its users see it: ``run`` a job, from any thread; workers are started when needed and kept warm."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
import weakref
from collections.abc import Sequence
from typing import Any

from speedqual.errors import GraderError
from speedqual.grading.sandbox.framing import read_frame, write_frame
from speedqual.grading.sandbox.jobs import Job, Result, Role
from speedqual.grading.sandbox.launch import ENVIRONMENT, Backend, Interpreter, arguments, configuration, interpreter

__all__ = ["Sandbox", "SandboxLost"]

START_S = 20.0


class SandboxLost(GraderError):
    """A worker ended or fell silent in mid-job; what it was asked has no result."""


class _Handle:
    """One worker process and its two pipes."""

    def __init__(self, argv: Sequence[str], config: dict[str, Any]) -> None:
        self._process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT, cwd="/"
        )
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._to, self._from = self._process.stdin.fileno(), self._process.stdout.fileno()
        try:
            self.ask(config, START_S)
            self._process.stderr.close()  # from now on it has nothing to say; a full pipe would stop it
        except SandboxLost as lost:
            said = self._last_words()
            raise SandboxLost(f"{lost.what}: {said[-300:]}" if said else lost.what) from None

    def _last_words(self) -> str:
        """What the ended worker left on its error pipe; the pipe is closed."""
        with self._process.stderr as pipe:  # type: ignore[union-attr]
            os.set_blocking(pipe.fileno(), False)
            return (pipe.read(100_000) or b"").decode("utf-8", "replace").strip()

    def ask(self, message: Any, timeout_s: float) -> Any:
        """Send one message, wait for the answer. A worker that does not answer is ended."""
        try:
            write_frame(self._to, message)
            answer = read_frame(self._from, timeout_s=timeout_s)
        except (OSError, TimeoutError, ValueError) as fault:
            self.close()
            raise SandboxLost(f"the sandbox worker was lost ({fault})") from fault
        except BaseException:  # Ctrl-C between question and answer: the pipe is out of step for good
            self.close()
            raise
        if answer is None:
            self.close()
            raise SandboxLost("the sandbox worker ended")
        return answer

    def close(self) -> None:
        """End the worker; its children and its folder go with it when it sees its pipe closed."""
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()  # type: ignore[union-attr]
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Sandbox:
    """Runs jobs in one backend. ``drivers`` are ``module:function`` names that a role may call.

    ``readable``: more paths; ``imports``: folders of the libraries that drivers import, before anything is confined.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        drivers: Sequence[str] = (),
        readable: Sequence[str] = (),
        imports: Sequence[str] = (),
        python: Interpreter | None = None,
    ) -> None:
        self.backend = backend
        self.python = python or interpreter()
        self.readable = tuple(readable)
        self._argv = arguments(backend, self.python, [*readable, *imports])
        self._config = configuration(backend, self.python, drivers, readable, imports)
        self._lock = threading.Lock()
        self._idle: list[_Handle] = []
        self._owner = os.getpid()
        weakref.finalize(self, _release, self._idle, self._owner)

    def run(self, job: Job) -> list[Result]:
        """The result of each role.

        A lost worker is replaced and the job tried once more; then SandboxLost is raised.
        """
        try:
            return self._run_once(job)
        except SandboxLost:
            return self._run_once(job)

    def run_one(self, role: Role) -> Result:
        """``run`` for a job of one role."""
        return self.run(Job(roles=(role,)))[0]

    def _run_once(self, job: Job) -> list[Result]:
        worker = self._take()
        wall_s = max(role.limits.wall_s for role in job.roles)
        answer = worker.ask(job.to_dict(), wall_s + START_S)
        with self._lock:
            self._idle.append(worker)
        return [Result.from_dict(each) for each in answer]

    def _take(self) -> _Handle:
        with self._lock:
            if self._owner != os.getpid():  # a forked copy of the parent must not share its pipes
                self._idle = []
                self._owner = os.getpid()
            if self._idle:
                return self._idle.pop()
        return _Handle(self._argv, self._config)

    def close(self) -> None:
        """End all idle workers."""
        with self._lock:
            idle, self._idle[:] = list(self._idle), []
        _release(idle, self._owner)


def _release(handles: list[_Handle], owner: int) -> None:
    if os.getpid() == owner:
        for handle in handles:
            handle.close()
