"""From rows to items: ids, targets, labels and messages, each checked with its line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from speedqual.evalsets.card import Card
from speedqual.evalsets.jsonl import Row
from speedqual.evalsets.problems import Findings, nearest
from speedqual.evalsets.settings import ROLES
from speedqual.evalsets.template import show
from speedqual.records import Item

__all__ = ["Reading", "items_of"]

_DATE = re.compile(r"\d{4}-\d\d?-\d\d?([T ].*)?|\d{4}/\d\d?/\d\d?|\d\d?[/.]\d\d?[/.]\d{4}")
_ID_CHARS_MAX = 200


@dataclass(frozen=True, slots=True)
class Reading:
    """What reading rows needs to know. ``needs_target`` says whether the grader cannot do without one."""

    card: Card
    where: str
    findings: Findings
    needs_target: bool = False
    may_lack_id: bool = False

    def at(self, row: Row) -> str:
        """``file:line`` of the row."""
        return f"{self.where}:{row.line}"


def items_of(rows: list[Row], reading: Reading) -> tuple[Item, ...]:
    """The items of the rows. A row that is wrong is noted and still becomes an item, so that all slips are found."""
    if rows and all("id" not in row.data for row in rows):
        _say_no_ids(rows, reading)
    seen: dict[str, int] = {}
    items = []
    for row in rows:
        item = _item(row, reading)
        if item.id in seen:
            fix = "Give each row an id of its own"
            reading.findings.error(reading.at(row), f"the id {item.id!r} already stands on line {seen[item.id]}", fix)
        seen.setdefault(item.id, row.line)
        items.append(item)
    return tuple(items)


def _say_no_ids(rows: list[Row], reading: Reading) -> None:
    if reading.may_lack_id:
        what = "no row has an id; lines are numbered instead, and a row that moves becomes another item"
        reading.findings.warn(reading.where, what, "Add a column id")
        return
    near = nearest("id", rows[0].data)
    fix = f"Rename {near} to id" if near else 'Add "id": "…" to each row'
    reading.findings.error(reading.at(rows[0]), "the rows have no column id", fix)


def _item(row: Row, reading: Reading) -> Item:
    data, card = row.data, reading.card
    _check_target(row, reading)
    _check_messages(row, reading)
    _check_types(row, reading)
    return Item(
        id=_id(row, reading),
        row=data,
        target=data.get("target"),
        difficulty=_difficulty(row, reading),
        cluster=_label(data.get(card.cluster)),
        language=_language(data, card),
        tags=_tags(row, reading),
    )


def _id(row: Row, reading: Reading) -> str:
    value, at = row.data.get("id"), reading.at(row)
    if value is None:
        if not reading.may_lack_id and "id" in row.data:
            reading.findings.error(at, "the id is null", "Give the row an id")
        elif not reading.may_lack_id and reading.card.found:
            reading.findings.error(at, "the row has no id", 'Add "id": "…"')
        return f"line-{row.line}"
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip() or len(value) > _ID_CHARS_MAX or not value.isprintable():
        what = f"the id must be printable text of at most {_ID_CHARS_MAX} characters"
        reading.findings.error(at, what, 'Write "id": "invoice-17"')
        return f"line-{row.line}"
    if _DATE.fullmatch(value):
        _say_date(value, at, reading)
    return value


def _say_date(value: str, at: str, reading: Reading) -> None:
    what = f"the id {value!r} looks like a date, and dataset readers turn it into one"
    note = reading.findings.warn if reading.may_lack_id else reading.findings.error
    note(at, what, f"Write item-{value}")


def _check_target(row: Row, reading: Reading) -> None:
    target = row.data.get("target")
    if isinstance(target, (dict, list)):
        return
    if target is not None:
        what = f"the target is {_shown(target)}, neither an object nor a list"
        reading.findings.error(reading.at(row), what, f'Write "target": {{"answer": {_shown(target)}}}')
    elif reading.needs_target:
        near = nearest("target", [column for column in row.data if column != "target"])
        fix = f"Rename {near} to target" if near else 'Add "target": {…}'
        reading.findings.error(reading.at(row), "the row has no target", fix)


def _shown(value: Any) -> str:
    text = f'"{value}"' if isinstance(value, str) else show(value)
    return text if len(text) <= 40 else text[:37] + "…" + text[-1]


def _check_messages(row: Row, reading: Reading) -> None:
    turns = row.data.get("messages")
    if turns is None:
        return
    at = reading.at(row)
    if not isinstance(turns, list) or not turns:
        reading.findings.error(at, "messages is not a list of turns", 'Write [{"role": "user", "content": "…"}]')
        return
    for number, turn in enumerate(turns, 1):
        what = _turn_slip(turn)
        if what:
            fix = 'Write {"role": "user", "content": "…"}'
            reading.findings.error(at, f"turn {number} of messages {what}", fix)
            return
    if turns[-1]["role"] not in {"user", "tool"}:
        reading.findings.error(at, "the last turn of messages is not the user's", "End with the turn to be answered")


def _turn_slip(turn: Any) -> str:
    if not isinstance(turn, Mapping):
        return "is not an object"
    if turn.get("role") not in ROLES:
        return f"has the role {turn.get('role')!r}, not one of {', '.join(ROLES)}"
    content = turn.get("content")
    if isinstance(content, str):
        return ""
    if isinstance(content, list) and all(isinstance(part, dict) and "type" in part for part in content):
        return ""
    return "has no content that is text or a list of parts"


def _check_types(row: Row, reading: Reading) -> None:
    """Columns that have one meaning in every set."""
    for column, kind, shown in _COLUMN_TYPES:
        value = row.data.get(column)
        if value is not None and not isinstance(value, kind):
            reading.findings.error(reading.at(row), f"{column} must be {shown[0]}", f"Write {shown[1]}")


_COLUMN_TYPES: tuple[tuple[str, type, tuple[str, str]], ...] = (
    ("tests", dict, ("an object", '{"entry_point": "f", "cases": […]}')),
    ("facts", list, ("a list", '[{"id": "…", "value": …}]')),
    ("forbidden", list, ("a list", '[{"id": "…", "text": "…"}]')),
    ("unanswerable", bool, ("true or false", "true")),
    ("pair", dict, ("an object", '{"id": "…", "kind": "counterfactual"}')),
)


def _difficulty(row: Row, reading: Reading) -> str:
    tiers = reading.card.tiers
    tier = _label(row.data.get(tiers.by))
    if tier and tiers.order and tier not in tiers.order:
        near = nearest(tier, tiers.order)
        fix = f"Write {near}" if near else f"Use one of: {', '.join(tiers.order)}"
        reading.findings.error(reading.at(row), f"{tiers.by} is {tier!r}, which tiers.order does not name", fix)
    return tier


def _label(value: Any) -> str:
    return "" if value is None else str(value)


def _language(data: Mapping[str, Any], card: Card) -> str:
    """The column ``lang``, or ``language``, or the only one that the card names."""
    for column in ("lang", "language"):
        if isinstance(data.get(column), str):
            return str(data[column])
    return card.languages[0] if len(card.languages) == 1 else ""


def _tags(row: Row, reading: Reading) -> tuple[str, ...]:
    tags = row.data.get("tags")
    if tags is None:
        return ()
    if isinstance(tags, str):
        return tuple(tag for tag in (part.strip() for part in tags.split(",")) if tag)
    if isinstance(tags, list) and all(isinstance(tag, str) for tag in tags):
        return tuple(tags)
    reading.findings.error(reading.at(row), "tags must be a list of texts", 'Write "tags": ["minimal"]')
    return ()
