"""A run in a process of its own, to be killed: ``python killed.py BASE_URL FOLDER N [MAX_BYTES]``."""

import asyncio
import resource
import signal
import sys

from speedqual.evalsets.hashing import hashed
from speedqual.grading import base
from speedqual.records import Candidate, EvalSet, Grade, GraderSpec, Item
from speedqual.running import evaluate


def main(base_url: str, folder: str, n: int, max_bytes: int | None = None) -> int:
    if max_bytes is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (max_bytes, max_bytes))
    base.register("toy", lambda evalset: lambda answer, item: Grade(score=1.0, verdict="pass"))
    items = tuple(Item(id=f"i{k}", row={"q": f"Question {k}"}) for k in range(n))
    evalset = hashed(
        EvalSet(name="toy", task="exact", items=items, grader=GraderSpec(name="toy"), prompt="{q}", max_tokens=64)
    )
    candidates = [Candidate(name=name, model="m", base_url=base_url, params={"seed": i}) for i, name in enumerate("ab")]
    try:
        asyncio.run(evaluate(candidates, [evalset], folder=folder, resume=True, concurrency=4))
    except Exception as error:
        print(f"{type(error).__name__}: {error}", flush=True)
        return getattr(error, "exit_code", 1)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), *(int(word) for word in sys.argv[4:])))
