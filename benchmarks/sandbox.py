"""How many sandboxed tests a second, and what one costs: ``python benchmarks/sandbox.py [seconds]``.

One test is one case of one program: extraction and the compile check are shared by the cases of an answer, each case
is a confined process of its own.
"""

from __future__ import annotations

import os
import statistics
import sys
import threading
import time

from speedqual.grading.base import Grader, grader_for
from speedqual.grading.sandbox import Limits, Role, Sandbox, possible_backends, probe
from speedqual.records import Answer, EvalSet, GraderSpec, Item

CASES = 20
PROGRAM = "```python\ndef f(x):\n    return sorted(x)[-1] + 1\n```"
DRIVER = "speedqual.grading.code.python_driver:call"


def main(seconds: float) -> None:
    """Print one line a backend."""
    print(f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")
    for backend in possible_backends():
        found = probe(backend)
        if not found.holds:
            print(f"{backend}: does not hold ({found.fault or ', '.join(found.open_doors)})")
            continue
        alone_ms = statistics.median(one_child_ms(backend) for _ in range(3))
        for threads in sorted({1, os.cpu_count() or 1}):
            rate = tests_per_s(backend, threads, seconds)
            print(f"{backend}: {alone_ms:.1f} ms a child, {rate:.0f} tests/s on {threads} threads")


def one_child_ms(backend: str) -> float:
    """Median milliseconds from asking to the answer for a child that does next to nothing, on a warm worker."""
    sandbox = Sandbox(backend, drivers=[DRIVER])  # type: ignore[arg-type]
    payload = {"source": "def f(): return 1", "mode": "script", "entry_point": "f", "args": [], "kwargs": {}}
    role = Role(driver=DRIVER, payload=payload, limits=Limits())
    took_ms = []
    for _ in range(60):
        started = time.perf_counter()
        sandbox.run_one(role)
        took_ms.append((time.perf_counter() - started) * 1e3)
    sandbox.close()
    return statistics.median(took_ms[10:])


def tests_per_s(backend: str, threads: int, seconds: float) -> float:
    """Cases graded a second, all of them right, on so many threads."""
    options = {"sandbox": backend}
    grader = grader_for(EvalSet(name="bench", task="code", items=(), grader=GraderSpec(name="code", options=options)))
    cases = [{"args": [[n, n + 1]], "expect": n + 2} for n in range(CASES)]
    item = Item(id="one", row={"tests": {"entry_point": "f", "cases": cases}})
    grader(Answer(text=PROGRAM, stop="stop"), item)
    counts = [0] * threads
    ends_s = time.perf_counter() + seconds
    running = [threading.Thread(target=_grade_until, args=(grader, item, ends_s, counts, n)) for n in range(threads)]
    started = time.perf_counter()
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return sum(counts) / (time.perf_counter() - started)


def _grade_until(grader: Grader, item: Item, ends_s: float, counts: list[int], at: int) -> None:
    while time.perf_counter() < ends_s:
        grade = grader(Answer(text=PROGRAM, stop="stop"), item)
        if grade.score != 1.0:
            raise SystemExit(f"a right program failed: {grade.why}")
        counts[at] += CASES


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 3.0)
