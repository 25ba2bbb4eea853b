"""Landlock through plain system calls: what may be read, where may be written, no TCP, no signal to the outside.

Needs Linux ≥ 5.13; network rules from ABI 4, the signal and abstract socket scopes from ABI 6. Works for root
and for an ordinary user alike. Paths that do not exist are left out.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
from collections.abc import Iterable

__all__ = ["Rules", "abi"]

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # one number on every architecture
_VERSION_FLAG, _PATH_BENEATH = 1, 1
_PR_SET_NO_NEW_PRIVS = 38

_EXECUTE, _WRITE, _READ, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_REG, _REFER, _TRUNCATE = 1 << 4, 1 << 5, 1 << 7, 1 << 8, 1 << 13, 1 << 14
_ALL_BY_ABI = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF, 5: 0xFFFF}
_NETWORK, _SCOPES = 0b11, 0b11  # bind and connect TCP; abstract UNIX sockets and signals

READ = _READ | _READ_DIR | _EXECUTE
WRITE = READ | _WRITE | _REMOVE_FILE | _MAKE_REG | _TRUNCATE  # plain files alone: no folder, link, socket or device
WRITE_TREE = WRITE | _REMOVE_DIR | _MAKE_DIR | _REFER  # folders as well, for compilers
_FILE_RIGHTS = _EXECUTE | _WRITE | _READ | _TRUNCATE | (1 << 15)


def abi() -> int:
    """The kernel's Landlock version; 0 where there is none."""
    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, int(libc.syscall(_CREATE, None, ctypes.c_size_t(0), _VERSION_FLAG)))


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("access", ctypes.c_uint64), ("fd", ctypes.c_int32))


class Rules:
    """What may be read and written, put together once and enforced in many children.

    ``read``: files and folders that may be read and executed; ``write``: folders where plain files may be made,
    and files (such as ``/dev/null``) that may be written; ``tree``: sub-folders may be made there too.
    """

    def __init__(self, *, read: Iterable[str], write: Iterable[str], tree: bool = False) -> None:
        self._writing = WRITE_TREE if tree else WRITE
        self._version = abi()
        self._handled = _ALL_BY_ABI[min(self._version, max(_ALL_BY_ABI))]
        self._libc = ctypes.CDLL(None, use_errno=True)
        low = self._create(self._handled, whole=True)
        self.fd = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, 200)
        os.close(low)
        for path, access in [*((p, READ) for p in read), *((p, self._writing) for p in write)]:
            _add(self._libc, self.fd, path, access & self._handled)

    def _create(self, handled: int, *, whole: bool) -> int:
        version = self._version if whole else 1
        rules = _Ruleset(handled, _NETWORK if version >= 4 else 0, _SCOPES if version >= 6 else 0)
        size = 24 if version >= 6 else 16 if version >= 4 else 8
        return _checked(self._libc.syscall(_CREATE, ctypes.byref(rules), ctypes.c_size_t(size), 0))

    def enforce(self, folder: str) -> None:
        """Confine this process for good, with ``folder`` as the only one of the writable ones that is left to it.

        Raises OSError when the kernel refuses.
        """
        changing = self._writing & ~READ & self._handled
        own = self._create(changing, whole=False)
        for path in (folder, "/dev/null"):
            _add(self._libc, own, path, changing)
        _checked(self._libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        for ruleset in (self.fd, own):
            _checked(self._libc.syscall(_RESTRICT, ruleset, 0))
            os.close(ruleset)


def _add(libc: ctypes.CDLL, ruleset: int, path: str, access: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not os.path.isdir(path):  # noqa: PTH112 - called between fork and the filter: no pathlib
            access &= _FILE_RIGHTS
        rule = _Beneath(access, fd)
        _checked(libc.syscall(_ADD, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0))
    finally:
        os.close(fd)


def _checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
