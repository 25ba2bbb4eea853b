"""A load test in a process of its own, to be killed: ``python load_killed.py BASE_URL FOLDER``."""

import asyncio
import sys

from speedqual.evalsets.hashing import hashed
from speedqual.grading import base
from speedqual.records import Candidate, EvalSet, Grade, GraderSpec, Item
from speedqual.running import Retry
from speedqual.running.load import Level, LoadPlan, load_test

COMMON = {"evalset": "toy", "x": 1.0}
PLAN = LoadPlan(
    levels=(
        Level(layer="arrivals", name="open", unit="req/s", arrivals="constant:100", duration_s=0.5, **COMMON),
        Level(layer="concurrency", name="users", unit="users", arrivals="users:4", n=40, **COMMON),
        Level(layer="concurrency", name="talk", unit="users", arrivals="conversations:3x6", **COMMON),
    )
)
N = 50 + 40 + 18


def main(base_url: str, folder: str) -> int:
    base.register("toy", lambda evalset: lambda answer, item: Grade(score=1.0, verdict="pass"))
    items = tuple(Item(id=f"i{k}", row={"q": f"Question {k}"}) for k in range(7))
    evalset = hashed(
        EvalSet(name="toy", task="exact", items=items, grader=GraderSpec(name="toy"), prompt="{q}", max_tokens=64)
    )
    who = [Candidate(name="a", model="m", base_url=base_url)]
    how = {"evalsets": [evalset], "resume": True, "retry": Retry(attempts=1)}
    asyncio.run(load_test(who, PLAN, folder=folder, **how))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
