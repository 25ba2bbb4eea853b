"""What a trial costs the client beyond a bare aiohttp reader: ``python benchmarks/evaluator.py [TRIALS] [TOKENS]``.

The scripted endpoint runs in a process of its own. Both sides send the same requests one after another; the bare
reader parses each frame and keeps nothing. Printed: CPU milliseconds a trial of both, and their difference, for the
asking alone and for all of a run (asking, records on disk, grading, the table).
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

import aiohttp

from speedqual.endpoints.scripted import Script, serve_in_process
from speedqual.evalsets.hashing import hashed
from speedqual.grading import base
from speedqual.records import Candidate, EvalSet, Grade, GraderSpec, Item
from speedqual.running import Started, TrialFinished, evaluate

__all__ = ["measured"]


def evalset_of(n: int) -> EvalSet:
    items = tuple(Item(id=f"i{k}", row={"q": f"Question {k}"}) for k in range(n))
    grader = GraderSpec(name="all-right")
    return hashed(EvalSet(name="bench", task="exact", items=items, grader=grader, prompt="{q}", max_tokens=512))


async def bare(base_url: str, n: int) -> float:
    """CPU seconds of n requests read line by line."""
    begun = time.process_time()
    async with aiohttp.ClientSession() as session:
        for k in range(n):
            body = {
                "model": "m",
                "messages": [{"role": "user", "content": f"Question {k}"}],
                "max_tokens": 512,
                "stream": True,
                "stream_options": {"include_usage": True},
            }
            async with session.post(f"{base_url}/chat/completions", json=body) as reply:
                async for line in reply.content:
                    if line.startswith(b"data: {"):
                        json.loads(line[6:])
    return time.process_time() - begun


async def ours(base_url: str, n: int, folder: Path) -> tuple[float, float]:
    """CPU seconds of the asking alone, and of the whole run."""
    marks: list[float] = []

    def mark(event: object) -> None:
        if isinstance(event, Started) or (isinstance(event, TrialFinished) and len(marks) == 1):
            marks.append(time.process_time())
        elif isinstance(event, TrialFinished):
            marks[-1] = time.process_time()

    base.register("all-right", lambda evalset: lambda answer, item: Grade(score=1.0, verdict="pass"))
    begun = time.process_time()
    candidate = Candidate(name="bench", model="m", base_url=base_url)
    await evaluate([candidate], [evalset_of(n)], folder=folder, observers=[mark])
    return marks[-1] - marks[0], time.process_time() - begun


def measured(n: int, n_tokens: int) -> dict[str, float]:
    """CPU milliseconds a trial: ``bare``, ``asking`` and ``run`` (medians of three rounds, in turn)."""
    rounds: list[tuple[float, float, float]] = []
    with serve_in_process({"m": Script(ttft_ms=0, tok_s=0, n=n_tokens)}) as server:
        for _ in range(3):
            plain = asyncio.run(bare(server.base_url, n))
            with tempfile.TemporaryDirectory() as folder:
                asking, whole = asyncio.run(ours(server.base_url, n, Path(folder, "run")))
            rounds.append((plain, asking, whole))
    middle = (sorted(column)[1] * 1000 / n for column in zip(*rounds, strict=True))
    return dict(zip(("bare", "asking", "run"), middle, strict=True))


def main() -> None:
    given = [int(word) for word in sys.argv[1:]]
    n, n_tokens = (*given, *(1000, 20)[len(given) :])
    found = measured(n, n_tokens)
    print(f"{n} trials of {n_tokens} tokens, CPU ms a trial:")
    for name, value in found.items():
        beyond = "" if name == "bare" else f"   {value - found['bare']:.3f} beyond bare (goal: under 2)"
        print(f"  {name:7} {value:6.3f}{beyond}")


if __name__ == "__main__":
    main()
