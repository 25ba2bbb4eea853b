"""One level of a load test: what is sent, when, and for how long."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from speedqual.errors import UsageError
from speedqual.records import Plain
from speedqual.running.arrivals import Arrivals, Mixed, OpenLoop, Trace, arrivals

__all__ = ["Level", "Unit"]

Unit = Literal["users", "req/s", "tokens", "share", "s"]


@dataclass(frozen=True, kw_only=True)
class Level(Plain):
    """One level of one layer: ``name`` in words, ``x`` its coordinate in ``unit``, ``arrivals`` as its text.

    It ends after ``duration_s`` of arrivals or ``n`` requests, whichever comes first; sessions (conversations, swarms)
    with neither run once each. ``warmup_s`` and ``cooldown_s`` are the ends of that window which figures leave out.
    ``evalset`` is the name of the set that is asked, ``items`` the ids of those asked in turn (empty: all of them).
    ``traffic_sets`` gives a class of mixed traffic a set of its own. ``unique``: each prompt begins with words of its
    own, so that no cache of prefixes has seen it. ``new_connections``: each request makes a connection of its own.
    ``candidates``: who is asked, empty = all.
    """

    layer: str
    name: str
    x: float
    unit: Unit
    arrivals: str
    evalset: str
    items: tuple[str, ...] = ()
    traffic_sets: dict[str, str] | None = None
    n: int | None = None
    duration_s: float | None = None
    warmup_s: float = 0.0
    cooldown_s: float = 0.0
    seed: int = 0
    max_tokens: int | None = None
    unique: bool = True
    shuffled: bool = True
    new_connections: bool = False
    note: str = ""
    candidates: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("n", "duration_s", "max_tokens"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                self._refuse(f"{name} is {value!r}", "Give a number above 0, or leave it out")
        for name in ("warmup_s", "cooldown_s"):
            if not 0 <= getattr(self, name) < float("inf"):
                self._refuse(f"{name} is {getattr(self, name)!r}", "Give seconds, 0 or more")
        if self.duration_s is not None and self.warmup_s + self.cooldown_s >= self.duration_s:
            cut = f"warm-up and cool-down take {self.warmup_s + self.cooldown_s:g} s of {self.duration_s:g} s"
            self._refuse(cut, "Make the duration longer or cut off less")
        how = self.how
        if isinstance(how, OpenLoop) and self.duration_s is None:
            self._refuse("an open loop has no end", "Give duration_s")
        if not isinstance(how, OpenLoop) and how.turns is None and self.duration_s is None and self.n is None:
            self._refuse("a closed loop has no end", "Give duration_s or n")

    def _refuse(self, what: str, fix: str) -> None:
        raise UsageError(what, where=f"level {self.name!r} of layer {self.layer!r}", fix=fix)

    @cached_property
    def how(self) -> Arrivals:
        """The arrivals themselves."""
        return arrivals(self.arrivals)

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of its traffic; empty = one without a name."""
        how = self.how
        if isinstance(how, Mixed):
            return tuple(one.name for one in how.classes)
        return tuple(dict.fromkeys(row.traffic for row in how.rows if row.traffic)) if isinstance(how, Trace) else ()

    @property
    def sets(self) -> tuple[str, ...]:
        """Every eval set that it asks from."""
        return tuple(dict.fromkeys((self.evalset, *(self.traffic_sets or {}).values())))
