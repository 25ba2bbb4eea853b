"""The ways to start a worker: inside bubblewrap, under Landlock alone, or bare (resource limits only, never by
default).
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from speedqual.grading.sandbox import landlock, seccomp
from speedqual.grading.sandbox.confine import DEVICES

__all__ = ["Backend", "Interpreter", "arguments", "configuration", "interpreter", "possible_backends"]

Backend = Literal["bubblewrap", "landlock", "none"]

SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/sbin")
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/localtime", "/etc/alternatives")
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONHASHSEED": "0", "TZ": "UTC"}
"""All that a worker is started with. The fixed hash seed makes the order of sets, and so every grade, repeatable."""
TMPFS_BYTES = 64 << 20

_FIRST = """
import sys, types
for name, path in {stubs!r}:
    module = types.ModuleType(name)
    module.__path__ = [path]
    sys.modules[name] = module
from speedqual.grading.sandbox.{module} import main
main()
"""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that runs workers: its path, ``3.11.7``, and the folders that it reads."""

    path: str
    version: str
    folders: tuple[str, ...]


_TELL = (
    "import json, platform, sys, sysconfig; print(json.dumps([platform.python_version(), "
    "[sysconfig.get_path('stdlib'), sysconfig.get_path('platstdlib'), sys.base_prefix + '/bin', "
    "sys.base_prefix + '/lib']]))"
)


@cache
def interpreter(path: str = "") -> Interpreter:
    """This process's base interpreter, or the one at ``path``. Raises OSError or ValueError when it does not run."""
    path = path or getattr(sys, "_base_executable", "") or sys.executable
    told = subprocess.run([path, "-I", "-S", "-c", _TELL], capture_output=True, text=True, timeout=20, check=False)
    version, folders = json.loads(told.stdout)
    return Interpreter(path, version, tuple(dict.fromkeys(folder for folder in folders if Path(folder).is_dir())))


def possible_backends() -> tuple[Backend, ...]:
    """The sandboxes that this machine may have, best first. Only a probe tells whether one holds."""
    if not (sys.platform == "linux" and seccomp.available()):
        return ()
    found: list[Backend] = []
    if shutil.which("bwrap"):
        found.append("bubblewrap")
    if landlock.abi() > 0:
        found.append("landlock")
    return tuple(found)


def arguments(backend: Backend, python: Interpreter, readable: Iterable[str], module: str = "worker") -> list[str]:
    """The command line of a worker (an interpreter that ignores the user's site, path and environment)."""
    package = Path(__file__).parents[2]
    grading = package / "grading"
    stubs = [("speedqual", package), ("speedqual.grading", grading), ("speedqual.grading.sandbox", grading / "sandbox")]
    start = [
        python.path,
        "-s",
        "-P",
        "-S",
        "-B",
        "-c",
        _FIRST.format(stubs=[(name, str(path)) for name, path in stubs], module=module),
    ]
    if backend != "bubblewrap":
        return start
    folders = [*_outside_system([*python.folders, *readable, str(package)])]
    return [shutil.which("bwrap") or "bwrap", *_bubblewrap(folders), "--", *start]


def _bubblewrap(folders: Iterable[str]) -> list[str]:
    """Own namespaces for everything, the system read-only, one bounded tmpfs, five devices, no capability."""
    binds = [part for path in (*SYSTEM, *SYSTEM_FILES, *folders) for part in ("--ro-bind-try", path, path)]
    devices = [part for path in DEVICES for part in ("--dev-bind-try", path, path)]
    environment = [part for name, value in ENVIRONMENT.items() for part in ("--setenv", name, value)]
    return [
        *("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
        *("--new-session", "--cap-drop", "ALL", "--hostname", "sandbox", "--clearenv", *environment),
        *("--size", "65536", "--tmpfs", "/dev", *devices, "--remount-ro", "/dev", "--proc", "/proc"),
        *("--size", str(TMPFS_BYTES), "--tmpfs", "/tmp", *binds, "--chdir", "/tmp"),
    ]


def _outside_system(folders: Iterable[str]) -> list[str]:
    return [folder for folder in dict.fromkeys(folders) if not folder.startswith(tuple(s + "/" for s in SYSTEM))]


def configuration(
    backend: Backend,
    python: Interpreter,
    drivers: Iterable[str],
    readable: Iterable[str],
    imports: Iterable[str] = (),
) -> dict[str, Any]:
    """The first message to a worker. ``imports``: folders where it finds the libraries of its drivers."""
    return {
        "read": [*SYSTEM, *SYSTEM_FILES, *python.folders, *readable],
        "landlock": backend != "none" and landlock.abi() > 0,
        "bare": backend == "none",
        "scratch": "/tmp" if backend == "bubblewrap" else tempfile.gettempdir(),
        "drivers": list(drivers),
        "imports": list(imports),
    }
