"""How much of a measured latency is the client itself? ``python benchmarks/client.py [--short]``

Server and reader are each pinned to a core of their own. Every level is run by each reader in turn, three times, and
medians count; a figure from a run in which the server's core was over 90 % busy is marked void. Errors are a stamp
minus the server's logged send of the same event. Undelayed = eight events a write, as fast as they go. The openai
package is measured too when it is installed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from client_servers import Server, Truth, serve

READERS = ("speedqual", "bare", *(("openai",) if find_spec("openai") else ()))
READER = Path(__file__).with_name("client_readers.py")
TOK_S = 50.0
HEADER = (
    f"{'':24} {'':10} {'TTFT error, p50 p99':>17} {'TPOT p99':>8} {'CPU s / M tokens':>14} "
    f"{'tokens/s':>11} {'peak MB':>7} {'a stream':>8}\n{'':24} {'':10} {'ms':>17} {'ms':>8} {'read + decode':>14}"
)


@dataclass(frozen=True)
class Level:
    """So many streams at a time, so many requests, each of ``n`` tokens; ``tok_s`` 0 = undelayed."""

    streams: int
    requests: int
    n: int
    tok_s: float = TOK_S

    @property
    def name(self) -> str:
        return f"{self.streams} streams" + ("" if self.tok_s else ", undelayed")


@dataclass(frozen=True)
class Figures:
    """One reader at one level, one run. Times in ms, memory in MB; ``void`` = the server was the limit."""

    ttft_p50: float
    ttft_p99: float
    tpot_p99: float
    cpu_s_per_mtok: float
    decode_cpu_s_per_mtok: float
    tok_s: float
    peak_mb: float
    mb_per_stream: float
    void: bool


def run(reader: str, level: Level, server: Server, core: int | None, first: int) -> Figures:
    """Start the reader, let it finish, compare with the truth."""
    schedule = {"ttft_ms": 200.0 if level.tok_s else 0.0, "tok_s": level.tok_s, "n": level.n}
    batch = 1 if level.tok_s else 8
    models = [server.model(first + i, **schedule, batch=batch) for i in range(level.requests)]  # type: ignore[arg-type]
    warm_up = server.model(first + level.requests, ttft_ms=0, tok_s=0, n=1)
    job = {"base_url": server.base_url, "models": models, "streams": level.streams, "warm_up": warm_up}
    busy_s = server.cpu_s()
    told = json.loads(_child(reader, job, core))
    busy_s = server.cpu_s() - busy_s
    return _figures(told, level, server.truth(), busy_s)


def _child(reader: str, job: dict[str, Any], core: int | None) -> str:
    pin = (lambda: os.sched_setaffinity(0, {core})) if core is not None else None
    program = [sys.executable, READER, reader]
    done = subprocess.run(program, input=json.dumps(job), text=True, stdout=subprocess.PIPE, check=True, preexec_fn=pin)
    return done.stdout


def _figures(told: dict[str, Any], level: Level, truth: Truth, busy_s: float) -> Figures:
    ttft, tpot = [], []
    for model, _, stamps in told["replies"]:
        if len(stamps) != level.n:
            raise SystemExit(f"{model}: {len(stamps)} tokens were read, {level.n} were sent")
        ttft.append((stamps[0] - truth.first[model]) / 1e6)
        tpot.append(((stamps[-1] - stamps[0]) - (truth.last[model] - truth.first[model])) / 1e6 / max(1, level.n - 1))
    mtok = level.requests * level.n / 1e6
    return Figures(
        ttft_p50=float(np.median(ttft)),
        ttft_p99=float(np.percentile(ttft, 99)),
        tpot_p99=float(np.percentile(np.abs(tpot), 99)),
        cpu_s_per_mtok=told["cpu_s"] / mtok,
        decode_cpu_s_per_mtok=told["decode_cpu_s"] / mtok,
        tok_s=level.requests * level.n / told["wall_s"],
        peak_mb=told["peak_mb"],
        mb_per_stream=(told["peak_mb"] - told["base_mb"]) / level.streams,
        void=busy_s > 0.9 * told["wall_s"],
    )


def middle(runs: list[Figures]) -> Figures:
    """Each figure's median over the runs."""
    names = [name for name in Figures.__dataclass_fields__ if name != "void"]
    return Figures(**{name: median(getattr(r, name) for r in runs) for name in names}, void=any(r.void for r in runs))


def start_s(server: Server, core: int | None) -> float:
    """Seconds from starting the interpreter to the first byte of the first request."""
    model = server.model(0, ttft_ms=0, tok_s=0, n=1)
    job = {"base_url": server.base_url, "models": [model], "streams": 1, "warm_up": model}
    begun = time.perf_counter_ns()
    told = json.loads(_child("speedqual", job, core))
    return float((told["replies"][0][1] - begun) / 1e9)


def show(level: Level, by_reader: dict[str, Figures]) -> None:
    """Print one level."""
    for reader, f in by_reader.items():
        cost = f"{f.cpu_s_per_mtok:6.1f} + {f.decode_cpu_s_per_mtok:5.1f}"
        errors = f"{f.ttft_p50:8.3f} {f.ttft_p99:8.3f} {f.tpot_p99:8.4f}" if level.tok_s else f"{'':26}"
        rest = f"{f.tok_s:11,.0f} {f.peak_mb:7.0f} {f.mb_per_stream:8.3f}" + ("  void" if f.void else "")
        print(f"{level.name:24} {reader:10} {errors} {cost} {rest}")
    ours, bare = by_reader["speedqual"], by_reader["bare"]
    cpu = ours.cpu_s_per_mtok / bare.cpu_s_per_mtok
    both = (ours.cpu_s_per_mtok + ours.decode_cpu_s_per_mtok) / bare.cpu_s_per_mtok
    words = f"CPU {cpu:.2f} of bare, {both:.2f} with decoding"
    words += "" if level.tok_s else f", {ours.tok_s / bare.tok_s:.2f} × the tokens a second"
    print(f"{'':24} {'ratio':10} {words}")


def goals(level: Level, by_reader: dict[str, Figures]) -> list[tuple[str, float, float]]:
    """What is aimed at here: name, figure, the most it may be."""
    ours, bare = by_reader["speedqual"], by_reader["bare"]
    if not level.tok_s:
        return [("bare tokens/s by ours, undelayed", bare.tok_s / ours.tok_s, 0.25)]
    if level.streams not in (64, 256):
        return []
    out = [
        ("TTFT error p50, ms", ours.ttft_p50, 0.1),
        ("TTFT error p99, ms", ours.ttft_p99, 0.5 if level.streams == 64 else 2.0),
        ("CPU by bare, reading", ours.cpu_s_per_mtok / bare.cpu_s_per_mtok, 0.8),
        ("CPU by bare, decoding too", (ours.cpu_s_per_mtok + ours.decode_cpu_s_per_mtok) / bare.cpu_s_per_mtok, 1.0),
    ]
    if level.streams == 256:
        out.append(("TPOT error p99, ms", ours.tpot_p99, 0.005))
        out += [("peak memory, MB", ours.peak_mb, 80.0), ("memory a stream, MB", ours.mb_per_stream, 0.1)]
    return out


def verdict(found: list[tuple[str, str, float, float]]) -> None:
    """Print each goal beside its figure."""
    for where, what, figure, most in found:
        print(f"{'met ' if figure <= most else 'MISS'} {where:24} {what:34} {figure:9.4f}  goal <= {most:g}")


def levels(short: bool) -> list[Level]:
    """What is run."""
    if short:
        return [Level(1, 2, 32), Level(64, 64, 32), Level(8, 16, 1000, 0.0)]
    return [
        Level(1, 10, 64),
        Level(16, 64, 64),
        Level(64, 192, 64),
        Level(256, 512, 64),
        Level(16, 128, 2000, 0.0),
    ]


def main() -> None:
    """Run all levels and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="one quick run of three levels")
    parser.add_argument("--runs", type=int, default=0, help="runs a level (3, or 1 with --short)")
    asked = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    server_core, reader_core = (cores[0], cores[1]) if len(cores) > 1 else (None, None)
    with serve(server_core) as server:
        print(f"{server.name} on core {server_core}, readers on core {reader_core}")
        print(HEADER)
        first, found = 1, []
        for level in levels(asked.short):
            runs: dict[str, list[Figures]] = {reader: [] for reader in READERS}
            for _ in range(asked.runs or (1 if asked.short else 3)):
                for reader in READERS:
                    runs[reader].append(run(reader, level, server, reader_core, first))
                    first += level.requests + 1
            by_reader = {reader: middle(of) for reader, of in runs.items()}
            show(level, by_reader)
            found += [(level.name, *goal) for goal in goals(level, by_reader)]
        started_s = median(start_s(server, reader_core) for _ in range(3))
    verdict([*found, ("one request", "command to first request, s", started_s, 1.0)])


if __name__ == "__main__":
    main()
