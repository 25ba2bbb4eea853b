"""One line for each kind of record: what a notebook shows as text, and puts over the page of the same."""

from __future__ import annotations

from speedqual.display import numbers
from speedqual.display.safe import visible
from speedqual.endpoints.access import bare_url
from speedqual.records import Candidate, EvalSet, Grade, Item, Record
from speedqual.running import Policy

__all__ = ["of_candidate", "of_evalset", "of_grade", "of_item", "of_policy", "of_record"]


def _line(*parts: str) -> str:
    return visible(" · ".join(part for part in parts if part), 300).replace("\n", " ")


def of_evalset(evalset: EvalSet) -> str:
    """Name, task, size, grader, floor, hash."""
    floor = "" if evalset.floor is None else f"floor {numbers.percent(evalset.floor)}"
    items, grader = f"{numbers.count(len(evalset.items))} items", f"grader {evalset.grader.name}"
    return _line(f"eval set {evalset.name}", evalset.task, items, grader, floor, f"#{evalset.hash}")


def of_item(item: Item) -> str:
    """Id and labels."""
    return _line(f"item {item.id}", item.difficulty, item.language, item.cluster, *item.tags)


def of_candidate(candidate: Candidate) -> str:
    """Name, protocol and model, address without key or query."""
    address = bare_url(candidate.base_url) if candidate.base_url else ""
    return _line(f"candidate {candidate.name}", f"{candidate.endpoint}/{candidate.model}", candidate.tier, address)


def of_grade(grade: Grade) -> str:
    """Verdict, score, kind of failure, reason."""
    failure = "" if grade.failure == "none" else grade.failure.replace("_", " ")
    return _line(grade.verdict.replace("_", " "), numbers.score(grade.score), failure, grade.why)


def of_record(record: Record) -> str:
    """Who was asked what, how it ended, how fast, how good."""
    trial, ttft, whole = record.trial, record.metrics.get("ttft_ms"), record.metrics.get("e2e_ms")
    speeds = [
        f"{name} {numbers.milliseconds(value)} ms"
        for name, value in (("TTFT", ttft), ("whole answer", whole))
        if isinstance(value, (int, float))
    ]
    judged = "" if record.grade is None else of_grade(record.grade)
    return _line(f"{trial.candidate} asked {trial.evalset}/{trial.item}", record.last.outcome, *speeds, judged)


def of_policy(policy: Policy) -> str:
    """Who is asked first for what, and when the other takes over."""
    chosen = f"{policy.column} {', '.join(policy.values)}" if policy.values else "nothing"
    what = chosen if policy.column else "everything"
    late = f"later than {policy.deadline_ms:,.0f} ms" if policy.deadline_ms else ""
    check = ("not right (perfect check)" if policy.perfect else "rejected by a check") if policy.check else ""
    when = ", ".join(reason for reason in ("failed", late, check) if reason)
    return _line(f"route: {what} to {policy.fast}", f"to {policy.strong} the rest, and what is {when}")
