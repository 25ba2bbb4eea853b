"""Read an eval set: find its files, read card and rows, check them, give back one frozen ``EvalSet``.

Nothing of the set is executed here. Options of a grader that begin with an underscore are ours, not the card's:

- ``_file``, ``_source``: name and text of the set's own ``grader.py`` (grader name ``file:grader.py``), which defines
  ``grade(answer, item)``. The text travels with the set, so that a run can be graded again without the folder.
- ``_allow_code``: whether the caller of ``load`` allowed that text to run. Whoever reads a set back from disk drops it.
"""

from __future__ import annotations

import json
import logging
import random
from dataclasses import dataclass, replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from speedqual.errors import EvalSetError
from speedqual.evalsets.card import Card, read_card
from speedqual.evalsets.guesses import guess_grader, guess_prompt
from speedqual.evalsets.jsonl import Row
from speedqual.evalsets.jsonl import read as read_jsonl
from speedqual.evalsets.problems import Findings, nearest, quoted
from speedqual.evalsets.rows import Reading, items_of
from speedqual.evalsets.slots import check_slots
from speedqual.evalsets.sources import Source, find
from speedqual.records import EvalSet, GraderSpec, Item, Message, content_hash

__all__ = ["load", "read"]

_CONTRACT_GRADERS = ("code", "exact", "extraction", "facts")
_PREFIXES = ("file:", "evaluate:")
_LABEL_COLUMNS = frozenset({"tags"})

_log = logging.getLogger("speedqual.evalsets")


def load(name_or_path: str | Path, *, allow_code: bool = False) -> EvalSet:
    """The eval set in a folder, in a bare .jsonl file, or built in under that name.

    ``NAME@minimal`` keeps only the items whose ``tags`` contain "minimal". Code that the set brings along (grader.py)
    runs only with ``allow_code``. Raises EvalSetError at the first thing that is wrong, with file, line and fix.
    """
    source = find(name_or_path)
    findings = Findings()
    evalset = read(source, findings, allow_code=allow_code)
    findings.raise_first()
    for problem in findings.problems:
        _log.warning("%s", problem)
    return select(evalset, source.tag)


def select(evalset: EvalSet, tag: str) -> EvalSet:
    """Only the items with this tag; all of them when ``tag`` is empty."""
    if not tag:
        return evalset
    items = tuple(item for item in evalset.items if tag in item.tags)
    if not items:
        tags = sorted({one for item in evalset.items for one in item.tags})
        fix = f"Use one of: {quoted(tags)}" if tags else "Give rows a column tags"
        raise EvalSetError(f"no item has the tag {tag!r}", where=f"eval set {evalset.name}", fix=fix)
    return hashed(replace(evalset, name=f"{evalset.name}@{tag}", items=items))


def read(source: Source, findings: Findings, *, allow_code: bool = False) -> EvalSet:
    """The set as far as it can be read; all that is wrong goes to ``findings``."""
    card = Card.empty() if source.bare else read_card(source.folder / "README.md", source.where("README.md"), findings)
    rows = _read_rows(source, source.rows.name, findings)
    grader = _grader(source, card, rows, findings, allow_code=allow_code)
    parts = _Parts(source, card, grader, findings)
    items = items_of(rows, parts.reading(source.rows.name))
    fewshot = _fewshot(parts)
    system, messages, prompt = _asked(parts, rows)
    evalset = EvalSet(
        name=source.name,
        task=card.task or grader.name,
        items=items,
        grader=grader,
        prompt=prompt,
        messages=messages,
        system=system,
        fewshot=fewshot,
        shots=min(card.fewshot.n, len(fewshot)),
        floor=card.floor,
        success_at=card.success_at,
        difficulty_order=card.tiers.order,
        max_tokens=card.max_tokens,
        stop=card.stop,
        repeats=card.repeats,
        timeout_s=card.timeout,
        version=card.version,
        licence=card.licence,
    )
    check_slots(evalset, card, rows, source.where(source.rows.name), findings)
    return hashed(evalset)


def hashed(evalset: EvalSet) -> EvalSet:
    """The set with the hash of all that changes an answer or a grade.

    Not in it: name, version, licence, floor, success_at, repeats, tags and the order of the items.
    """
    options = {key: value for key, value in evalset.grader.options.items() if key != "_allow_code"}
    content = {
        "task": evalset.task,
        "prompt": evalset.prompt,
        "messages": evalset.messages,
        "system": evalset.system,
        "examples": [_content(item) for item in evalset.fewshot],
        "shots": evalset.shots,
        "max_tokens": evalset.max_tokens,
        "stop": evalset.stop,
        "timeout_s": evalset.timeout_s,
        "grader": [evalset.grader.name, options],
        "items": [_content(item) for item in sorted(evalset.items, key=lambda item: item.id)],
    }
    return replace(evalset, hash=content_hash(content))


def _content(item: Item) -> list[Any]:
    return [item.id, {column: value for column, value in item.row.items() if column not in _LABEL_COLUMNS}]


@dataclass(frozen=True, slots=True)
class _Parts:
    """What the steps below share."""

    source: Source
    card: Card
    grader: GraderSpec
    findings: Findings

    def reading(self, file: str) -> Reading:
        """How rows of ``file`` are turned into items."""
        return Reading(
            card=self.card,
            where=self.source.where(file),
            findings=self.findings,
            needs_target=self.grader.name in {"extraction", "exact"},
            may_lack_id=not self.card.found,
        )


def _read_rows(source: Source, file: str, findings: Findings) -> list[Row]:
    path, where = source.inside(file), source.where(file)
    if path is None:
        findings.error(where, "the file lies outside the folder of the set", "Put a copy into the folder")
        return []
    if not path.is_file():
        findings.error(where, "there is no such file", _other_rows(source))
        return []
    return read_jsonl(path, where, findings)


def _other_rows(source: Source) -> str:
    others = sorted(
        path.name for path in source.folder.glob("*") if path.suffix in {".jsonl", ".json", ".csv", ".parquet"}
    )
    return f"Rename or convert one of: {quoted(others)}" if others else "Write one JSON object a line into it"


def _grader(source: Source, card: Card, rows: list[Row], findings: Findings, *, allow_code: bool) -> GraderSpec:
    name, options = card.grader.name, dict(card.grader.options)
    if not name and not source.bare and (source.folder / "grader.py").is_file():
        name = "file:grader.py"
    if not name:
        name = card.task if card.task in known_graders() else guess_grader(row.data for row in rows)
    if not name and rows:
        fix = "Add `grader: NAME` to the card, or a column target, tests or facts"
        findings.error(card.at("task"), "neither card nor columns say which grader to use", fix)
    _check_grader(name, card, findings)
    if name.startswith("file:"):
        options |= _own_grader(source, name.removeprefix("file:"), card, findings) | {"_allow_code": allow_code}
    return GraderSpec(name=name, options=options | _schema(source, options, findings))


def known_graders() -> tuple[str, ...]:
    """Names of the graders that are installed."""
    installed = (point.name for point in entry_points(group="speedqual.graders"))
    return tuple(sorted({*_CONTRACT_GRADERS, *installed}))


def _check_grader(name: str, card: Card, findings: Findings) -> None:
    if not name or name.startswith(_PREFIXES) or name in known_graders():
        return
    near = nearest(name, known_graders())
    fix = f"Write {near}" if near else f"Use one of: {', '.join(known_graders())}, or file:grader.py"
    at = card.header.find(name, "speedqual", "grader") if card.found else card.header.where
    findings.error(at, f"unknown grader {name!r}", fix)


def _own_grader(source: Source, file: str, card: Card, findings: Findings) -> dict[str, Any]:
    """Name and text of the set's own grader, read and never run here."""
    path = source.inside(file)
    if path is None or not path.is_file():
        what = f"{file} lies outside the folder of the set" if path is None else f"there is no file {file}"
        findings.error(card.at("grader"), what, "Put grader.py beside README.md")
        return {}
    try:
        return {"_file": file, "_source": path.read_text(encoding="utf-8")}
    except (OSError, UnicodeDecodeError):
        findings.error(source.where(file), "the file cannot be read as UTF-8", "Save it as UTF-8")
        return {}


def _schema(source: Source, options: dict[str, Any], findings: Findings) -> dict[str, Any]:
    """``{"schema": …}`` from schema.json beside the card, unless the card gives one itself."""
    path = source.inside("schema.json")
    if source.bare or "schema" in options or path is None or not path.is_file():
        return {}
    where = source.where("schema.json")
    try:
        schema = json.loads(path.read_text(encoding="utf-8-sig"))
    except json.JSONDecodeError as fault:
        findings.error(
            f"{where}:{fault.lineno}:{fault.colno}", f"invalid JSON: {fault.msg.lower()}", "Write strict JSON"
        )
        return {}
    except (OSError, ValueError, RecursionError):
        findings.error(where, "the file cannot be read as UTF-8 JSON", "Save it as UTF-8")
        return {}
    if not isinstance(schema, dict):
        findings.error(where, "the schema is not an object", 'Write {"type": "object", "properties": {…}}')
        return {}
    return {"schema": schema}


def _fewshot(parts: _Parts) -> tuple[Item, ...]:
    """All examples of the set in the order in which they are taken."""
    fewshot, card, findings = parts.card.fewshot, parts.card, parts.findings
    file = f"{fewshot.split}.jsonl"
    if fewshot.split == "test":
        findings.error(
            card.at("fewshot", "split"), "the examples would be the items asked", "Put them in fewshot.jsonl"
        )
        return ()
    if parts.source.bare or (fewshot.n == 0 and not (parts.source.folder / file).is_file()):
        return ()
    rows = _read_rows(parts.source, file, findings)
    items = items_of(rows, parts.reading(file))
    if rows and fewshot.n > len(items):
        what = f"fewshot.n is {fewshot.n} and {file} has {len(items)} rows"
        findings.error(card.at("fewshot", "n"), what, "Lower n or add rows")
    if fewshot.seed is None:
        return items
    return tuple(random.Random(fewshot.seed).sample(items, len(items)))


def _asked(parts: _Parts, rows: list[Row]) -> tuple[str, tuple[Message, ...], str]:
    """System text, messages and prompt, from the card or guessed from the columns."""
    card, findings = parts.card, parts.findings
    system, messages, prompt = card.system, card.messages, card.prompt
    if messages and messages[0].role == "system":
        if system:
            findings.error(card.at("system"), "system stands here and in messages", "Keep one of them")
        system, messages = str(messages[0].content), messages[1:]
    if messages and messages[-1].role != "user":
        findings.error(card.at("messages"), "the last turn is not the user's", "End with {role: user, content: …}")
    own = bool(rows) and all(row.data.get("messages") for row in rows)
    if not prompt and not messages and not own:
        prompt = guess_prompt([row.data for row in rows], parts.grader.name)
        if not prompt and rows:
            fix = 'Add `prompt: "… {column} …"` to the card, or a column prompt, question, text or messages'
            findings.error(card.at(), "there is no prompt, and no column that could be one", fix)
    return system, messages, prompt
