"""One frontier a task (or difficulty, language, eval set): small multiples that share their axes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from speedqual.analysis.base import Result
from speedqual.analysis.frontier import Frontier, FrontierResult
from speedqual.analysis.tidy import from_run, tidy
from speedqual.errors import UsageError

__all__ = ["ByTask", "ByTaskResult"]


@dataclass(frozen=True)
class ByTask:
    """``by``: the column of the run that makes the panels; ``frontier``: the parameters of each."""

    by: str = "task"
    frontier: Frontier = field(default_factory=Frontier)

    def __call__(self, data: Any) -> ByTaskResult:
        """Analyse a run or its ``df`` panel by panel."""
        table = tidy(data)
        if table.raw is None or self.by not in table.raw:
            raise UsageError(f"the run has no column {self.by!r} to split by", fix="Use task, difficulty or language")
        panels = {
            str(name): self.frontier(from_run(rows))
            for name, rows in table.raw.groupby(self.by, sort=False)
            if str(name)
        }
        if not panels:
            raise UsageError(f"the column {self.by!r} is empty")
        long = pd.concat([p.table.assign(**{self.by: name}) for name, p in panels.items()], ignore_index=True)
        words = " ".join(f"{name}: {', '.join(p.front[:4]) or 'nobody'}." for name, p in panels.items())
        return ByTaskResult(long, f"On the front, fastest first. {words}", table.notes, panels)


@dataclass(frozen=True, eq=False, repr=False)
class ByTaskResult(Result):
    """``panels``: name → frontier; ``table``: their tables with the panel's name."""

    panels: dict[str, FrontierResult]

    def to_dict(self) -> dict[str, Any]:
        """``panels`` by name, each as a frontier's JSON."""
        return {
            "kind": "by_task",
            "verdict": self.verdict,
            "panels": {name: panel.to_dict() for name, panel in self.panels.items()},
        }
