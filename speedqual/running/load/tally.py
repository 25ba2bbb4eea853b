"""What was seen of a level while it ran: enough to say whether its SLOs hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from speedqual.records import Record
from speedqual.running.load.levels import Level
from speedqual.timing.goodput import Slo, judge

__all__ = ["Seen", "Tally", "at_a_glance", "broken"]

DOUBT = 0.01
"""An SLO is broken beyond doubt when so few kept it would be this rare if the promised share did."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One finished request: when it was wanted (closed loop: sent) after the start of the level, and how it went.

    ``metrics``: those that an SLO names.
    """

    at_s: float
    traffic: str
    outcome: str
    metrics: Mapping[str, float | int | str | None]


class Tally:
    """The finished requests of one level. ``before``: those of earlier calls."""

    def __init__(self, slos: Sequence[Slo], before: Sequence[Seen] = ()) -> None:
        self.slos = tuple(slos)
        self.seen = list(before)
        self._names = tuple(dict.fromkeys(slo.metric for slo in slos))

    def note(self, record: Record, start_ns: int) -> None:
        """Count a finished request; ``start_ns``: the start of the level on the clock of the record."""
        timeline, place = record.attempts[0].timeline, record.trial.load
        at_ns = timeline.t_send if timeline.t_sched is None else timeline.t_sched
        metrics = {name: record.metrics.get(name) for name in self._names}
        at_s = 0.0 if at_ns is None else (at_ns - start_ns) / 1e9
        self.seen.append(Seen(at_s, place.traffic if place else "", record.last.outcome, metrics))

    def window(self, level: Level) -> list[Seen]:
        """Those that warm-up and cool-down leave."""
        until_s = float("inf") if level.duration_s is None else level.duration_s - level.cooldown_s
        return [one for one in self.seen if level.warmup_s <= one.at_s < until_s]


def broken(slos: Sequence[Slo], seen: Sequence[Seen]) -> str:
    """Which SLO is broken beyond doubt, in words; empty = none.

    The exact binomial test: P(so few or fewer keep it | the promised share does) < 1 %. What is undetermined counts for
    the endpoint.
    """
    if not slos:
        return ""
    from scipy.stats import binom

    for slo in slos:
        concerned = [one for one in seen if slo.concerns(one.traffic)]
        kept = sum(judge(one.outcome, one.metrics, (slo,)) != "bad" for one in concerned)
        if concerned and binom.cdf(kept, len(concerned), slo.share) < DOUBT:
            return f"{slo}: {kept} of {len(concerned)} requests kept it"
    return ""


def at_a_glance(seen: Sequence[Seen], slos: Sequence[Slo]) -> str:
    """``holds`` when every SLO was kept by its share of the requests seen, else ``fails``; ``open`` without any.

    No statement of confidence: what is near the limit may go either way.
    """
    for slo in slos:
        concerned = [one for one in seen if slo.concerns(one.traffic)]
        if not concerned:
            return "open"
        if sum(judge(one.outcome, one.metrics, (slo,)) == "good" for one in concerned) < slo.share * len(concerned):
            return "fails"
    return "holds"
