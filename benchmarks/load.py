"""How much of a load test is the client? ``python benchmarks/load.py [--short]``

The scripted endpoint and the sender are each pinned to a core of their own; two client processes share the sender's. A
TTFT error is the record's stamp of the first token minus the server's logged write of it. Beside the load tests the
bare reader of ``client_readers.py`` reads the same streams, and so do the openai package and public load tools where
they are installed (``load_tools.py``). A figure from a run in which the server's core was over 90 % busy is void.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import client
import load_tools
import numpy as np
from client_servers import Scripted

from speedqual.endpoints.scripted import serve_in_process
from speedqual.endpoints.scripted.script import script_from_words
from speedqual.evalsets.generators.unique import unique_line
from speedqual.records import Record
from speedqual.running import Run

SENDER = Path(__file__).with_name("load_sender.py")
OTHERS = ("bare", *(("openai",) if find_spec("openai") else ()))


@dataclass(frozen=True)
class Case:
    """One level: ``arrivals`` for ``n`` requests or ``duration_s``, each answered by ``script``."""

    name: str
    arrivals: str
    script: str
    n: int | None = None
    duration_s: float | None = None

    @property
    def level(self) -> dict[str, Any]:
        return {"arrivals": self.arrivals, "n": self.n, "duration_s": self.duration_s}


@dataclass(frozen=True)
class Sent:
    """What came of a case: its records and entry, its cost, the server's log by the unique line of each prompt."""

    records: tuple[Record, ...]
    entry: dict[str, Any]
    cost: dict[str, float]
    truth: dict[str, dict[str, Any]]
    run: str
    void: bool

    @property
    def tokens(self) -> int:
        return sum(len(record.last.timeline.events) for record in self.records)

    @property
    def cpu_s_per_mtok(self) -> float:
        return self.cost["cpu_s"] / self.tokens * 1e6

    def ttft_error_ms(self) -> list[float]:
        """Stamp of the first token − its write, of each request."""
        return [(record.last.timeline.events[0].t_ns - self._written(record)) / 1e6 for record in self.records]

    def _written(self, record: Record) -> int:
        place = record.trial.load
        assert place is not None
        line = unique_line("en", self.run, record.trial.candidate, place.layer, place.level, place.number)
        written: int = self.truth[line.strip()]["sent"][0]
        return written

    def lag_ms(self) -> list[float]:
        """How late each request left."""
        lines = (record.last.timeline for record in self.records)
        return [(line.t_send - line.t_sched) / 1e6 for line in lines if line.t_send and line.t_sched]

    def rate(self) -> float:
        """Requests a second that really left."""
        at = sorted(record.last.timeline.t_send or 0 for record in self.records)
        return (len(at) - 1) / (at[-1] - at[0]) * 1e9


def send(case: Case, processes: int, cores: tuple[int | None, int | None]) -> Sent:
    """Run a case with so many client processes."""
    with serve_in_process(core=cores[0]) as served, TemporaryDirectory() as folder:
        job = {
            "base_url": served.base_url,
            "model": f"script:{case.script}",
            "level": case.level,
            "folder": f"{folder}/run",
            "processes": processes,
        }
        pin = (lambda: os.sched_setaffinity(0, {cores[1]})) if cores[1] is not None else None
        done = subprocess.run(
            [sys.executable, SENDER],
            input=json.dumps(job),
            text=True,
            stdout=subprocess.PIPE,
            check=True,
            preexec_fn=pin,
        )
        run = Run.open(f"{folder}/run")
        (entry,) = run.manifest["load"]["levels"]
        took_s = (entry["drained_ms"] - entry["start_ms"]) / 1e3
        void = served.stats()["cpu_s"] > 0.9 * took_s
        truth = {one["prompt"].split("\n")[0]: one for one in served.log() if one.get("sent")}
        return Sent(tuple(run.records), entry, json.loads(done.stdout), truth, run.name, void)


def other(reader: str, case: Case, streams: int, cores: tuple[int | None, int | None]) -> client.Figures:
    """The same streams read by another reader."""
    words = dict(word.split("=") for word in case.script.split(","))
    level = client.Level(streams, case.n or streams, int(words["n"]), float(words["tok_s"]))
    with serve_in_process(core=cores[0]) as served:
        return client.run(reader, level, Scripted(served), cores[1], 1)


@dataclass(frozen=True)
class Goal:
    """A figure, the most it may be, and what it is."""

    where: str
    what: str
    figure: float
    most: float
    void: bool = False

    def __str__(self) -> str:
        verdict = "void" if self.void else "met " if self.figure <= self.most else "MISS"
        return f"{verdict} {self.where:26} {self.what:40} {self.figure:9.3f}  goal <= {self.most:g}"


def p99(values: list[float]) -> float:
    return float(np.percentile(np.abs(values), 99))


def paced(streams: int, most_ms: float, cores: tuple[int | None, int | None], *, short: bool) -> Iterator[Goal]:
    """So many streams at a time, and how others do."""
    tok_s = 50 if streams < 500 else 20
    n = streams if short else 2 * streams
    case = Case(f"{streams} paced streams", f"users:{streams}", f"ttft_ms=200,tok_s={tok_s},n=64", n=n)
    sent = send(case, 1, cores)
    errors = sent.ttft_error_ms()
    kb = (sent.cost["peak_mb"] - sent.cost["base_mb"]) / streams * 1e3
    print(f"{case.name:26} speedqual  TTFT error p50 {np.median(errors):.3f}, p99 {p99(errors):.3f} ms; ", end="")
    print(f"{sent.cpu_s_per_mtok:.1f} CPU s per million tokens, all of it; {kb:.0f} KB a stream")
    for reader in OTHERS:
        found = other(reader, case, streams, cores)
        print(f"{'':26} {reader:10} TTFT error p50 {found.ttft_p50:.3f}, p99 {found.ttft_p99:.3f} ms; ", end="")
        print(f"{found.cpu_s_per_mtok:.1f}, reading alone; {found.mb_per_stream * 1e3:.0f} KB a stream", end="; ")
        print(f"error p99 is {p99(errors) / found.ttft_p99:.3f} of its")
    for tool in load_tools.tools():
        its = load_tools.figures_of(tool, script_from_words(case.script), {"users": streams}, n, cores)
        print(f"{'':26} {tool.name:10} TTFT error p50 {np.median(its.ttft_error_ms):.3f}, ", end="")
        print(f"p99 {p99(its.ttft_error_ms):.3f} ms; its TTFT is off by {np.median(its.reported_ms):.1f}, ", end="")
        print(
            f"p99 {p99(its.reported_ms):.1f} ms; {its.cpu_s_per_mtok:.1f} CPU s per million tokens, all of it; ", end=""
        )
        print(f"error p99 is {p99(errors) / p99(its.ttft_error_ms):.4f} of its{its.doubt}")
    yield Goal(case.name, "TTFT error p99, ms", p99(errors), most_ms, sent.void)
    yield Goal(case.name, "memory a stream, KB", kb, 100.0, sent.void)
    if streams == 256:
        yield from shared(case, sent, cores, runs=1 if short else 3)


def shared(case: Case, one: Sent, cores: tuple[int | None, int | None], *, runs: int) -> Iterator[Goal]:
    """Two client processes against one: the median ratio of so many pairs of runs."""
    two = send(case, 2, cores)
    ratios = [two.cpu_s_per_mtok / one.cpu_s_per_mtok]
    for _ in range(runs - 1):
        by_one, by_two = send(case, 1, cores), send(case, 2, cores)
        ratios.append(by_two.cpu_s_per_mtok / by_one.cpu_s_per_mtok)
    same = Counter(map(_identity, one.records)) == Counter(map(_identity, two.records))
    print(f"{'':26} two processes: {two.cpu_s_per_mtok:.1f} CPU s per million tokens, ", end="")
    print(
        f"TTFT error p99 {p99(two.ttft_error_ms()):.3f} ms, the records are {'' if same else 'NOT '}the same; ", end=""
    )
    print("CPU by that of one " + ", ".join(f"{ratio:.2f}" for ratio in ratios))
    yield Goal(case.name, "CPU a token, two processes by one", float(np.median(ratios)), 1.15)
    yield Goal(case.name, "merged records that differ", float(not same), 0.0)


def _identity(record: Record) -> tuple[str, str, str]:
    return record.trial.key, record.last.text, record.last.outcome


def open_loops(cores: tuple[int | None, int | None], *, short: bool) -> Iterator[Goal]:
    """Requests that leave on time, whatever comes back."""
    quick = "ttft_ms=20,tok_s=0,n=4,chunks_per_write=4"
    seconds = 4.0 if short else 20.0
    for rate in (200, 500):
        case = Case(f"{rate} requests/s", f"constant:{rate}", quick, duration_s=seconds)
        sent = send(case, 1, cores)
        off = abs(sent.rate() / rate - 1) * 100
        failed = sum(record.last.outcome != "ok" for record in sent.records)
        print(f"{case.name:26} {len(sent.records)} sent, {failed} failed, {sent.rate():.2f} a second; ", end="")
        print(f"late p50 {np.median(sent.lag_ms()):.3f}, p99 {p99(sent.lag_ms()):.3f} ms; ", end="")
        print(f"client {sent.entry['client']['cpu_share']:.0%} of its core")
        for tool in load_tools.tools():
            its = load_tools.figures_of(tool, script_from_words(quick), {"rate": rate}, int(rate * seconds), cores)
            print(f"{'':26} {tool.name:10} {its.rate:.2f} a second, off by {abs(its.rate / rate - 1):.2%}{its.doubt}")
        yield Goal(case.name, "realised rate off by, %", off, 0.5, sent.void)
        yield Goal(case.name, "schedule lag p99, ms", p99(sent.lag_ms()), 5.0, sent.void)


def main() -> None:
    """Run all cases and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="quick runs, to see that it works")
    short = parser.parse_args().short
    known = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    cores = (known[0], known[1]) if len(known) > 1 else (None, None)
    print(f"scripted endpoint on core {cores[0]}, sender on core {cores[1]}; {len(known)} cores in all")
    for tool in load_tools.tools():
        print(f"{tool.name} {tool.version}, on the sender's core too")
    if len(known) < 4:
        print("fewer than 4 cores: how two processes raise the rate is not shown")
    goals = [*paced(256, 2.0, cores, short=short), *paced(1000, 10.0, cores, short=short)]
    goals += open_loops(cores, short=short)
    print("\n".join(map(str, goals)))


if __name__ == "__main__":
    main()
