"""Plain records to rows: which column is asked, which holds the right answer, and how that is graded.

``Fields`` is the mapping that Inspect calls FieldSpec and that ``--field input=question`` gives; without one the
columns are guessed from their headers and cells, as for a table.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from speedqual.errors import EvalSetError, UsageError
from speedqual.evalsets.columns import Guess
from speedqual.evalsets.guesses import guess_grader, guess_prompt
from speedqual.evalsets.interchange.draft import Draft
from speedqual.evalsets.problems import nearest, quoted
from speedqual.evalsets.tables import guessed, is_chinese, rows_of, settings_for
from speedqual.evalsets.template import show

__all__ = ["Fields", "answered", "by_fields", "draft_of", "fields_from"]

Row = dict[str, Any]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_NUMBER = re.compile(r"[-+]?(\d{1,15}|\d{1,3}(,\d{3})+)(\.\d+)?")
_OURS = ("target", "tests", "facts", "forbidden", "messages", "tags", "pair", "unanswerable", "assert", "tools")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """Names of columns; empty = there is none. ``metadata`` is left where it is."""

    input: str = "input"
    target: str = "target"
    choices: str = ""
    id: str = "id"
    context: str = ""
    tier: str = ""
    cluster: str = ""
    lang: str = ""


def fields_from(table: Mapping[str, Any], where: str, lost: list[str] | None = None) -> Fields:
    """Fields from a mapping of names. What ``Fields`` lacks is an error, or goes to ``lost`` where that is given."""
    known = {one.name for one in fields(Fields)}
    given: dict[str, str] = {}
    for key, value in table.items():
        if key in known and isinstance(value, str):
            given[key] = value
        elif lost is not None:
            lost.append(f"the field {key} ({show(value)[:80]})")
        else:
            near = nearest(key, known)
            fix = f"Write {near}=COLUMN" if near else f"Use one of: {quoted(sorted(known))}"
            raise UsageError(f"{key!r} is no field", where=where, fix=fix)
    return Fields(**given)


def draft_of(records: list[Row], where: str, mapping: Mapping[str, str]) -> Draft:
    """A draft from records: by the mapping, as they are when they are in our columns, else by guessing."""
    if mapping:
        return by_fields(records, fields_from(mapping, "--field"), where)
    records = [_opened(row) for row in records]
    if _is_ours(records):
        grader = guess_grader(records)
        prompt = guess_prompt([*records], grader)
        settings: dict[str, Any] = {"task": grader} | ({"prompt": prompt} if prompt else {})
        return Draft(records, settings, about=f"{len(records)} items from {where}, their columns as they were.")
    return _guessed(records, where)


def _opened(row: Row) -> Row:
    """Cells of our own columns that hold JSON, as a table has them."""
    return {key: _from_json(value) if key in (*_OURS, "aliases") else value for key, value in row.items()}


def _from_json(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if not value.strip():
        return None
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return parsed if isinstance(parsed, (dict, list, bool)) else value


def _is_ours(records: list[Row]) -> bool:
    return all(isinstance(row.get("target"), (dict, list)) or row.get("tests") or row.get("facts") for row in records)


def _guessed(records: list[Row], where: str) -> Draft:
    choices = next((c for c in ("choices", "options") if isinstance(records[0].get(c), (list, dict))), "")
    texts = [{key: show(value) for key, value in row.items() if not isinstance(value, (list, dict))} for row in records]
    columns = dict.fromkeys(key for row in texts for key in row)
    table = [{column: row.get(column, "") for column in columns} for row in texts]
    guess = guessed(table, where)
    asked, answer = guess.question or guess.text, guess.answer or _answer_field(guess, bool(choices))
    if answer and asked:
        context = guess.text if guess.question else ""
        found = Fields(input=asked, target=answer, choices=choices, id=guess.id, context=context, tier=guess.tier)
        draft = by_fields(records, found, where)
        draft.about += f" Asked: {asked}; right answer: {answer}. Mend the card where that is wrong."
        return draft
    draft = Draft(rows_of(table, guess), settings_for(table, guess))
    draft.about = f"{len(table)} items from {where}. The types of the fields were guessed; mend the card where wrong."
    return draft


def _answer_field(guess: Guess, is_choice: bool) -> str:
    """With a question, a column called answer is the answer, whatever other columns say about the item."""
    wanted = {"answer", "answerkey", "label", "expected", "target", "ideal", "答案"}
    named = [field.column for field in guess.fields if field.column.strip().casefold() in wanted]
    return named[0] if named and (guess.question or is_choice) else ""


def by_fields(records: list[Row], found: Fields, where: str) -> Draft:
    """Questions and answers. All columns stay; ``target`` is added in our form, and what the labels need."""
    _check_columns(records, found, where)
    rows = [_row(row, found, f"{where}, record {number}") for number, row in enumerate(records, 1)]
    chosen = bool(found.choices)
    own = [row for row in rows if "messages" in row]
    parts = [f"{{{found.context}}}"] if found.context else []
    parts += [f"{{{found.input}}}"] + (["{lettered}"] if chosen else [])
    grader = _grader(rows, chosen)
    if grader["name"] == "exact":
        parts.append(_ask(rows, found, chosen))
    settings: dict[str, Any] = {"task": grader["name"], "grader": grader}
    if len(own) < len(rows):
        settings["prompt"] = "\n\n".join(part for part in parts if part)
    tiers = list(dict.fromkeys(row["tier"] for row in rows if row.get("tier")))
    if found.tier and tiers:
        settings["tiers"] = {"by": "tier", "order": tiers}
    return Draft(rows, settings, about=f"{len(rows)} items from {where}.")


def _check_columns(records: list[Row], found: Fields, where: str) -> None:
    columns = {column for row in records for column in row}
    for role, column in (("input", found.input), ("target", found.target), ("choices", found.choices)):
        if column and column not in columns:
            near = nearest(column, columns)
            fix = (
                f"Write --field {role}={near}" if near else f"Give --field {role}=COLUMN; there are: {quoted(columns)}"
            )
            raise EvalSetError(f"no record has the column {column!r}", where=where, fix=fix)


def _row(record: Row, found: Fields, where: str) -> Row:
    row = {key: value for key, value in record.items() if key not in _OURS or key == found.input}
    if found.id and record.get(found.id) not in (None, ""):
        row["id"] = record[found.id]
    for name, column in (("tier", found.tier), ("cluster", found.cluster), ("lang", found.lang)):
        if column:
            row[name] = show(record.get(column))
    asked = record.get(found.input)
    if isinstance(asked, list):
        row["messages"] = [_turn(turn, where) for turn in asked]
        del row[found.input]
    options = _options(record.get(found.choices)) if found.choices else []
    if options:
        row["lettered"] = "\n".join(f"{letter}. {text}" for letter, text in options)
    return row | answered(record.get(found.target), options, where)


def _turn(turn: Any, where: str) -> dict[str, str]:
    """One message; of its parts only the text."""
    if not isinstance(turn, Mapping) or not isinstance(turn.get("role"), str):
        raise EvalSetError("a turn has no role", where=where, fix='Write {"role": "user", "content": "…"}')
    content = turn.get("content")
    if isinstance(content, list):
        content = "\n".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return {"role": turn["role"], "content": show(content)}


def _options(value: Any) -> list[tuple[str, str]]:
    """Letter and text of each choice: a list of texts, or a table of label and text lists."""
    if isinstance(value, Mapping) and isinstance(value.get("text"), list):
        labels = value.get("label") or list(_LETTERS)
        return [(str(label), show(text)) for label, text in zip(labels, value["text"], strict=False)]
    if isinstance(value, Mapping):
        return [(str(label), show(text)) for label, text in value.items()]
    return [(_LETTERS[i], show(text)) for i, text in enumerate(value or []) if i < len(_LETTERS)]


def answered(target: Any, options: list[tuple[str, str]], where: str) -> Row:
    """``target`` as an object or list, and ``aliases`` for further right answers."""
    if options:
        return {"target": {"answer": _letter(target, options, where)}}
    if isinstance(target, Mapping):
        return {"target": dict(target)}
    if isinstance(target, list):
        if not target:
            raise EvalSetError("the target is empty", where=where, fix="Give each record a right answer")
        first, *others = target
        return {"target": {"answer": _value(first)}, "aliases": [show(one) for one in others]}
    if target is None:
        raise EvalSetError("the target is empty", where=where, fix="Give each record a right answer")
    return {"target": {"answer": _value(target)}}


def _value(target: Any) -> Any:
    """The answer; of a worked solution that ends with ``#### 72`` what follows the mark."""
    if not isinstance(target, str):
        return target
    text = target.rpartition("####")[2].strip() if "####" in target else target.strip()
    if not _NUMBER.fullmatch(text) or re.match(r"[-+]?0\d", text):
        return text
    bare = text.replace(",", "")
    return float(bare) if "." in bare else int(bare)


def _letter(target: Any, options: list[tuple[str, str]], where: str) -> str:
    """The letter of the right choice, given as index, letter or text."""
    if isinstance(target, list) and len(target) == 1:
        target = target[0]
    if isinstance(target, int) and not isinstance(target, bool) and 0 <= target < len(options):
        return options[target][0]
    text = show(target).strip()
    for letter, words in options:
        if text in (letter, words.strip()):
            return letter
    raise EvalSetError(f"the target {text[:40]!r} is none of the choices", where=where, fix="Give its letter or text")


def _grader(rows: list[Row], chosen: bool) -> dict[str, Any]:
    targets = [row["target"] for row in rows]
    if any(set(target) != {"answer"} for target in targets):
        return {"name": "extraction"}
    if chosen:
        return {"name": "exact", "type": "choice"}
    values = [target["answer"] for target in targets]
    is_number = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)
    if is_number:
        return {"name": "exact", "type": "number"}
    for row, value in zip(rows, values, strict=True):
        row["target"] = {"answer": show(value)}
    return {"name": "exact", "type": "string"}


def _ask(rows: list[Row], found: Fields, chosen: bool) -> str:
    chinese = is_chinese("".join(show(row.get(found.input)) for row in rows[:50]))
    if chosen:
        return "只回答选项的字母。" if chinese else "Reply with the letter alone."
    return "最后一行只写答案。" if chinese else "End with one line that says only: Answer: and the answer."
