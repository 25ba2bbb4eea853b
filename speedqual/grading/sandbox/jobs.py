"""What is asked of a sandbox and what comes back: plain values that cross a pipe as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from speedqual.records import Plain

__all__ = ["Ended", "Job", "Limits", "Result", "Role"]

Ended = Literal[
    "exit",  # by itself; ``code`` is its exit status
    "signal",  # by a signal; ``code`` is its number
    "cpu",  # the limit that decides: CPU seconds used
    "idle",  # asleep by its own choice for as long as the CPU limit, whatever the load of the host
    "wall",  # the generous last resort
    "output",  # printed or wrote more than allowed
    "disk",  # made too many or too large files
    "stopped",  # by us, after the role that it served had ended
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits(Plain):
    """What one process may use.

    The CPU limit decides; ``wall_s`` is a multiple of it, so a loaded host fails nobody.
    """

    cpu_s: float = 5.0
    memory_mb: int = 512  # address space; 0 = not limited that way (for programs that reserve more than they use)
    output_kb: int = 1024  # more than this on stdout and stderr together ends it
    kept_kb: int = 64  # what is kept of its output
    disk_mb: int = 16
    files: int = 64
    wall_factor: float = 10.0
    may_idle: bool = False  # True for a process that waits for another one by design

    @property
    def wall_s(self) -> float:
        """Seconds on the wall before the last resort."""
        return self.cpu_s * self.wall_factor


@dataclass(frozen=True, slots=True, kw_only=True)
class Role(Plain):
    """One confined process: a driver function of a preloaded module (``module:function``), or a program."""

    driver: str = ""
    payload: Any = None
    nonce: str = ""  # stands before the driver's reply
    argv: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)  # put into its private folder beforehand
    stdin: str = ""
    limits: Limits = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Job(Plain):
    """One or two roles. Two are joined by a socket pair (descriptor 4 in both); the first one's end ends the job."""

    roles: tuple[Role, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(Plain):
    """How one role ended.

    Everything here was seen from outside the process but ``reply`` and ``output``: those it wrote.
    """

    ended: Ended
    code: int
    cpu_s: float
    wall_s: float
    reply: str = ""  # what it wrote to its result pipe, as Latin-1
    output: str = ""  # the first ``kept_kb`` of what it printed, as Latin-1
