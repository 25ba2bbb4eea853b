"""The events of a run, made from its folder."""

from __future__ import annotations

from speedqual.records import GRADED_OUTCOMES
from speedqual.running import Graded, Run, Started, TrialFinished
from speedqual.running.watching import RunEvent


def events_of(run: Run) -> list[RunEvent]:
    """What a watcher of a run would have heard."""
    records = list(run.records)
    names = tuple(candidate.name for candidate in run.candidates)
    heard: list[RunEvent] = [
        Started(run="r", folder="r", n_trials=len(records), n_done=0, candidates=names, evalsets=("s",))
    ]
    heard += [TrialFinished(trial=r.trial, outcome=r.last.outcome, metrics=r.metrics, flags=r.flags) for r in records]
    judged = [r for r in records if r.grade is not None and r.last.outcome in GRADED_OUTCOMES]
    heard += [
        Graded(trial=r.trial, grade=r.grade, n_graded=n, n_to_grade=len(judged))
        for n, r in enumerate(judged, 1)
        if r.grade
    ]
    return heard
