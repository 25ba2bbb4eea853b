"""The servers that readers are measured against: a calibrated C server where its source is, else the scripted one."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import Request, urlopen

from speedqual.endpoints.scripted import Served, serve_in_process

CALSERVER = Path(__file__).parents[2] / "shared" / "bench" / "calserver.c"


@dataclass
class Truth:
    """When the server sent the first and the last token of each request, by its model's name; ns."""

    first: dict[str, int] = field(default_factory=dict)
    last: dict[str, int] = field(default_factory=dict)


class Scripted:
    """The package's own endpoint."""

    name = "scripted endpoint"

    def __init__(self, served: Served) -> None:
        self._served, self.base_url = served, served.base_url

    def model(self, number: int, *, ttft_ms: float, tok_s: float, n: int, batch: int = 1) -> str:
        return f"script:ttft_ms={ttft_ms:g},tok_s={tok_s:g},n={n},chunks_per_write={batch},seed={number}"

    def cpu_s(self) -> float:
        return float(self._served.stats()["cpu_s"])

    def truth(self) -> Truth:
        log = [entry for entry in self._served.log() if entry["sent"]]
        return Truth({e["model"]: e["sent"][0] for e in log}, {e["model"]: e["sent"][-1] for e in log})


class Calibrated:
    """The C server: one thread, never the limit."""

    name = "calibrated C server"

    def __init__(self, port: int, folder: Path) -> None:
        self._root, self._folder = f"http://127.0.0.1:{port}", folder
        self.base_url = f"{self._root}/v1"

    def model(self, number: int, *, ttft_ms: float, tok_s: float, n: int, batch: int = 1) -> str:
        return f"cal:ttft_ms={ttft_ms:g},tps={tok_s:g},n={n},batch={batch},seed={number}"

    def cpu_s(self) -> float:
        with urlopen(f"{self._root}/cal/stats", timeout=10) as reply:
            return float(json.load(reply)["cpu_s"])

    def truth(self) -> Truth:
        files = sorted(self._folder.glob("*.jsonl"))
        following = self._folder / f"truth{len(files)}.jsonl"  # the log so far is flushed when a new file begins
        with urlopen(Request(f"{self._root}/cal/log", data=str(following).encode()), timeout=10):
            pass
        truth = Truth()
        for file in files:
            for line in file.read_text("utf-8").splitlines():
                entry: dict[str, Any] = json.loads(line)
                truth.first[entry["model"]], truth.last[entry["model"]] = entry["t_first"], entry["t_last"]
        return truth


Server = Scripted | Calibrated


@contextmanager
def serve(core: int | None) -> Iterator[Server]:
    """The best server there is, pinned to ``core``."""
    if CALSERVER.exists() and shutil.which("gcc"):
        with TemporaryDirectory() as folder, _calibrated(Path(folder), core) as server:
            yield server
    else:
        with serve_in_process(core=core) as served:
            yield Scripted(served)


@contextmanager
def _calibrated(folder: Path, core: int | None) -> Iterator[Calibrated]:
    program, port = folder / "calserver", _free_port()
    subprocess.run(["gcc", "-O2", "-o", program, CALSERVER], check=True, capture_output=True)
    child = subprocess.Popen([program, "-p", str(port), "-l", folder / "truth.jsonl"], stderr=subprocess.DEVNULL)
    try:
        if core is not None:
            os.sched_setaffinity(child.pid, {core})
        time.sleep(0.3)
        yield Calibrated(port, folder)
    finally:
        child.terminate()
        child.wait()


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port
