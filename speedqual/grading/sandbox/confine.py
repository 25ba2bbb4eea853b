"""What a freshly forked child does to itself before it runs anything of a model: in this order, and never undone."""

from __future__ import annotations

import ctypes
import math
import os
import resource
import signal

from speedqual.grading.sandbox import landlock, seccomp
from speedqual.grading.sandbox.jobs import Limits

__all__ = ["DEVICES", "RESULT_FD", "SOCKET_FD", "confine", "drop_capabilities", "keep_from_tracers", "limit", "wire"]

RESULT_FD, SOCKET_FD = 3, 4
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38
_CAPABILITY_HEADER = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3, this process
_NO_CAPABILITY = (ctypes.c_uint32 * 6)()


def wire(stdin: int, result: int, output: int, socket: int | None, *, keep: int) -> None:
    """Put the descriptors where drivers expect them and close all others but ``keep``, which must be a high number."""
    os.setsid()
    numbers = [stdin, output, output, result, *([] if socket is None else [socket])]
    high = [os.dup(fd) for fd in numbers]  # away from the numbers that are about to be overwritten
    while min(high) < 8:
        high = [os.dup(fd) for fd in high]
    for target, fd in enumerate(high):
        os.dup2(fd, target, inheritable=True)
    os.closerange(len(high), keep)
    os.closerange(keep + 1, 65_536)


def limit(limits: Limits, *, processes: bool) -> None:
    """Resource limits. The worker ends a process at ``cpu_s``; the kernel's own limit stands a second behind it."""
    cpu_s = math.ceil(limits.cpu_s) + 1
    _set(resource.RLIMIT_CPU, cpu_s)
    _set(resource.RLIMIT_FSIZE, limits.disk_mb << 20)
    _set(resource.RLIMIT_CORE, 0)
    _set(resource.RLIMIT_MEMLOCK, 0)
    _set(resource.RLIMIT_NOFILE, 512 if processes else 64)
    _set(resource.RLIMIT_STACK, 8 << 20)
    _set(resource.RLIMIT_MSGQUEUE, 0)
    if limits.memory_mb:
        _set(resource.RLIMIT_AS, limits.memory_mb << 20)


def _set(which: int, value: int) -> None:
    hard = resource.getrlimit(which)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (value, value))


def drop_capabilities() -> None:
    """Root without its powers: no capability now, and without new privileges none to be gained by a program."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.capset(_CAPABILITY_HEADER, _NO_CAPABILITY) != 0:
        raise OSError(ctypes.get_errno(), "the capabilities could not be dropped")


def keep_from_tracers() -> None:
    """Nobody of the same user may trace this process or read its memory or environment from ``/proc``."""
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def confine(limits: Limits, *, profile: seccomp.Profile, rules: landlock.Rules | None, folder: str) -> None:
    """Everything from the parent-death signal to the call filter, in the folder that is this process's own.

    ``rules`` None = the kernel has no Landlock: bubblewrap's mounts stand alone then. Raises OSError when one
    step fails: the caller must not run anything then.
    """
    parent = os.getppid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)
    os.chdir(folder)
    limit(limits, processes=profile == "tool")
    drop_capabilities()
    if rules is not None:
        rules.enforce(folder)
    seccomp.install(profile)
