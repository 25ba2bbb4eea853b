"""Does a sandbox hold? A child tries what it must not be able to do; only a backend where all fails runs model code."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import socket
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from speedqual.grading.sandbox.jobs import Limits, Role
from speedqual.grading.sandbox.launch import ENVIRONMENT, Backend, Interpreter, possible_backends
from speedqual.grading.sandbox.pool import Sandbox, SandboxLost

__all__ = ["Probe", "attempt", "best_backend", "probe"]

DRIVER = "speedqual.grading.sandbox.probe:attempt"
_TWO_GB = 2 << 30
TRIES = 3


@dataclass(frozen=True, slots=True)
class Probe:
    """What a backend let through. ``holds`` only when it ran and nothing got through."""

    backend: Backend
    open_doors: tuple[str, ...]
    fault: str = ""

    @property
    def holds(self) -> bool:
        """Safe to run programs of a model."""
        return not self.open_doors and not self.fault


@cache
def probe(backend: Backend, python: Interpreter | None = None) -> Probe:
    """Try the doors of one backend, once a process.

    A probe that did not come to its end (a lost worker, a limit on a busy host) says nothing, and is tried again; an
    open door is never asked twice.
    """
    found = _once(backend, python)
    for _ in range(TRIES - 1):
        if found.open_doors or not found.fault:
            break
        found = _once(backend, python)
    return found


def _once(backend: Backend, python: Interpreter | None) -> Probe:
    sandbox = Sandbox(backend, drivers=[DRIVER], python=python)
    try:
        with tempfile.TemporaryDirectory() as outside, socket.create_server(("127.0.0.1", 0)) as server:
            return _probe(sandbox, Path(outside), server)
    except (SandboxLost, OSError, ValueError) as fault:
        return Probe(backend, (), str(fault)[:300] or type(fault).__name__)
    finally:
        sandbox.close()


def _probe(sandbox: Sandbox, outside: Path, server: socket.socket) -> Probe:
    (outside / "secret").write_text("secret")
    server.settimeout(0.01)
    payload = {
        "port": server.getsockname()[1],
        "secret": str(outside / "secret"),
        "home_file": _a_file_at_home(),
        "new_file": str(outside / "new"),
        "ours": sorted(ENVIRONMENT),
    }
    result = sandbox.run_one(Role(driver=DRIVER, payload=payload, limits=Limits(cpu_s=5, memory_mb=512)))
    doors = _seen_from_outside(outside, server)
    if result.ended != "exit" or result.code != 0:
        return Probe(sandbox.backend, tuple(sorted(doors)), f"the probe ended by {result.ended} {result.code}")
    doors |= set(json.loads(result.reply))
    return Probe(sandbox.backend, tuple(sorted(doors)))


def _seen_from_outside(outside: Path, server: socket.socket) -> set[str]:
    """Doors whose traces stand outside, whatever the child says or how it ended."""
    doors = {"write outside"} if (outside / "new").exists() else set()
    with contextlib.suppress(OSError):
        server.accept()[0].close()
        doors.add("loopback")
    return doors


def _a_file_at_home() -> str:
    with contextlib.suppress(OSError, RuntimeError):
        for path in sorted(Path.home().iterdir()):
            if path.is_file() and os.access(path, os.R_OK):
                return str(path)
    return ""


def best_backend(python: Interpreter | None = None) -> Backend | None:
    """The first backend that holds; None when model code must not run here."""
    return next((backend for backend in possible_backends() if probe(backend, python).holds), None)


# ---------------------------------------------------------------------------------------- inside the sandbox


def attempt(payload: dict[str, Any]) -> list[str]:
    """The names of the doors that were open."""
    doors: dict[str, Callable[[], Any]] = {
        "loopback": lambda: socket.create_connection(("127.0.0.1", payload["port"]), 1),
        "home": lambda: payload["home_file"] and _read(payload["home_file"]),
        "read outside": lambda: _read(payload["secret"]),
        "environment": lambda: _foreign_environment(set(payload["ours"])),
        "write outside": lambda: _write(payload["new_file"]),
        "shared memory": lambda: _write("/dev/shm/speedqual-probe"),
        "fork": _fork,
        "daemon": lambda: os.posix_spawn("/bin/sleep", ["sleep", "30"], {}),
        "kill the parent": _signal_the_parent,
        "two gigabytes": lambda: len(bytearray(_TWO_GB)),
        "privileges": lambda: ctypes.CDLL(None).unshare(0x10000000) == 0,
    }
    found = []
    for name, door in doors.items():
        with contextlib.suppress(OSError, MemoryError, AttributeError):
            if door():
                found.append(name)
    return found


def _read(path: str) -> bool:
    with open(path, "rb") as file:  # noqa: PTH123
        return bool(file.read(1))


def _write(path: str) -> bool:
    with open(path, "w") as file:  # noqa: PTH123
        file.write("x")
    return True


def _signal_the_parent() -> bool:
    os.kill(os.getppid(), signal.SIGCONT)
    return True


def _fork() -> bool:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return True


def _foreign_environment(ours: set[str]) -> bool:
    """Whether a variable of the host can be seen, our own or through the processes above us."""
    seen = {*os.environb}
    for pid in ("1", str(os.getppid()), "self"):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123
            seen.update(part.partition(b"=")[0] for part in file.read().split(b"\0") if part)
    names = {name.decode("utf-8", "replace") for name in seen}
    return bool(names - ours - {"PWD", "SHLVL", "_", "OLDPWD", "LC_CTYPE"})
