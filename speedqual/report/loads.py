"""The analyses of a load test, each made once, when a section first asks for it; None where there is nothing to say."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from speedqual.analysis import (
    ColdStarts,
    Knee,
    LatencyByLoad,
    Lengths,
    Levels,
    LoadErrors,
    Prefix,
    QualityUnderLoad,
    RunTimeline,
    Saturation,
)
from speedqual.analysis.grid import Grid
from speedqual.analysis.load.reading import LoadTable, read_load
from speedqual.analysis.tidy import CLIMBED, numbers
from speedqual.errors import UsageError

if TYPE_CHECKING:
    from speedqual.running import Run

__all__ = ["Loads", "loads_of"]

_LENGTHS_APART = 4.0  # prompts that differ by less tell nothing of length


class Loads:
    """One load test."""

    def __init__(self, run: Run, table: LoadTable) -> None:
        self.run, self.table = run, table

    @property
    def climbs(self) -> bool:
        """Whether a load was climbed: more users or more requests a second."""
        return any(one.layer in CLIMBED for one in self.table.levels)

    @cached_property
    def levels(self) -> Any:
        return self._made(Levels())

    @cached_property
    def knee(self) -> Any:
        return self._made(Knee())

    @cached_property
    def latency(self) -> Any:
        return self._made(LatencyByLoad(layers=CLIMBED, knee=self.knee))

    @cached_property
    def saturation(self) -> Any:
        return None if self.levels is None or not self.climbs else Saturation()(self.levels)

    @cached_property
    def timeline(self) -> Any:
        return self._made(RunTimeline())

    @cached_property
    def quality(self) -> Any:
        return self._made(QualityUnderLoad())

    @cached_property
    def errors(self) -> Any:
        return self._made(LoadErrors())

    @cached_property
    def lengths(self) -> Any:
        return self._made(Lengths())

    @cached_property
    def prefix(self) -> Any:
        found = self._made(Prefix())
        return found if found is not None and len(found.table) else None

    @cached_property
    def cold(self) -> Any:
        found = self._made(ColdStarts())
        return found if found is not None and len(found.table) else None

    @cached_property
    def by_length(self) -> Any:
        """Time to first token over load and input length, where the prompts of the climbed layer differ in length."""
        frame = self.table.frame
        limited = {one.key for one in self.table.levels if one.limited}
        keys = zip(frame["candidate"], frame["layer"], frame["level"], strict=True)
        kept = frame[[key[1] == "concurrency" and key not in limited for key in keys]]
        tokens = numbers(kept, "n_prompt")
        tokens = tokens[tokens > 0]
        if not tokens.size or tokens.max() < _LENGTHS_APART * tokens.min() or kept["candidate"].nunique() > 1:
            return None
        return _attempt(Grid("users", "n_prompt"), kept.assign(users=kept["load_x"]))

    def _made(self, analysis: Callable[[Any], Any]) -> Any:
        return _attempt(analysis, self.run)


def loads_of(run: Run) -> Loads | None:
    """None for a run that is no load test."""
    table = _attempt(read_load, run)
    return None if table is None else Loads(run, table)


def _attempt(analysis: Callable[[Any], Any], data: Any) -> Any:
    try:
        return analysis(data)
    except UsageError:
        return None
