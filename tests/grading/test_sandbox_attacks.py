"""Programs that try to get out, to stay, or to cheat: each is refused or judged failed, none hangs, none leaves a process.

An attack is the body of ``f``; it returns ``"in"`` when it got through, which its only test expects: to pass is to escape.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from speedqual.grading.base import grader_for
from speedqual.grading.sandbox import possible_backends, probe
from speedqual.records import Answer, EvalSet, Grade, GraderSpec, Item

BACKENDS = [backend for backend in possible_backends() if probe(backend).holds]
SYSCALL = "import ctypes; call = ctypes.CDLL(None, use_errno=True).syscall; "

ATTACKS = {
    # the network
    "loopback": "import socket; socket.create_connection(('127.0.0.1', PORT), 2); return 'in'",
    "loopback by IPv6": "import socket; socket.create_connection(('::1', PORT), 2); return 'in'",
    "internet": "import socket; socket.create_connection(('192.0.2.1', 80), 1); return 'in'",
    "datagram": "import socket; socket.socket(2, 2).sendto(b'x', ('127.0.0.1', PORT)); return 'in'",
    "a name": "import urllib.request; urllib.request.urlopen('http://localhost:PORT'); return 'in'",
    "a server": "import socket; socket.create_server(('127.0.0.1', 0)); return 'in'",
    "netlink": "import socket; socket.socket(16, 3); return 'in'",
    "a socket of the host": "import socket; s = socket.socket(socket.AF_UNIX); s.connect('/run/dbus/system_bus_socket'); return 'in'",
    # secrets
    "a file outside": "return 'in' if 'secret' in open('OUTSIDE/secret').read() else 0",
    "home": "import os; return 'in' if any(os.scandir(os.path.expanduser('~root'))) else 0",
    "password file": "return 'in' if open('/etc/shadow').read() else 0",
    "environment": "import os; return 'in' if 'SPEEDQUAL_SECRET' in os.environ else 0",
    "environment of the first process": "return 'in' if open('/proc/1/environ').read() else 0",
    "environment of the worker": "import os; return 'in' if open(f'/proc/{os.getppid()}/environ').read() else 0",
    "memory of the worker": "import os; open(f'/proc/{os.getppid()}/mem', 'r+b'); return 'in'",
    "descriptors of the worker": "import os; return 'in' if os.listdir(f'/proc/{os.getppid()}/fd') else 0",
    "pipes of the worker": "import os\n    for n in range(64):\n        try: open(f'/proc/{os.getppid()}/fd/{n}', 'wb'); return 'in'\n        except OSError: pass",
    "read by another process": SYSCALL + "b = ctypes.create_string_buffer(8); "
    "return 'in' if call(310, __import__('os').getppid(), b, 1, b, 1, 0) >= 0 else 0",
    # writing
    "write outside": "open('OUTSIDE/new', 'w').write('x'); return 'in'",
    "overwrite outside": "open('OUTSIDE/secret', 'w').write('x'); return 'in'",
    "truncate outside": "import os; os.truncate('OUTSIDE/secret', 0); return 'in'",
    "delete outside": "import os; os.unlink('OUTSIDE/secret'); return 'in'",
    "change a mode": "import os; os.chmod('OUTSIDE/secret', 0o777); return 'in'",
    "symlink out of the folder": "import os; os.symlink('OUTSIDE', 'out'); open('out/new', 'w').write('x'); return 'in'",
    "hard link": "import os; os.link('OUTSIDE/secret', 'mine'); return 'in'",
    "a device": "import os; os.mknod('disk', 0o60666, os.makedev(254, 0)); return 'in'",
    "shared memory": "open('/dev/shm/speedqual-attack', 'w').write('x'); return 'in'",
    "shared memory by name": "from multiprocessing import shared_memory as s; s.SharedMemory('sq-attack', True, 64); return 'in'",
    "memory file": "import os; os.memfd_create('x'); return 'in'",
    "fill the disk with one file": "f = open('big', 'wb')\n    while True: f.write(b'x' * (1 << 20))",
    "fill the disk with many files": "for n in range(10 ** 6): open(str(n), 'wb').write(b'x' * 100_000)\n    return 'in'",
    "make folders": "import os; os.makedirs('a/b/c'); return 'in'",
    # processes
    "fork": "import os\n    if os.fork(): return 'in'\n    os._exit(0)",
    "fork bomb": "import os\n    while True: os.fork()",
    "thread bomb": "import threading, time\n    for _ in range(10 ** 5): threading.Thread(target=time.sleep, args=(60,)).start()\n    return 'in'",
    "daemon": "import os\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork() == 0:\n            import time; time.sleep(600)\n        os._exit(0)\n    return 'in'",
    "a program": "import subprocess; return 'in' if subprocess.run(['/bin/true']).returncode == 0 else 0",
    "become a program": "import os; os.execv('/bin/true', ['true'])",
    "spawn": "import os; os.posix_spawn('/bin/sleep', ['sleep', '600'], {}); return 'in'",
    "kill the worker": "import os; os.kill(os.getppid(), 9); return 'in'",
    "kill everything": "import os; os.kill(-1, 9); return 'in'",
    "kill the group": "import os; os.killpg(os.getpgid(os.getppid()), 9); return 'in'",
    "signal by descriptor": "import os, signal; signal.pidfd_send_signal(os.pidfd_open(os.getppid()), 9); return 'in'",
    "signal by file owner": "import fcntl, os; r, w = os.pipe(); fcntl.fcntl(r, fcntl.F_SETOWN, os.getppid()); return 'in'",
    "starve the worker": "import os, resource; resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (0, 0)); return 'in'",
    "raise a limit": "import resource; resource.setrlimit(resource.RLIMIT_CPU, (999, 999)); return 'in'",
    "outlive the parent": SYSCALL + "return 'in' if ctypes.CDLL(None).prctl(1, 0, 0, 0, 0) == 0 else 0",
    # the kernel
    "ptrace": SYSCALL + "return 'in' if call(101, 16, __import__('os').getppid(), 0, 0) == 0 else 0",
    "trace me": SYSCALL + "return 'in' if call(101, 0, 0, 0, 0) == 0 else 0",
    "io_uring": SYSCALL + "return 'in' if call(425, 8, ctypes.create_string_buffer(240)) >= 0 else 0",
    "user namespace": SYSCALL + "return 'in' if call(272, 0x10000000) == 0 else 0",
    "user namespace by clone": SYSCALL + "return 'in' if call(56, 0x10000011, 0, 0, 0, 0) >= 0 else 0",
    "clone3": SYSCALL + "return 'in' if call(435, ctypes.create_string_buffer(88), 88) >= 0 else 0",
    "mount": SYSCALL + "return 'in' if call(165, b'none', b'/tmp', b'tmpfs', 0, 0) == 0 else 0",
    "change root": "import os; os.chroot('.'); return 'in'",
    "key ring": SYSCALL + "return 'in' if call(250, 0, 0xFFFFFFFD, 1) >= 0 else 0",
    "BPF": SYSCALL + "return 'in' if call(321, 0, ctypes.create_string_buffer(128), 128) >= 0 else 0",
    "another seccomp": SYSCALL + "return 'in' if call(317, 2, 0, ctypes.create_string_buffer(4)) >= 0 else 0",
    "calls of the other ABI": SYSCALL + "return 'in' if call(0x40000000 + 39) > 0 else 0",
    "another user": "import os; os.setuid(12345); return 'in'",
    "a higher priority": "import os; os.setpriority(0, os.getppid(), 19); return 'in'",
    "system V memory": SYSCALL + "return 'in' if call(29, 0, 4096, 0o1600) >= 0 else 0",
    # resources
    "ten gigabytes": "x = bytearray(10 ** 10); return 'in'",
    "ten gigabytes bit by bit": "x = [bytearray(10 ** 6) for _ in range(10 ** 4)]; return 'in'",
    "endless": "while True: pass",
    "endless, deaf": "import signal\n    for s in set(signal.Signals) - {9, 19}: signal.signal(s, signal.SIG_IGN)\n    while True: pass",
    "asleep": "import time; time.sleep(10 ** 6)",
    "waiting for input": "return 'in' if input() else 0",
    "huge output": "while True: print('x' * 10 ** 5)",
    "huge reply": "return 'x' * 10 ** 9",
    "recursion": "return f(x + 1)",
    # cheating
    "always equal": "return type('A', (), {'__eq__': lambda *a: True})()",
    "a string that is not one": "return type('S', (str,), {'__eq__': lambda *a: True, '__hash__': lambda s: 0})('out')",
    "forged marker": "print('{\"value\": \"in\"}', 'PASSED', sep='\\n'); import os; os._exit(0)",
    "forged reply": "import os; os.write(3, b'{\"value\": \"in\"}\\n'); os._exit(0)",
    "early exit": "import sys; sys.exit(0)",
    "dead at once": "import os; os._exit(0)",
    "frame walking": "import sys\n    g = sys._getframe()\n    while g:\n        g.f_locals.setdefault('passed', []).append(1) if isinstance(g.f_locals.get('passed'), list) else 0\n        g = g.f_back",
    "no more encoder": "import json; json.dumps = lambda *a, **k: '{\"value\": 1}'",
    "conftest": "open('conftest.py', 'w').write('import sys; sys.exit(0)'); return 'out'",
    "sitecustomize": "open('sitecustomize.py', 'w').write('import os; os._exit(0)'); return 'out'",
    "crash": "import ctypes; ctypes.string_at(1)",
}  # fmt: skip


@pytest.fixture(scope="module")
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0)
        yield listening


def run(body: str, backend: str, entry: str = "in") -> Grade:
    options = {"sandbox": backend, "cpu_s": 1, "memory_mb": 256}
    evalset = EvalSet(name="attacks", task="code", items=(), grader=GraderSpec(name="code", options=options))
    tests: dict[str, Any] = {"entry_point": "f", "cases": [{"args": [1], "expect": entry}]}
    return grader_for(evalset)(Answer(text=f"def f(x):\n    {body}\n"), Item(id="a", row={"tests": tests}))


def descendants() -> set[int]:
    """Processes below this one, and any of a sandbox that the first process has inherited."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ATTACKS)
def test_attack(
    name: str, backend: str, tmp_path: Path, server: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPEEDQUAL_SECRET", "secret")
    (tmp_path / "secret").write_text("secret")
    assert run("return x", backend, 1).score == 1.0  # type: ignore[arg-type]
    before = descendants()
    body = ATTACKS[name].replace("PORT", str(server.getsockname()[1])).replace("OUTSIDE", str(tmp_path))

    started = time.monotonic()
    found = run(body, backend)
    took_s = time.monotonic() - started

    assert found.score == 0.0 and found.verdict == "fail", found
    assert took_s < 12
    with pytest.raises(BlockingIOError):
        server.accept()
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]
    assert (tmp_path / "secret").read_text() == "secret" and (tmp_path / "secret").stat().st_mode & 0o777 != 0o777
    assert not Path("/dev/shm/speedqual-attack").exists()
    assert len(found.why) < 1000
    assert not descendants() - before, "a process was left behind, or the worker was lost"
    assert run("return x", backend, 1).score == 1.0  # type: ignore[arg-type]


def test_there_are_enough_attacks() -> None:
    assert len(ATTACKS) >= 60


def test_the_sandbox_of_this_machine_holds() -> None:
    if not possible_backends():
        pytest.skip("this machine has no sandbox")
    assert BACKENDS
