"""What a load test sends: levels, one after another, each with its arrivals and its questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from speedqual.errors import UsageError
from speedqual.records import Plain
from speedqual.running.load.breaker import BreakerRule
from speedqual.running.load.levels import Level, Unit
from speedqual.running.load.search import Search
from speedqual.timing.goodput import Slo

__all__ = ["Level", "LoadPlan", "Search", "Unit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPlan(Plain):
    """All levels in order, and what holds for each of them.

    After the arrivals of a level what is in flight may take ``drain_s`` more. ``early_stop``: a level whose SLO is
    broken beyond doubt ends the climb of its layer, higher levels are then not sent. ``search``: after the levels, look
    for the knee.
    """

    levels: tuple[Level, ...]
    slos: tuple[Slo, ...] = ()
    drain_s: float = 60.0
    breaker: BreakerRule = field(default_factory=BreakerRule)
    early_stop: bool = True
    search: Search | None = None

    def __post_init__(self) -> None:
        if not self.levels and self.search is None:
            raise UsageError("a load test has no levels", where="load plan", fix="Give at least one")
        if self.search is not None and not self.slos:
            fix = "Give one, such as ttft_ms < 800 @ 95%"
            raise UsageError("a search for the knee needs an SLO", where="load plan", fix=fix)
        if not 0 < self.drain_s < float("inf"):
            raise UsageError(f"drain_s is {self.drain_s!r}", where="load plan", fix="Give seconds above 0")
        for (layer, name), times in Counter((level.layer, level.name) for level in self.levels).items():
            if times > 1:
                fix = "Give each level of a layer a name of its own"
                raise UsageError(f"{times} levels of {layer} are named {name!r}", where="load plan", fix=fix)

        self._check_classes()

    def _check_classes(self) -> None:
        classes = {name for level in self._all() for name in level.classes}
        named = [(slo.traffic, f"slo {str(slo)!r}") for slo in self.slos]
        named += [(name, "eval set of a class") for level in self._all() for name in level.traffic_sets or ()]
        for name, where in named:
            if name and name not in classes:
                known = ", ".join(sorted(classes))
                fix = f"Classes of traffic: {known}" if known else "Name classes: --arrivals batch=poisson:5"
                raise UsageError(f"no request is of the class {name!r}", where=where, fix=fix)

    def _all(self) -> Iterator[Level]:
        yield from self.levels
        if self.search is not None:
            yield self.search.level

    @property
    def sets(self) -> tuple[str, ...]:
        """Every eval set that is asked from."""
        return tuple(dict.fromkeys(name for level in self._all() for name in level.sets))
