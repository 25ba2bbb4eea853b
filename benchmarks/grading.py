"""How many replies a second each grader judges on one core, on the built-in sets.

``python benchmarks/grading.py``. Each item is graded with its reference and with a wrong, a wordy and an empty reply,
for two seconds of CPU time; imports and the reading of the set come before. Exit status 1 below the bars: 2,000
extraction items and 5,000 fact items a second.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

from speedqual import evalsets
from speedqual.grading.base import grader_for
from speedqual.records import Answer, Item

BARS = {"extraction": 2000, "facts": 5000}
SECONDS = 2.0


def replies(name: str, item: Item) -> list[Answer]:
    """The reference, and three others."""
    if name == "extraction":
        right = json.dumps(item.target, ensure_ascii=False)
        others = [f"Here it is:\n```json\n{right}\n```", '{"total": 1, "note": "x"}', ""]
    else:
        right = str(item.target["answer"])
        others = [f"According to the text, the answer is {right}", "It is not 17 but 18.", ""]
    return [Answer(text=text, stop="stop") for text in (right, *others)]


def rate(name: str) -> float:
    """Replies judged in a second of CPU time."""
    evalset = evalsets.load(name)
    grade: Callable[..., object] = grader_for(evalset)
    pairs = [(answer, item) for item in evalset.items for answer in replies(name, item)]
    for pair in pairs:
        grade(*pair)
    count, start = 0, time.process_time()
    while time.process_time() - start < SECONDS:
        for pair in pairs:
            grade(*pair)
        count += len(pairs)
    return count / (time.process_time() - start)


def main() -> int:
    """Print a table, tell whether the bars are met."""
    good = True
    print(f"{'grader':<12}{'replies/s':>12}{'bar':>8}")
    for name, bar in BARS.items():
        measured = rate(name)
        good &= measured >= bar
        print(f"{name:<12}{measured:>12,.0f}{bar:>8,}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
