"""The sandbox's parts: the call filter step by step, on both architectures; limits, workers that get lost, other users."""

from __future__ import annotations

import errno
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

import speedqual
from speedqual.grading.sandbox import (
    Job,
    Limits,
    Role,
    Sandbox,
    SandboxLost,
    best_backend,
    interpreter,
    possible_backends,
    probe,
    seccomp,
    syscalls,
)
from speedqual.grading.sandbox.framing import read_frame, write_frame

CALL = "speedqual.grading.code.python_driver:call"
ALLOW, KILL = 0x7FFF0000, 0x80000000
OWN, WORKER = 1234, 777


def verdict(steps: list[seccomp.Instruction], call: str | int, *arguments: int, arch: int | None = None) -> int | str:
    """What the filter says of a call: a small interpreter of its five instructions."""
    number = syscalls.number(call) if isinstance(call, str) else call
    assert number is not None
    words = {0: number, 4: syscalls.audit_architecture() if arch is None else arch}
    words |= {16 + 8 * at: value & 0xFFFFFFFF for at, value in enumerate(arguments)}
    at = value = 0
    while True:
        code, if_true, if_false, k = steps[at]
        at += 1
        if code == 0x06:
            return {ALLOW: "allow", KILL: "kill"}.get(k, k & 0xFFFF)
        if code == 0x20:
            value = words.get(k, 0) or 0
        elif code == 0x54:
            value &= k
        else:
            holds = {0x15: value == k, 0x35: value >= k, 0x45: bool(value & k)}[code]
            at += if_true if holds else if_false


@pytest.fixture(params=["x86_64", "aarch64"])
def machine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(platform, "machine", lambda: request.param)
    return str(request.param)


class TestFilterOfTests:
    @pytest.fixture
    def steps(self, machine: str) -> list[seccomp.Instruction]:
        return seccomp.build("test", pid=OWN, parent=WORKER)

    def test_plain_calls_pass(self, steps: list[seccomp.Instruction]) -> None:
        for call in ("read", "write", "mmap", "brk", "futex", "openat", "exit_group", "getrandom", "clock_gettime"):
            assert verdict(steps, call) == "allow", call

    def test_every_denied_call_is_refused(self, steps: list[seccomp.Instruction]) -> None:
        for number in syscalls.denied():
            assert verdict(steps, number) == errno.EPERM, number

    def test_unknown_calls_are_refused(self, steps: list[seccomp.Instruction]) -> None:
        assert verdict(steps, 999) == errno.EPERM
        assert verdict(steps, 0x40000000 + 1) == errno.EPERM

    def test_another_architecture_is_killed(self, steps: list[seccomp.Instruction]) -> None:
        assert verdict(steps, "read", arch=0x40000003) == "kill"

    def test_threads_yes_processes_no(self, steps: list[seccomp.Instruction]) -> None:
        assert verdict(steps, "clone", 0x003D0F00) == "allow"
        assert verdict(steps, "clone", 17) == errno.EAGAIN
        assert verdict(steps, "clone", 0x10000011) == errno.EAGAIN
        assert verdict(steps, "clone3") == errno.ENOSYS
        assert verdict(steps, "execve") == errno.EPERM

    def test_signals_and_limits_reach_itself_alone(self, steps: list[seccomp.Instruction]) -> None:
        for call in ("kill", "tgkill", "prlimit64"):
            assert verdict(steps, call, OWN) == "allow"
            assert verdict(steps, call, WORKER) == errno.EPERM
            assert verdict(steps, call, -1) == errno.EPERM
        assert verdict(steps, "prlimit64", 0) == "allow"

    def test_a_stream_pair_is_the_only_socket(self, steps: list[seccomp.Instruction]) -> None:
        assert verdict(steps, "socketpair", 1, 1 | 0x80000) == "allow"
        assert verdict(steps, "socketpair", 1, 2) == errno.EPERM
        assert verdict(steps, "socketpair", 2, 1) == errno.EPERM
        assert verdict(steps, "socket", 1, 1) == errno.EPERM

    def test_descriptors_cannot_be_made_to_signal_others(self, steps: list[seccomp.Instruction]) -> None:
        assert verdict(steps, "fcntl", 3, 4) == "allow"
        for command in (8, 10, 15):
            assert verdict(steps, "fcntl", 3, command) == errno.EPERM
        assert verdict(steps, "ioctl", 3, 0x5421) == "allow"
        assert verdict(steps, "ioctl", 3, 0x5412) == errno.ENOTTY


class TestFilterOfTools:
    @pytest.fixture
    def steps(self, machine: str) -> list[seccomp.Instruction]:
        return seccomp.build("tool", pid=OWN, parent=WORKER)

    def test_programs_may_be_started_and_nothing_else(self, steps: list[seccomp.Instruction]) -> None:
        assert verdict(steps, "execve") == "allow"
        assert verdict(steps, "clone", 17) == "allow"
        assert verdict(steps, "clone", 0x10000011) == errno.EPERM
        assert verdict(steps, "kill", 5000, 9) == "allow"
        assert verdict(steps, "kill", WORKER, 9) == errno.EPERM
        assert verdict(steps, "kill", -1, 9) == errno.EPERM
        for number in syscalls.denied():
            assert verdict(steps, number) == errno.EPERM, number

    def test_another_architecture_is_killed(self, steps: list[seccomp.Instruction]) -> None:
        assert verdict(steps, "read", arch=0x40000003) == "kill"


def test_a_machine_without_numbers_has_no_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "vax")
    assert syscalls.number("read") is None
    assert not seccomp.available()


def test_frames_end_with_their_pipe() -> None:
    reader, writer = os.pipe()
    write_frame(writer, {"text": "é" * 1000})
    assert read_frame(reader) == {"text": "é" * 1000}
    with pytest.raises(TimeoutError):
        read_frame(reader, timeout_s=0.01)
    os.close(writer)
    assert read_frame(reader) is None
    os.close(reader)


def role(source: str, **limits: float) -> Role:
    payload = {"source": source, "mode": "script", "entry_point": "f", "args": [], "kwargs": {}}
    return Role(driver=CALL, payload=payload, limits=Limits(**{"cpu_s": 2.0, **limits}))  # type: ignore[arg-type]


@pytest.fixture
def sandbox() -> Sandbox:
    backend = best_backend()
    assert backend
    return Sandbox(backend, drivers=[CALL])


def test_results_are_seen_from_outside(sandbox: Sandbox) -> None:
    result = sandbox.run_one(role("import os\ndef f():\n    print('hello', flush=True)\n    os._exit(7)"))
    assert (result.ended, result.code, result.output) == ("exit", 7, "hello\n")
    result = sandbox.run_one(role("import os\ndef f(): os.kill(os.getpid(), 15)"))
    assert (result.ended, result.code) == ("signal", signal.SIGTERM)


@pytest.mark.slow
def test_the_cpu_limit_may_be_a_fraction_and_threads_count(sandbox: Sandbox) -> None:
    result = sandbox.run_one(role("def f():\n    while True: pass", cpu_s=0.3))
    assert result.ended == "cpu" and 0.25 < result.cpu_s < 1.2
    spin = "import threading\ndef spin():\n    while True: pass\ndef f():\n    threading.Thread(target=spin).start()\n    spin()"
    assert sandbox.run_one(role(spin, cpu_s=0.3)).ended == "cpu"


@pytest.mark.slow
def test_what_waits_for_the_cpu_is_not_idle_and_not_late(sandbox: Sandbox) -> None:
    hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(6)]
    try:
        work = "import time\ndef f():\n    while time.process_time() < 0.4: pass\n    return 1"
        result = sandbox.run_one(role(work, cpu_s=1.0))
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()
    assert result.ended == "exit" and '"value": 1' in result.reply


def test_a_lost_worker_is_replaced_and_the_job_done(sandbox: Sandbox) -> None:
    assert '"value": 1' in sandbox.run_one(role("def f(): return 1")).reply
    (handle,) = sandbox._idle
    handle._process.kill()
    handle._process.wait()
    assert '"value": 2' in sandbox.run_one(role("def f(): return 2")).reply


def test_a_worker_that_cannot_start_says_why() -> None:
    with pytest.raises(SandboxLost, match="nosuch_module"):
        Sandbox("none", drivers=["nosuch_module:f"]).run_one(role("def f(): return 1"))


@pytest.mark.slow
def test_threads_share_a_sandbox(sandbox: Sandbox) -> None:
    replies: dict[int, str] = {}

    def work(n: int) -> None:
        replies[n] = sandbox.run_one(role(f"def f(): return {n}")).reply

    threads = [threading.Thread(target=work, args=(n,)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(f'"value": {n}' in reply for n, reply in replies.items()) and len(replies) == 12


def test_roles_of_a_job_are_joined_and_end_together(sandbox: Sandbox) -> None:
    wait = "import os\ndef f():\n    return os.read(4, 5).decode()"
    send = "import os, time\ndef f():\n    os.write(4, b'hello')\n    time.sleep(60)"
    first, second = sandbox.run(Job(roles=(role(wait), role(send))))
    assert '"value": "hello"' in first.reply
    assert second.ended == "stopped"


def test_the_environment_and_the_folder_are_empty(sandbox: Sandbox) -> None:
    look = "import os\ndef f(): return [sorted(os.environ), os.listdir('.')]"
    assert '"value": [["LANG", "PATH", "PYTHONHASHSEED", "TZ"], []]' in sandbox.run_one(role(look)).reply.replace(
        '"LC_CTYPE", ', "").replace('"PWD", ', "")  # fmt: skip


def test_sets_have_one_order_in_every_process() -> None:
    backend = best_backend()
    assert backend
    look = "def f(): return [list({'a', 'b', 'c', 'd', 'e'}), __import__('random').random()]"
    replies = {Sandbox(backend, drivers=[CALL]).run_one(role(look)).reply for _ in range(3)}
    assert len(replies) == 1


def test_doors_are_open_without_a_sandbox() -> None:
    """The probe must be able to fail, or its passing says nothing."""
    found = probe("none")
    assert not found.holds
    assert {"loopback", "fork", "read outside", "write outside", "kill the parent", "daemon"} <= set(found.open_doors)
    Path("/dev/shm/speedqual-probe").unlink(missing_ok=True)


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0, reason="this run is already an ordinary user's")
@pytest.mark.parametrize("backend", possible_backends())
def test_backends_hold_for_an_ordinary_user(backend: str) -> None:
    python = next(path for path in (shutil.which("python3", path="/usr/bin:/usr/local/bin"), sys.executable) if path)
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder, "speedqual")
        shutil.copytree(
            Path(speedqual.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__", "_builtin*")
        )
        for path in (Path(folder), *Path(folder).rglob("*")):
            path.chmod(0o755)
        script = (
            f"import os, sys\nsys.path.insert(0, {folder!r})\nfrom speedqual.grading.sandbox import probe\n"
            f"found = probe({backend!r})\nprint(os.getuid(), found.holds, found)"
        )
        done = subprocess.run(
            [python, "-s", "-B", "-c", script], user=65534, group=65534, extra_groups=[], env={"PATH": os.environ["PATH"]},
            cwd="/", capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.stdout.startswith("65534 True"), done.stdout + done.stderr


def test_the_interpreter_is_told_with_its_folders() -> None:
    here = interpreter()
    assert here.version == platform.python_version()
    assert all(Path(folder).is_dir() for folder in here.folders)
