"""One level of a load test in a process of its own: the job as JSON on stdin, its cost as JSON on stdout.

Nothing is graded: what is measured is sending, reading and keeping. CPU time and memory are those from the start to the
end of the level, CPU time with that of the processes that share it.
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass, field
from typing import Any

import psutil

from speedqual.evalsets.generators.load_texts import short_text
from speedqual.records import Candidate
from speedqual.running.load import Level, LoadPlan, load_test
from speedqual.running.watching import LevelFinished, LevelStarted


@dataclass
class Meter:
    """Notes CPU seconds and resident memory at the ends of the level."""

    process: psutil.Process = field(default_factory=psutil.Process)
    cpu_s: list[float] = field(default_factory=list)
    rss_mb: list[float] = field(default_factory=list)

    def __call__(self, event: object) -> None:
        if isinstance(event, (LevelStarted, LevelFinished)):
            times = [one.cpu_times() for one in (self.process, *self.process.children())]
            self.cpu_s.append(sum(one.user + one.system for one in times))
            self.rss_mb.append(self.process.memory_info().rss / 1e6)

    async def peak_mb(self) -> float:
        """The most resident memory until the end of the level."""
        peak = 0.0
        while len(self.cpu_s) < 2:
            peak = max(peak, self.process.memory_info().rss / 1e6)
            await asyncio.sleep(0.1)
        return peak


async def main() -> None:
    """Run one job."""
    job: dict[str, Any] = json.loads(sys.stdin.read())
    evalset = short_text(langs=("en",), max_tokens=100_000)
    level = Level(layer="arrivals", name="bench", x=1, unit="users", evalset=evalset.name, **job["level"])
    meter = Meter()
    peak_mb = asyncio.create_task(meter.peak_mb())
    await load_test(
        [Candidate(name="bench", model=job["model"], base_url=job["base_url"])],
        LoadPlan(levels=(level,), drain_s=120.0),
        evalsets=[evalset],
        folder=job["folder"],
        environ={},
        grade=False,
        processes=job["processes"],
        observers=[meter],
    )
    cost = {"cpu_s": meter.cpu_s[1] - meter.cpu_s[0], "base_mb": meter.rss_mb[0], "peak_mb": await peak_mb}
    print(json.dumps(cost))


if __name__ == "__main__":
    asyncio.run(main())
