"""Expected against answered: the grader's findings as rows, and the two texts laid over one another."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice
from typing import Any

from speedqual.display.safe import visible
from speedqual.records import Grade, Item

__all__ = ["Difference", "Segment", "difference", "expected", "overlay"]

Segment = tuple[str, str]
"""``same``, ``gone`` (expected, not given) or ``new`` (given, not expected), and the text."""

_WORD = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]|\w+|\s+|.", re.DOTALL)
_WORDS = 600  # of either text; longer ones are not laid over one another
_ALIKE = 0.1  # share of words in common below which an overlay says nothing
_CELL, _ROWS = 300, 12


@dataclass(frozen=True, slots=True)
class Difference:
    """``rows``: what it is about, what was wanted, what was given. ``segments``: the overlay, empty where senseless."""

    rows: tuple[tuple[str, str, str], ...] = ()
    segments: tuple[Segment, ...] = ()


def expected(item: Item) -> str:
    """What the item asks for, as a reader wants to see it; empty where it states nothing."""
    target = item.target
    if isinstance(target, Mapping) and set(target) == {"answer"} and isinstance(target["answer"], str):
        return str(target["answer"])
    for value in (target, item.row.get("facts"), item.row.get("tests")):
        if value:
            return _json(value)
    return _json({"unanswerable": True}) if item.row.get("unanswerable") else ""


def difference(item: Item, grade: Grade | None, answer: str) -> Difference:
    """What was given instead of what was expected; empty for a full score."""
    if grade is None or grade.score == 1:
        return Difference()
    rows = ((visible(what, _CELL), visible(want, _CELL), visible(got, _CELL)) for what, want, got in _rows(item, grade))
    return Difference(tuple(islice(rows, _ROWS)), tuple(_segments(item, grade, answer)))


def _rows(item: Item, grade: Grade) -> Iterator[tuple[str, str, str]]:
    parts = grade.parts
    first = parts.get("first_failure")
    if isinstance(first, Mapping):
        yield str(first.get("input", "")), str(first.get("expected", "")), str(first.get("why") or first.get("got"))
    for wrong in _mappings(parts.get("wrong")):
        yield str(wrong.get("field", "")), _plain(wrong.get("want")), _plain(wrong.get("got"))
    target = item.target if isinstance(item.target, Mapping) else {}
    for omitted in parts.get("omitted") or ():
        if isinstance(omitted, str):
            yield omitted, _plain(target.get(omitted, "")), ""
    for invented in _mappings(parts.get("invented")):
        yield str(invented.get("field", "")), "", _plain(invented.get("got"))
    yield from _facts(item, grade)


def _facts(item: Item, grade: Grade) -> Iterator[tuple[str, str, str]]:
    statuses = grade.parts.get("facts")
    wanted = item.row.get("facts")
    if not isinstance(statuses, Mapping) or not isinstance(wanted, list):
        return
    said = grade.extracted if isinstance(grade.extracted, Mapping) else {}
    for fact in _mappings(wanted):
        name = str(fact.get("id", ""))
        if statuses.get(name, "supported") != "supported":
            yield name, str(fact.get("value") or fact.get("text") or ""), str(said.get(name) or statuses[name])


def _segments(item: Item, grade: Grade, answer: str) -> Iterator[Segment]:
    if isinstance(item.target, (Mapping, list)) and isinstance(grade.extracted, (dict, list)):
        want, got = _json(item.target), _json(_ordered(grade.extracted, item.target))
    elif item.target is not None and not item.row.get("facts") and not item.row.get("tests"):
        want, got = expected(item), answer.strip()
    else:
        return
    yield from overlay(want, got)


def overlay(before: str, after: str) -> Iterator[Segment]:
    """Two texts laid over one another, word by word; nothing where that would say nothing."""
    a, b = (_WORD.findall(visible(text)) for text in (before, after))
    if not b or a == b or len(a) > _WORDS or len(b) > _WORDS:
        return
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    if matcher.ratio() >= _ALIKE:
        yield from _joined(matcher, a, b)


def _joined(matcher: SequenceMatcher[str], a: list[str], b: list[str]) -> Iterator[Segment]:
    for kind, i, i_end, j, j_end in matcher.get_opcodes():
        if kind == "equal":
            yield "same", "".join(a[i:i_end])
            continue
        if i_end > i:
            yield "gone", "".join(a[i:i_end])
        if j_end > j:
            yield "new", "".join(b[j:j_end])


def _ordered(got: Any, like: Any) -> Any:
    """``got`` with its keys in the order of ``like``, so that an overlay shows values, not order."""
    if not isinstance(got, Mapping) or not isinstance(like, Mapping):
        return got
    known = {key: _ordered(got[key], like[key]) for key in like if key in got}
    return known | {key: value for key, value in got.items() if key not in known}


def _mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    return (one for one in (value if isinstance(value, list) else []) if isinstance(one, Mapping))


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, default=str)
