"""One example of each way in which an answer or a reply failed, picked in the order of the run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from speedqual.evalsets import build_prompt
from speedqual.records import GRADED_OUTCOMES, Candidate, EvalSet, Item, Record

__all__ = ["Example", "examples"]


@dataclass(frozen=True, slots=True)
class Example:
    """What was asked, answered and expected, and why it was judged so. ``kind`` is a failure or an outcome."""

    kind: str
    is_endpoint: bool
    candidate: str
    item: str
    prompt: str
    answer: str
    expected: str
    why: str


def examples(
    records: Iterable[Record], evalsets: Mapping[str, EvalSet], candidates: Mapping[str, Candidate]
) -> list[Example]:
    """The first record of each failure kind. One pass; keeps only what it shows."""
    found: dict[str, Example] = {}
    for record in records:
        kind, is_endpoint = _kind(record)
        if kind and kind not in found and record.trial.phase == "main":
            found[kind] = _example(kind, is_endpoint, record, evalsets, candidates)
    return sorted(found.values(), key=lambda example: (example.is_endpoint, example.kind))


def _kind(record: Record) -> tuple[str, bool]:
    outcome = record.last.outcome
    if outcome not in GRADED_OUTCOMES:
        return outcome, True
    failure = record.grade.failure if record.grade else "none"
    return ("", False) if failure == "none" else (failure, False)


def _example(
    kind: str,
    is_endpoint: bool,
    record: Record,
    evalsets: Mapping[str, EvalSet],
    candidates: Mapping[str, Candidate],
) -> Example:
    evalset = evalsets.get(record.trial.evalset)
    item = next((item for item in evalset.items if item.id == record.trial.item), None) if evalset else None
    candidate = candidates.get(record.trial.candidate)
    last = record.last
    why = (last.error_message or last.deadline or "") if is_endpoint else (record.grade.why if record.grade else "")
    return Example(
        kind=kind,
        is_endpoint=is_endpoint,
        candidate=record.trial.candidate,
        item=f"{record.trial.evalset} / {record.trial.item}",
        prompt=_asked(evalset, item, candidate),
        answer=last.text,
        expected=_expected(item),
        why=why,
    )


def _asked(evalset: EvalSet | None, item: Item | None, candidate: Candidate | None) -> str:
    """The last user message: the examples before it are the same for every item."""
    if evalset is None or item is None or candidate is None:
        return ""
    content = build_prompt(evalset, item, candidate).messages[-1].content
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def _expected(item: Item | None) -> str:
    if item is None:
        return ""
    for value in (item.target, item.row.get("facts"), item.row.get("tests")):
        if value:
            return _shown(value)
    return _shown({"unanswerable": True}) if item.row.get("unanswerable") else ""


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)
