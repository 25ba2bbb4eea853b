"""Programs that try to get out, to stay, or to cheat: each is refused or judged failed, none hangs, none leaves a process.

An attack is the body of ``f``; it returns ``"in"`` when it got through, which its only test expects: to pass is to escape.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import speedqual
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
    # a second round
    "root by another way": "return 'in' if open('/proc/self/root/OUTSIDE/secret').read() else 0",
    "root of the worker": "import os; return 'in' if open(f'/proc/{os.getppid()}/root/OUTSIDE/secret').read() else 0",
    "folder of the worker": "import os; return 'in' if os.listdir(f'/proc/{os.getppid()}/cwd') else 0",
    "up and up": "import os; os.chdir('/'); return 'in' if open('.' + 'OUTSIDE/secret').read() else 0",
    "by a descriptor of the root": "import os; d = os.open('/', os.O_RDONLY); return 'in' if os.open('OUTSIDE/secret'[1:], 0, dir_fd=d) else 0",
    "an opened path": "import os; d = os.open('OUTSIDE', os.O_PATH); return 'in' if os.open('secret', 0, dir_fd=d) else 0",
    "rename outwards": "import os; open('a', 'w').write('x'); os.rename('a', 'OUTSIDE/new'); return 'in'",
    "change a time": "import os; os.utime('OUTSIDE/secret', (0, 0)); return 'in'",
    "change an owner": "import os; os.chown('OUTSIDE/secret', 1, 1); return 'in'",
    "an attribute": "import os; os.setxattr('OUTSIDE/secret', 'user.a', b'x'); return 'in'",
    "a named pipe": "import os; os.mkfifo('OUTSIDE/new'); return 'in'",
    "a socket file": "import socket; socket.socket(socket.AF_UNIX).bind('OUTSIDE/new'); return 'in'",
    "control group": "open('/sys/fs/cgroup/cgroup.procs', 'w').write('0'); return 'in'",
    "system request": "open('/proc/sysrq-trigger', 'w').write('h'); return 'in'",
    "kernel settings": "open('/proc/sys/kernel/core_pattern', 'w').write('x'); return 'in'",
    "kernel log": "return 'in' if open('/dev/kmsg', 'rb').read(1) else 0",
    "terminal": "open('/dev/tty', 'w').write('x'); return 'in'",
    "new terminal": "import os; os.openpty(); return 'in'",
    "memory of the machine": "return 'in' if open('/dev/mem', 'rb').read(1) else 0",
    "spare me": "open('/proc/self/oom_score_adj', 'w').write('-1000'); return 'in'",
    "abstract socket": "import socket; socket.socket(socket.AF_UNIX).bind('\\0sq'); return 'in'",
    "datagram pair": "import socket; socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); return 'in'",
    "raw socket": "import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); return 'in'",
    "packet socket": "import socket; socket.socket(17, 3, 768); return 'in'",
    "virtual socket": "import socket; socket.socket(40, 1); return 'in'",
    "another affinity": "import os; os.sched_setaffinity(os.getppid(), {0}); return 'in'",
    "another group": "import os; os.setgroups([]); return 'in'",
    "all users at once": "import os; os.setresuid(1, 1, 1); return 'in'",
    "be traceable": SYSCALL + "return 'in' if ctypes.CDLL(None).prctl(4, 1, 0, 0, 0) == 0 else 0",
    "a shell": "import os; return 'in' if os.system('true') == 0 else 0",
    "a shell of the C library": "import ctypes; return 'in' if ctypes.CDLL(None).system(b'true') == 0 else 0",
    "a hundred files open": "h = [open('a', 'w') for _ in range(10 ** 4)]; return 'in'",
    "huge exception": "raise ValueError('x' * 10 ** 8)",
    "a thread that stays": "import threading, time; threading.Thread(target=time.sleep, args=(10 ** 6,)).start(); return 'out'",
    "an end by itself": "import os; os.kill(os.getpid(), 9)",
    "stopped": "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
    "another type": "import builtins; builtins.type = lambda *a: str; return ['i', 'n']",
    "another length": "import builtins; builtins.len = lambda x: 2; builtins.isinstance = lambda *a: True; return b'in'",
    "a name that lies": "S = type('str', (), {'__module__': 'builtins', '__str__': lambda s: 'in', '__eq__': lambda *a: True}); return S()",
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


_AS_NOBODY = """
import json, sys
sys.path[:0], attacks, outside = [sys.argv[1]], json.loads(sys.argv[2]), sys.argv[3]
sys.path += json.loads(sys.argv[4])
from speedqual.grading.code.grader import make
from speedqual.grading.sandbox import possible_backends, probe
from speedqual.records import Answer, EvalSet, GraderSpec, Item

def run(body, expect):
    item = Item(id="a", row={"tests": {"entry_point": "f", "cases": [{"args": [1], "expect": expect}]}})
    return grader(Answer(text=f"def f(x):\\n    {body}\\n"), item).score

told = {}
for backend in [one for one in possible_backends() if probe(one).holds]:
    options = {"sandbox": backend, "cpu_s": 1, "memory_mb": 256}
    grader = make(EvalSet(name="a", task="code", items=(), grader=GraderSpec(name="code", options=options)))
    told[backend] = {"fine": run("return x", 1)}
    for name, body in attacks.items():
        told[backend][name] = run(body.replace("PORT", "9").replace("OUTSIDE", outside), "in")
print(json.dumps(told))
"""
QUICK = [
    name for name in ATTACKS if not ATTACKS[name].startswith(("while", "import signal", "import time; time.sleep"))
]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_attacks_of_an_ordinary_user() -> None:
    """The same programs where the worker's user is nobody, started by nobody."""
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable
    become = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    with tempfile.TemporaryDirectory() as folder:
        outside = Path(folder, "outside")
        outside.mkdir()
        (outside / "secret").write_text("secret")
        shutil.copytree(
            Path(speedqual.__file__).parent, Path(folder, "speedqual"), ignore=shutil.ignore_patterns("__pycache__")
        )
        for path in (Path(folder), *Path(folder).rglob("*")):
            path.chmod(0o755)
        arguments = [folder, json.dumps({name: ATTACKS[name] for name in QUICK}), str(outside)]
        done = subprocess.run(
            [python, "-s", "-B", "-c", _AS_NOBODY, *arguments, json.dumps([sysconfig.get_path("purelib")])],
            capture_output=True, text=True, cwd="/", timeout=580, check=False, env={"PATH": os.environ["PATH"]}, **become,
        )  # fmt: skip
        assert (outside / "secret").read_text() == "secret" and [path.name for path in outside.iterdir()] == ["secret"]
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told, "no sandbox holds for an ordinary user"
    for backend, scores in told.items():
        assert scores.pop("fine") == 1.0, backend
        assert {name: score for name, score in scores.items() if score != 0.0} == {}, backend


def test_there_are_enough_attacks() -> None:
    assert len(ATTACKS) >= 100


def test_the_sandbox_of_this_machine_holds() -> None:
    if not possible_backends():
        pytest.skip("this machine has no sandbox")
    assert BACKENDS
