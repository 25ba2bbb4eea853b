"""Single records in a notebook: a question, a candidate, a grade, a finished trial, a policy."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from speedqual.display import numbers
from speedqual.display.numbers import digits
from speedqual.notebook import lines, markup
from speedqual.records import Candidate, Grade, Item, Record
from speedqual.running import Policy

__all__ = ["html_of_candidate", "html_of_grade", "html_of_item", "html_of_policy", "html_of_record"]

_SHOWN = ("endpoint", "model", "tier", "params", "shots", "system", "cache", "ladder", "rung", "group", "tags")
_METRICS = (
    "ttft_ms", "ttfa_ms", "e2e_ms", "tpot_ms", "decode_tok_s", "n_prompt", "n_cached", "n_out", "stalls", "cost_usd",
)  # fmt: skip


def html_of_item(item: Item) -> str:
    """Every column of the row."""
    rows = [(str(name), _text(value)) for name, value in item.row.items()]
    return _card(lines.of_item(item), rows)


def html_of_candidate(candidate: Candidate) -> str:
    """What makes it; the values of headers, which may be keys, are not shown."""
    rows = [(name, _text(value)) for name in _SHOWN if (value := getattr(candidate, name)) not in ("", None, {}, ())]
    if candidate.headers:
        rows.append(("headers", ", ".join(candidate.headers)))
    return _card(lines.of_candidate(candidate), rows)


def html_of_grade(grade: Grade) -> str:
    """The verdict, and how it was come to."""
    given = {"extracted by": grade.how, "extracted": grade.extracted, "grader": grade.grader, "flags": grade.flags}
    lenient = {"lenient score": numbers.score(grade.score_lenient)} if grade.score_lenient is not None else {}
    return _card(lines.of_grade(grade), _some({**lenient, **given, **_scalars(grade.parts)}))


def html_of_record(record: Record) -> str:
    """How fast and how good, then the answer folded; a missing number with its reason."""
    rows = [(name, _metric(record, name)) for name in _METRICS if name in record.metrics or name in record.missing]
    flags = {"attempts": len(record.attempts), "flags": record.flags}
    answer = markup.details("answer", record.last.text) if record.last.text else ""
    thought = markup.details("reasoning", record.last.reasoning) if record.last.reasoning else ""
    return _card(lines.of_record(record), [*rows, *_some(flags)]) + answer + thought


def html_of_policy(policy: Policy) -> str:
    """The sentence, and the JSON that is saved."""
    text = json.dumps(policy.to_dict(), ensure_ascii=False, indent=1)
    return markup.heading(lines.of_policy(policy)) + markup.details("JSON", text)


def _card(heading: str, rows: Iterable[tuple[str, str]]) -> str:
    return markup.heading(heading) + markup.facts(rows)


def _metric(record: Record, name: str) -> str:
    value = record.metrics.get(name)
    if isinstance(value, (int, float)):
        return digits(value, 4)
    return str(value) if value is not None else f"{numbers.DASH} {record.missing.get(name, '')}"


def _some(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(name, _text(value)) for name, value in values.items() if value not in ("", None, {}, (), [])]


def _scalars(parts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parts.items() if isinstance(value, (str, int, float))}


def _text(value: Any) -> str:
    if isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
