"""A system call filter, assembled by hand and installed with ``prctl``: nothing to compile, nothing to install.

Two profiles. ``test`` (model code under an interpreter): a list of allowed calls, no new process, no program,
no socket but a stream pair, signals to itself alone. ``tool`` (a compiler): all but a list of dangerous calls;
it may start programs. A refused call returns an error, so that ordinary code meets an ordinary exception.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from functools import cache
from typing import Literal

from speedqual.grading.sandbox import syscalls

__all__ = ["Profile", "available", "build", "install", "prepare"]

Profile = Literal["test", "tool"]

_LOAD, _JUMP_EQUAL, _JUMP_SET, _JUMP_AT_LEAST, _RETURN, _AND = 0x20, 0x15, 0x45, 0x35, 0x06, 0x54
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NR, _ARCH, _X32_BIT = 0, 4, 0x40000000
_CLONE_THREAD = 0x00010000
_NAMESPACES = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2
_IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)  # TCGETS TIOCGWINSZ FIONREAD FIONBIO FIONCLEX FIOCLEX
_PRCTLS = (15, 16, 0x53564D41)  # PR_SET_NAME PR_GET_NAME PR_SET_VMA
_FCNTLS_OF_OTHERS = (8, 10, 15)  # F_SETOWN F_SETSIG F_SETOWN_EX: they send a signal to any process

_OWN_PID = 0x5EC0F11E

Instruction = tuple[int, int, int, int]


def available() -> bool:
    """Whether this machine's call numbers are known and the kernel filters calls."""
    if syscalls.audit_architecture() is None:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, 0, 0, 0)
    return ctypes.get_errno() == errno.EFAULT  # a null program: a kernel without filters says EINVAL


def _load(offset: int) -> Instruction:
    return (_LOAD, 0, 0, offset)


def _argument(index: int) -> Instruction:
    return _load(16 + 8 * index)  # the low half: every argument checked here is an int


def _return(value: int) -> Instruction:
    return (_RETURN, 0, 0, value)


def _refuse(code: int) -> Instruction:
    return _return(_ERRNO | code)


def _when(name: str, body: list[Instruction]) -> list[Instruction]:
    """``body`` (which ends in a return) runs when the call is ``name``; nothing where there is no such call."""
    number = syscalls.number(name)
    return [] if number is None else [(_JUMP_EQUAL, 0, len(body), number), *body]


def _one_of(index: int, values: tuple[int, ...], code: int) -> list[Instruction]:
    """Allow when the argument is one of ``values``, else refuse with ``code``."""
    tests = [(_JUMP_EQUAL, len(values) - at, 0, value) for at, value in enumerate(values)]
    return [_argument(index), *tests, _refuse(code), _return(_ALLOW)]


def _head() -> list[Instruction]:
    arch = syscalls.audit_architecture()
    assert arch is not None
    right_arch: list[Instruction] = [_load(_ARCH), (_JUMP_EQUAL, 1, 0, arch), _return(_KILL), _load(_NR)]
    return [*right_arch, (_JUMP_AT_LEAST, 0, 1, _X32_BIT), _refuse(errno.EPERM)]


def _test_rules(pid: int) -> list[Instruction]:
    """Argument checks of the test profile. ``fork`` says EAGAIN, as a full process table does."""
    none_of_others = [_argument(1), *[(_JUMP_EQUAL, len(_FCNTLS_OF_OTHERS) - at, 0, command)
                                      for at, command in enumerate(_FCNTLS_OF_OTHERS)]]  # fmt: skip
    thread_only = [_argument(0), (_JUMP_SET, 0, 1, _CLONE_THREAD), _return(_ALLOW), _refuse(errno.EAGAIN)]
    stream_pair = [
        _argument(0), (_JUMP_EQUAL, 0, 4, 1), _argument(1), (_AND, 0, 0, 0xF), (_JUMP_EQUAL, 0, 1, 1), _return(_ALLOW),
        _refuse(errno.EPERM),
    ]  # fmt: skip
    return [
        *_when("clone", thread_only),
        *_when("clone3", [_refuse(errno.ENOSYS)]),  # its flags lie behind a pointer: the C library falls back to clone
        *_when("fork", [_refuse(errno.EAGAIN)]),
        *_when("vfork", [_refuse(errno.EAGAIN)]),
        *_when("openat2", [_refuse(errno.ENOSYS)]),
        *_when("faccessat2", [_refuse(errno.ENOSYS)]),
        *_when("kill", _one_of(0, (pid,), errno.EPERM)),
        *_when("tgkill", _one_of(0, (pid,), errno.EPERM)),
        *_when("prlimit64", _one_of(0, (0, pid), errno.EPERM)),
        *_when("ioctl", _one_of(1, _IOCTLS, errno.ENOTTY)),
        *_when("prctl", _one_of(0, _PRCTLS, errno.EPERM)),
        *_when("socketpair", stream_pair),
        *_when("fcntl", [*none_of_others, _return(_ALLOW), _refuse(errno.EPERM)]),
    ]


def _tool_rules(parent: int) -> list[Instruction]:
    """Argument checks of the tool profile: no namespaces, no signal or limit for the worker."""
    no_namespace = [_argument(0), (_JUMP_SET, 0, 1, _NAMESPACES), _refuse(errno.EPERM), _return(_ALLOW)]
    not_parent = [_argument(0), (_JUMP_EQUAL, 0, 1, parent), _refuse(errno.EPERM), _return(_ALLOW)]
    any_of_all = [_argument(0), (_JUMP_EQUAL, 0, 1, 0xFFFFFFFF), _refuse(errno.EPERM),
                  (_JUMP_EQUAL, 0, 1, parent), _refuse(errno.EPERM), _return(_ALLOW)]  # fmt: skip
    return [
        *_when("clone", no_namespace),
        *_when("clone3", [_refuse(errno.ENOSYS)]),
        *_when("kill", any_of_all),
        *_when("tgkill", not_parent),
        *_when("prlimit64", not_parent),
    ]


def _between(low: int, high: int) -> list[Instruction]:
    return [(_JUMP_AT_LEAST, 2, 0, high + 1), (_JUMP_AT_LEAST, 0, 1, low), _return(_ALLOW)]


def _ranges(numbers: list[int]) -> list[tuple[int, int]]:
    """Runs of consecutive numbers: a short filter is installed faster, and one is installed for every test."""
    ranges: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return ranges


def build(profile: Profile, *, pid: int, parent: int) -> list[Instruction]:
    """The filter as (code, jump if true, jump if false, k). ``pid`` is the filtered process, ``parent`` the worker."""
    if profile == "test":
        plain = [step for low, high in _ranges(syscalls.allowed()) for step in _between(low, high)]
        return [*_head(), *plain, *_test_rules(pid), _refuse(errno.EPERM)]
    plain = [step for n in syscalls.denied() for step in ((_JUMP_EQUAL, 0, 1, n), _refuse(errno.EPERM))]
    return [*_head(), *plain, *_tool_rules(parent), _return(_ALLOW)]


@cache
def prepare(profile: Profile, parent: int) -> bytes:
    """The assembled filter with a mark for the process's own number: a worker makes it once, before it forks."""
    return b"".join(struct.pack("HBBI", *step) for step in build(profile, pid=_OWN_PID, parent=parent))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_void_p))


def install(profile: Profile) -> None:
    """Filter this process from now on. Raises OSError when the kernel refuses."""
    template = prepare(profile, os.getppid())
    packed = ctypes.create_string_buffer(template.replace(struct.pack("I", _OWN_PID), struct.pack("I", os.getpid())))
    program = _Program(len(template) // 8, ctypes.cast(packed, ctypes.c_void_p))
    libc = ctypes.CDLL(None, use_errno=True)
    _checked(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _checked(libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0))


def _checked(result: int) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
