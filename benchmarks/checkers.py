"""Each front end on its corpus: milliseconds a check, cold and warm, and the share judged right.

``python benchmarks/checkers.py [language …]``. Cold = the first check of this process (for warm checkers with the
start of their server); warm = the median of the rest. Exit status 1 when an installed front end judges a snippet wrong.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from speedqual.grading import checkers
from speedqual.grading.code.grader import DRIVERS
from speedqual.grading.sandbox import Sandbox, best_backend

CORPORA = Path(__file__).parents[1] / "tests" / "corpora"


def main(languages: list[str]) -> int:
    """Print a table, tell whether all is right."""
    backend = best_backend()
    if backend is None:
        print("no sandbox of this machine holds: nothing can be checked")
        return 1
    python = Sandbox(backend, drivers=DRIVERS)
    print(f"{'language':<12}{'front end':<24}{'cold ms':>9}{'warm ms':>9}  {'right':<8}")
    good = True
    for language, name in checkers.available_checkers().items():
        if languages and language not in languages:
            continue
        if not name:
            print(f"{language:<12}{'not installed':<24}{'':>9}{'':>9}  not checked")
            continue
        check = (lambda s: checkers.python.check(s, python)) if language == "python" else _checker(language)
        took_ms, right, total = judge(language, check)
        good &= right == total
        print(f"{language:<12}{name:<24}{took_ms[0]:>9.1f}{statistics.median(took_ms[1:]):>9.1f}  {right}/{total}")
    return 0 if good else 1


def _checker(language: str) -> Callable[[str], checkers.Check]:
    return lambda source: checkers.check(language, source)


def judge(language: str, check: Callable[[str], checkers.Check]) -> tuple[list[float], int, int]:
    """(milliseconds of each check, how many were judged right, how many there are)."""
    text = (CORPORA / f"{language.replace('+', 'p')}.txt").read_text("utf-8")
    took_ms, right = [], 0
    for part in f"\n{text}".split("\n@@@ ")[1:]:
        kind, _, source = part.partition("\n")
        started = time.perf_counter()
        found = check(source.removesuffix("\n"))
        took_ms.append((time.perf_counter() - started) * 1e3)
        right += found.ok is (kind == "valid")
    return took_ms, right, len(took_ms)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
