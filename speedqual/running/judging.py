"""Grading, after all timing is done: off the event loop, in batches, appended so that nothing is ever overwritten."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from threading import Event
from typing import Any

from speedqual.grading.base import Grader, grade_all, grader_for
from speedqual.records import GRADED_OUTCOMES, Answer, EvalSet, Grade, GraderSpec, Item, Trial
from speedqual.running.codec import to_line
from speedqual.running.layout import Layout
from speedqual.running.run import Run

__all__ = ["grade_run", "regrade"]

BATCH = 16

Told = Callable[[Trial, Grade, int, int], None]


def regrade(run: Run, *, allow_code: bool = False, told: Told | None = None) -> Run:
    """Grade every answer of a run again, without the endpoint; the new grades win over the old ones.

    ``allow_code``: let a grader that an eval set brought along run.
    """
    evalsets = [_allowing(evalset, allow_code) for evalset in run.evalsets]
    with run.layout.locked():
        run.layout.repair()
        grade_run(run.layout, evalsets, set(), told)
    return run.reload()


def _allowing(evalset: EvalSet, allow_code: bool) -> EvalSet:
    if not evalset.grader.options.keys() & {"_source", "_sources"} and not evalset.grader.name.startswith("evaluate:"):
        return evalset
    options = {**evalset.grader.options, "_allow_code": allow_code}
    return replace(evalset, grader=GraderSpec(name=evalset.grader.name, options=options))


def grade_run(
    layout: Layout,
    evalsets: Sequence[EvalSet],
    done: set[str],
    told: Told | None = None,
    stop: Event | None = None,
) -> int:
    """Grade the answers whose keys are not in ``done``; returns how many. Blocking: call it in a thread.

    What is graded is kept in batches; ``stop`` ends it after the batch at hand.

    A failure of the endpoint is no answer and gets no grade.
    """
    n_to_grade = sum(1 for line in layout.lines(layout.records) if _gradable(line, done))
    n_graded = 0
    for evalset in evalsets:
        items = {item.id: item for item in evalset.items}
        wanted = (line for line in _of(layout, evalset.name) if _gradable(line, done))
        grader: Grader | None = None
        while not (stop is not None and stop.is_set()) and (batch := list(islice(wanted, BATCH))):
            grader = grader or grader_for(evalset)
            trials = [Trial.from_dict(line["trial"]) for line in batch]
            grades = grade_all(grader, [_pair(line, items) for line in batch])
            _append(layout, zip(trials, grades, strict=True))
            for trial, grade in zip(trials, grades, strict=True):
                n_graded += 1
                if told is not None:
                    told(trial, grade, n_graded, n_to_grade)
    return n_graded


def _of(layout: Layout, evalset: str) -> Iterator[dict[str, Any]]:
    return (line for line in layout.lines(layout.records) if line["trial"]["evalset"] == evalset)


def _gradable(line: Mapping[str, Any], done: set[str]) -> bool:
    outcome = line["attempts"][-1]["outcome"]
    return outcome in GRADED_OUTCOMES and (not done or Trial.from_dict(line["trial"]).key not in done)


def _pair(line: Mapping[str, Any], items: Mapping[str, Item]) -> tuple[Answer, Item]:
    """What the grader sees: never a time."""
    attempt = line["attempts"][-1]
    answer = {
        "text": "",
        **{name: attempt[name] for name in ("text", "stop", "tool_calls", "outcome") if name in attempt},
    }
    return Answer.from_dict(answer), items[line["trial"]["item"]]


def _append(layout: Layout, grades: Any) -> None:
    try:
        with Path(layout.grades).open("ab") as file:
            for trial, grade in grades:
                file.write(to_line({"key": trial.key, "grade": grade.to_dict()}))
            file.flush()
            os.fsync(file.fileno())
    except OSError as fault:
        raise layout.unwritable("grades.jsonl", fault) from fault
