"""One child seen from outside: what it writes, what it uses, how it ends."""

from __future__ import annotations

import contextlib
import os
import signal
import time

from speedqual.grading.sandbox.jobs import Ended, Limits, Result

__all__ = ["Watched"]

REPLY_BYTES = 8 << 20
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Watched:
    """A running child and all that is known of it.

    ``on_ready`` and ``check_limits`` are called by the worker's loop.
    """

    def __init__(
        self, pid: int, folder: str, limits: Limits, *, result_fd: int, output_fd: int, started_s: float
    ) -> None:
        self.pid, self.folder, self.limits = pid, folder, limits
        self._result_fd, self._output_fd = result_fd, output_fd
        self._pidfd = os.pidfd_open(pid)
        self._reply, self._output = bytearray(), bytearray()
        self._printed = 0
        self._started_s = started_s
        self._wall_s = self._cpu_s = 0.0
        self._killed: Ended | None = None
        self._status: int | None = None
        self._open = {result_fd, output_fd, self._pidfd}

    @property
    def fds(self) -> tuple[int, ...]:
        """What the loop must poll for input."""
        return tuple(self._open)

    @property
    def done(self) -> bool:
        """The child has been reaped."""
        return self._status is not None

    def on_ready(self, fd: int) -> bool:
        """Take in what is there. True when ``fd`` has nothing more to say."""
        if fd == self._pidfd:
            self._reap()
            return True
        return not self._take(fd)

    def check_limits(self) -> None:
        """End the child when it has used more than its limits."""
        if self.done or self._killed:
            return
        wall_s = time.monotonic() - self._started_s
        if (reason := self._over(wall_s)) is not None:
            self.kill(reason)

    def _over(self, wall_s: float) -> Ended | None:
        limits = self.limits
        cpu_s, awake_s = _times(self.pid)
        if cpu_s >= limits.cpu_s:
            return "cpu"
        if not limits.may_idle and awake_s is not None and wall_s - max(awake_s, cpu_s) >= limits.cpu_s:
            return "idle"
        if wall_s >= limits.wall_s:
            return "wall"
        if self._printed > limits.output_kb << 10 or len(self._reply) > REPLY_BYTES:
            return "output"
        return "disk" if _too_much(self.folder, limits) else None

    def kill(self, reason: Ended) -> None:
        """End the child and its process group."""
        self._killed = self._killed or reason
        for send in (os.killpg, os.kill):
            with contextlib.suppress(OSError):
                send(self.pid, signal.SIGKILL)

    def stop(self) -> None:
        """Make sure that it has ended, read what is left in its pipes, close everything."""
        if not self.done:
            self.kill("stopped")
            self._reap()
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)  # a program may have left others of its group
        for fd in (self._result_fd, self._output_fd):
            os.set_blocking(fd, False)
            with contextlib.suppress(BlockingIOError):
                while self._take(fd):
                    pass
        for fd in self._open:
            os.close(fd)

    def _take(self, fd: int) -> bool:
        piece = os.read(fd, 1 << 16)
        if fd == self._result_fd:
            if len(self._reply) <= REPLY_BYTES:
                self._reply += piece
        else:
            self._printed += len(piece)
            room = (self.limits.kept_kb << 10) - len(self._output)
            self._output += piece[: max(room, 0)]
        return bool(piece)

    def _reap(self) -> None:
        _, self._status, usage = os.wait4(self.pid, 0)
        self._cpu_s = usage.ru_utime + usage.ru_stime
        self._wall_s = time.monotonic() - self._started_s

    def result(self) -> Result:
        """What is told to the parent."""
        assert self._status is not None
        by_signal = os.WIFSIGNALED(self._status)
        code = os.WTERMSIG(self._status) if by_signal else os.WEXITSTATUS(self._status)
        return Result(
            ended=self._killed or self._ended_by(by_signal, code),
            code=code,
            cpu_s=round(self._cpu_s, 4),
            wall_s=round(self._wall_s, 4),
            reply=self._reply.decode("latin-1"),
            output=self._output.decode("latin-1"),
        )

    def _ended_by(self, by_signal: bool, code: int) -> Ended:
        if self._printed > self.limits.output_kb << 10:
            return "output"
        if not by_signal:
            return "exit"
        if code == signal.SIGXCPU or (code == signal.SIGKILL and self._cpu_s >= self.limits.cpu_s):
            return "cpu"
        return "disk" if code == signal.SIGXFSZ else "signal"


def _times(pid: int) -> tuple[float, float | None]:
    """Seconds of CPU used by all threads, and seconds in which the first one ran or waited for a CPU (None =
    unknown).
    """
    cpu_s, awake_s = 0.0, None
    with contextlib.suppress(OSError, ValueError, IndexError):
        with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123
            numbers = file.read().rpartition(")")[2].split()
        cpu_s = (int(numbers[11]) + int(numbers[12])) / _TICKS_PER_S
        with open(f"/proc/{pid}/schedstat") as file:  # noqa: PTH123
            ran_ns, waited_ns, _ = file.read().split()
        awake_s = (int(ran_ns) + int(waited_ns)) / 1e9
    return cpu_s, awake_s


def _too_much(folder: str, limits: Limits) -> bool:
    """Whether the private folder holds more than allowed. The walk ends at the limit of files, so it is bounded too."""
    total = count = 0
    folders = [folder]
    while folders:
        with contextlib.suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                count += 1
                if count > limits.files:
                    return True
                with contextlib.suppress(OSError):
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
    return total > limits.disk_mb << 20
