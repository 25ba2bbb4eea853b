"""Confine this process, then become the program of a service."""

from __future__ import annotations

import json
import os
import sys

from speedqual.grading.sandbox import confine, landlock, seccomp
from speedqual.grading.sandbox.jobs import Limits

__all__ = ["main"]

LIMITS = Limits(cpu_s=3600.0, memory_mb=0)


def main() -> None:
    """The last argument is the configuration, with the program's ``argv``."""
    config = json.loads(sys.argv[-1])
    folder = config["scratch"]
    os.chdir(folder)
    confine.limit(LIMITS, processes=True)
    if not config["bare"]:
        confine.drop_capabilities()
        if config["landlock"]:
            rules = landlock.Rules(
                read=[*config["read"], *confine.DEVICES[1:]], write=[folder, confine.DEVICES[0]], tree=True
            )
            rules.enforce(folder)
        seccomp.install("tool")
    os.execve(config["argv"][0], config["argv"], {**os.environ, "HOME": folder, "TMPDIR": folder})
