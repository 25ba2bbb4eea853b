"""The warm worker: a small process that forks one confined child for each role of a job and watches it from outside.

It starts with an empty environment, reads jobs from descriptor 0 and writes results to descriptor 1, each a
length and JSON. It is single-threaded, never runs anything of a model, cannot be traced by its children, and
ends with all of them when its parent goes away. Nothing that a child can write decides how the child is said to
have ended.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import select
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from typing import Any

from speedqual.grading.sandbox import confine, landlock, seccomp
from speedqual.grading.sandbox.framing import read_frame, write_frame
from speedqual.grading.sandbox.jobs import Job, Result, Role
from speedqual.grading.sandbox.watch import Watched

__all__ = ["main"]

Driver = Callable[[Any], Any]
TICK_MS = 20
NOT_CONFINED, NO_REPLY = 87, 86  # exit statuses of a child: before, and after it was confined
_PR_SET_CHILD_SUBREAPER = 36


class Worker:
    """Runs jobs one after the other, each in a fresh folder."""

    def __init__(self, config: Mapping[str, Any], control: int) -> None:
        self._control = control
        self._bare: bool = config["bare"]
        self._scratch = tempfile.mkdtemp(prefix="sq-", dir=config["scratch"])
        read, write = [*config["read"], *confine.DEVICES[1:]], [self._scratch, confine.DEVICES[0]]
        self._rules: dict[seccomp.Profile, landlock.Rules] = {}
        if config["landlock"]:
            self._rules["test"] = landlock.Rules(read=read, write=write)
            self._rules["tool"] = landlock.Rules(read=read, write=write, tree=True)
        self._drivers: dict[str, Driver] = {}
        sys.path += config["imports"]
        for name in config["drivers"]:
            module, _, function = name.partition(":")
            self._drivers[name] = getattr(importlib.import_module(module), function)

        del sys.path[len(sys.path) - len(config["imports"]) :]
        if not self._bare:
            seccomp.prepare("test", os.getpid())
            seccomp.prepare("tool", os.getpid())

    def close(self) -> None:
        """Remove the folder of all jobs."""
        shutil.rmtree(self._scratch, ignore_errors=True)

    def run(self, job: Job) -> list[Result]:
        """Start every role, watch until the first one has ended, stop the rest, sweep."""
        pair = socket.socketpair() if len(job.roles) == 2 else (None, None)
        running = [self._start(role, end) for role, end in zip(job.roles, pair, strict=False)]
        for end in pair:
            if end is not None:
                end.close()
        try:
            self._watch(running)
        finally:
            for one in running:
                one.stop()
            _sweep()
            for one in running:
                shutil.rmtree(one.folder, ignore_errors=True)
        return [one.result() for one in running]

    def _watch(self, running: list[Watched]) -> None:
        poll = select.poll()
        poll.register(self._control, 0)  # its far end closed = the parent is gone
        by_fd = {fd: one for one in running for fd in one.fds}
        for fd in by_fd:
            poll.register(fd, select.POLLIN)
        while not running[0].done:
            ready = poll.poll(TICK_MS)
            for fd, _ in ready:
                if fd == self._control:
                    raise SystemExit
                if by_fd[fd].on_ready(fd):
                    poll.unregister(fd)
            for one in running:
                one.check_limits()

    def _start(self, role: Role, end: socket.socket | None) -> Watched:
        folder = tempfile.mkdtemp(dir=self._scratch)
        for name, text in role.files.items():
            with open(os.path.join(folder, os.path.basename(name)), "w", encoding="utf-8", errors="surrogatepass") as f:  # noqa: PTH118, PTH119, PTH123
                f.write(text)
        result_r, result_w = os.pipe()
        output_r, output_w = os.pipe()
        started = time.monotonic()
        pid = os.fork()
        if pid == 0:
            self._child(role, folder, result_w, output_w, end)
        os.close(result_w)
        os.close(output_w)
        return Watched(pid, folder, role.limits, result_fd=result_r, output_fd=output_r, started_s=started)

    def _child(self, role: Role, folder: str, result_w: int, output_w: int, end: socket.socket | None) -> None:
        """Never returns. Exit status 0 = the driver's whole reply was written."""
        code = NOT_CONFINED
        rules = self._rules.get(_profile(role))
        try:
            confine.wire(
                _stdin(role), result_w, output_w, end.fileno() if end else None, keep=rules.fd if rules else 1000
            )
            self._confine(role, folder, rules)
            code = NO_REPLY
            if role.argv:
                os.execve(role.argv[0], list(role.argv), {**os.environ, "HOME": folder, "TMPDIR": folder})
            code = _drive(self._drivers[role.driver], role.payload, role.nonce)
        finally:
            os._exit(code)

    def _confine(self, role: Role, folder: str, rules: landlock.Rules | None) -> None:
        if self._bare:
            os.chdir(folder)
            confine.limit(role.limits, processes=True)
            return
        confine.confine(
            role.limits,
            profile=_profile(role),
            rules=rules,
            folder=folder,
        )


def _profile(role: Role) -> seccomp.Profile:
    return "tool" if role.argv else "test"


def _stdin(role: Role) -> int:
    if not role.stdin:
        return os.open("/dev/null", os.O_RDONLY)
    fd = os.memfd_create("stdin")
    os.write(fd, role.stdin.encode("utf-8", "surrogatepass"))
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _drive(driver: Driver, payload: Any, nonce: str) -> int:
    """Run a driver with nothing of ours left in reach but itself, and write what it returns: the nonce, then
    one line of JSON.
    """
    for name in [name for name in sys.modules if name.partition(".")[0] == "speedqual"]:
        del sys.modules[name]
    reply = f"{nonce}{json.dumps(driver(payload))}\n".encode("ascii")
    while reply:
        reply = reply[os.write(confine.RESULT_FD, reply) :]
    return 0


def _sweep() -> None:
    """End whatever a program has left behind: orphans come to this process, which is their reaper."""
    while True:
        try:
            with open(f"/proc/self/task/{os.getpid()}/children") as listing:  # noqa: PTH123
                left = [int(pid) for pid in listing.read().split()]
        except OSError:
            left = []
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        if not left:
            return


def main() -> None:
    """Serve jobs until the parent closes the pipe."""
    control, replies = os.dup(0), os.dup(1)
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    confine.keep_from_tracers()
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:  # noqa: PTH123
        score.write("1000")  # when the machine runs out of memory, this one and its children go first
    config = read_frame(control)
    if config is None:
        return
    worker = Worker(config, control)
    gc.freeze()  # the pages of the modules stay shared with the children
    try:
        write_frame(replies, {"ready": True})
        while (message := read_frame(control)) is not None:
            write_frame(replies, [result.to_dict() for result in worker.run(Job.from_dict(message))])
    finally:
        worker.close()
