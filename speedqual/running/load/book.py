"""What the manifest says of a load test: one entry for each time a level was run, and those that were skipped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from speedqual.running.codec import key_of
from speedqual.running.load.loops import Answers
from speedqual.running.load.plan import Level, LoadPlan
from speedqual.running.load.tally import Seen
from speedqual.running.manifest import starts_ns
from speedqual.running.session import Session

__all__ = ["Book", "first_page"]

FINAL = ("completed", "slo", "breaker")
"""Ends after which a level is not run again."""


def first_page(plan: LoadPlan) -> dict[str, Any]:
    """What a new manifest keeps."""
    return {"plan": plan.to_dict(), "slos": [slo.to_dict() for slo in plan.slos], "levels": [], "skipped": []}


class Book:
    """Reads and writes ``manifest["load"]``.

    The start of a level is on disk before its first request is sent, so that a run that was killed says where it was.
    """

    def __init__(self, session: Session) -> None:
        self._session, self._load = session, session.manifest["load"]
        self._load["skipped"] = []  # decided anew by each call
        self.start_ns = starts_ns(session.manifest)[session.number]

    @property
    def entries(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._load["levels"]
        return found

    def of(self, candidate: str, level: Level) -> list[dict[str, Any]]:
        """The entries of one level, one for each time it was run."""
        key = candidate, level.layer, level.name
        return [entry for entry in self.entries if (entry["candidate"], entry["layer"], entry["level"]) == key]

    def finished(self, candidate: str, level: Level) -> dict[str, Any] | None:
        """The last entry of a level that is not run again."""
        entries = self.of(candidate, level)
        return entries[-1] if entries and entries[-1]["ended"] in FINAL else None

    def answers(self, candidate: str, level: Level) -> Answers:
        """What was finished of a level that was interrupted; its last entry gets the numbers that it lacks."""
        entries = self.of(candidate, level)
        if not entries:
            return {}
        found: dict[str, str | None] = {}
        last_ns = 0
        for line in self._lines(candidate, level):
            attempt = line["attempts"][-1]
            found[key_of(line)] = attempt.get("text", "") if attempt["outcome"] == "ok" else None
            ended_ns = attempt.get("timeline", {}).get("t_close")
            if ended_ns is not None:
                last_ns = max(last_ns, ended_ns - starts_ns(self._session.manifest)[line["session"]])
        entry = entries[-1]
        entry["n_sent"] = entry["n_planned"] = len(found) - sum(before["n_sent"] for before in entries[:-1])
        if not entry["n_sent"]:
            self.entries.remove(entry)
        elif entry["end_ms"] is None:  # it was killed
            entry["end_ms"] = entry["drained_ms"] = last_ns / 1e6
        return found

    def seen(self, candidate: str, level: Level) -> list[Seen]:
        """What earlier calls finished of a level, each at its time after the start of the entry that it belongs to."""
        begun = [float(entry["start_ms"]) for entry in self.of(candidate, level)]
        return [self._seen(line, begun) for line in self._lines(candidate, level)] if begun else []

    def _seen(self, line: Mapping[str, Any], begun: Sequence[float]) -> Seen:
        first, last = line["attempts"][0].get("timeline", {}), line["attempts"][-1]
        at_ns, at_s = first.get("t_sched", first.get("t_send")), 0.0
        if at_ns is not None:
            at_ms = (at_ns - starts_ns(self._session.manifest)[line["session"]]) / 1e6
            at_s = (at_ms - max((start for start in begun if start <= at_ms), default=begun[0])) / 1e3
        return Seen(at_s, line["trial"]["load"].get("traffic", ""), last["outcome"], line["metrics"])

    def _lines(self, candidate: str, level: Level) -> Iterator[dict[str, Any]]:
        """The records of one level that are on disk."""
        for line in self._session.layout.lines(self._session.layout.records):
            trial = line["trial"]
            place = trial.get("load") or {}
            if (trial["candidate"], place.get("layer"), place.get("level")) == (candidate, level.layer, level.name):
                yield line

    def begin(self, candidate: str, level: Level, n_planned: int | None, start_ns: int) -> dict[str, Any]:
        """A new entry, on disk."""
        entry: dict[str, Any] = {
            "candidate": candidate,
            "layer": level.layer,
            "level": level.name,
            "x": level.x,
            "unit": level.unit,
            "arrivals": level.arrivals,
            "n_planned": n_planned,
            "n_sent": None,
            "start_ms": self.ms(start_ns),
            "end_ms": None,
            "drained_ms": None,
            "warmup_s": level.warmup_s,
            "cooldown_s": level.cooldown_s,
            "ended": "interrupted",
            "why": "the run was stopped in the middle of it",
            "held": None,
            "client": {},
        }
        self.entries.append(entry)
        self._session.note_manifest()
        return entry

    def skip(self, candidate: str, level: Level, why: str) -> None:
        """A level that is not run, and why."""
        told = {"candidate": candidate, "layer": level.layer, "level": level.name, "x": level.x, "unit": level.unit}
        self._load["skipped"].append(told | {"why": why})

    def ms(self, t_ns: int) -> float:
        """A moment after the start of the run, ms."""
        return (t_ns - self.start_ns) / 1e6

    def expect(self, n_known: int) -> None:
        """Put down how many trials are planned, as long as nobody knows how many there will be."""
        self._session.manifest["n_trials"] = n_known

    def count(self) -> None:
        """Put down as the number of trials what was sent at all levels run."""
        self._session.manifest["n_trials"] = sum(entry["n_sent"] or 0 for entry in self.entries)

    def note_workers(self, workers: Sequence[Mapping[str, Any]]) -> None:
        """Who shared the work: by name, how its clock stands to home's, and whether it was lost."""
        self._load["workers"] = [dict(one) for one in workers]

    def note(self) -> None:
        """Write it down."""
        self._session.note_manifest()
