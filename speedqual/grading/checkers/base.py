"""What a check says, and how front ends are run: found at run time, confined like the programs that they read.

A compiler that reads hostile text can be made to show files of the host, to loop and to write where it should
not. So each runs in the sandbox under the limits of a test, its source is at most 256 KB, and of its messages
one line is kept.
"""

from __future__ import annotations

import re
import secrets
import shutil
import subprocess
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from speedqual.grading.code.cases import CaseOutcome, stray_end
from speedqual.grading.sandbox import Limits, Result, Role, Sandbox, best_backend
from speedqual.records import Failure

__all__ = [
    "MAX_SOURCE_BYTES",
    "Check",
    "Checker",
    "first_error",
    "gave_up",
    "not_checked",
    "program",
    "run_driver",
    "run_program",
    "tools",
    "version_of",
]

MAX_SOURCE_BYTES = 256 << 10
LIMITS = Limits(cpu_s=10.0, memory_mb=1024, disk_mb=64, files=2000)
DRIVERS = tuple(
    f"speedqual.grading.code.library_drivers:{name}" for name in ("json_", "yaml_", "toml_", "html_", "sql_")
)
_PATH = re.compile(r"(?:/[\w.+@-]+)+/?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """``ok`` None = not known, with the reason in ``failure`` (``not_checked`` | ``checker_gave_up``)."""

    ok: bool | None
    failure: Failure = "none"
    why: str = ""
    checker: str = ""  # name and version of the front end
    warnings: tuple[str, ...] = ()


class Checker(Protocol):
    """The front end of a language."""

    @property
    def language(self) -> str:
        """The language's plain name, as extraction uses it."""

    def version(self) -> str:
        """Name and version of the front end; empty when it is not installed."""

    def check(self, source: str, context: Mapping[str, Any]) -> Check:
        """Judge a source. ``context``: columns of the row that bear on it (schema, prelude, stage, max_errors)."""


def gave_up(why: str, checker: str = "") -> Check:
    """The front end reached a limit: that says nothing of the program."""
    return Check(ok=None, failure="checker_gave_up", why=why, checker=checker)


def not_checked(why: str) -> Check:
    """There is no front end, or nothing to run it in."""
    return Check(ok=None, failure="not_checked", why=why)


# ------------------------------------------------------------------------------------------------ finding


@cache
def program(name: str) -> str:
    """The real path of an installed program; empty when it is absent.

    Version managers' stand-ins are looked through.
    """
    found = shutil.which(name)
    if not found:
        return ""
    if name == "rustc":
        sysroot = _said(found, "--print", "sysroot").strip()
        real = Path(sysroot, "bin", "rustc")
        return str(real) if sysroot and real.exists() else ""
    return str(Path(found).resolve())


@cache
def version_of(name: str, *arguments: str) -> str:
    """``name version`` as the program tells it, empty when it does not run."""
    path = program(name)
    found = re.search(r"\d+(?:\.\d+)+", _said(path, *arguments)) if path else None
    return f"{name} {found[0]}" if found else ""


def _said(path: str, *arguments: str) -> str:
    try:
        done = subprocess.run([path, *arguments], capture_output=True, text=True, timeout=20, check=False, cwd="/")
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout + done.stderr if done.returncode == 0 else ""


def _homes() -> tuple[str, ...]:
    """Folders that the programs found here read besides the system's."""
    rust, node = program("rustc"), program("node")
    homes = [str(Path(rust).parents[1])] if rust else []
    homes += [str(Path(path).parents[1]) for path in (node, program("go"), program("javac")) if path]
    homes += ["/etc/java-17-openjdk", "/etc/java-21-openjdk", "/etc/java-11-openjdk"]
    return tuple(home for home in homes if home not in ("/usr", "/usr/local", "/"))


@cache
def tools() -> Sandbox | None:
    """The sandbox of the front ends; None when none holds on this machine."""
    backend = best_backend()
    if backend is None:
        return None
    site = sysconfig.get_path("purelib"), sysconfig.get_path("platlib")
    return Sandbox(backend, drivers=DRIVERS, readable=_homes(), imports=tuple(dict.fromkeys(site)))


# ------------------------------------------------------------------------------------------------ running


def run_driver(name: str, payload: Mapping[str, Any], checker: str) -> Check:
    """A front end that is a Python library, called in the sandbox: ``{"ok": …, "error": …}`` comes back."""
    sandbox = tools()
    if sandbox is None:
        return not_checked("no sandbox of this machine passed its probe")
    nonce = secrets.token_hex(16)
    role = Role(driver=f"speedqual.grading.code.library_drivers:{name}", payload=payload, limits=LIMITS, nonce=nonce)
    reply = stray_end(sandbox.run_one(role), nonce)
    if isinstance(reply, CaseOutcome):
        return gave_up(f"the checker was stopped: {reply.why}", checker)
    if reply.get("ok") is None:
        return gave_up(str(reply.get("error")), checker)
    return Check(ok=bool(reply["ok"]), why=str(reply.get("error") or "")[:300], checker=checker)


def run_program(
    argv: tuple[str, ...],
    *,
    checker: str,
    stdin: str = "",
    files: Mapping[str, str] | None = None,
    limits: Limits = LIMITS,
) -> tuple[Result, Check | None]:
    """Run a front end. The check is set when the run itself says nothing of the source."""
    sandbox = tools()
    if sandbox is None:
        nothing = Result(ended="exit", code=0, cpu_s=0.0, wall_s=0.0)
        return nothing, not_checked("no sandbox of this machine passed its probe")
    result = sandbox.run_one(Role(argv=argv, stdin=stdin, files=files or {}, limits=limits))
    if result.ended != "exit" or result.code in (86, 87):
        return result, gave_up(f"the checker was stopped ({result.ended} {result.code})", checker)
    text = result.output.encode("latin-1").decode("utf-8", "replace")
    return replace(result, output=text), None


def first_error(output: str, pattern: str = r"\berror\b") -> str:
    """The first line that names an error, without paths: never a line of a file."""
    lines = [line.strip() for line in output.split("\n") if re.search(pattern, line, re.IGNORECASE)]
    return _PATH.sub(lambda path: path[0].rstrip("/").rpartition("/")[2], lines[0])[:200] if lines else "refused"
