"""Which grader a set names, with its options. Graders themselves live in ``speedqual.grading``; none is imported here.

Options that begin with an underscore are ours, not the card's:

- ``_file``, ``_source``: name and text of the set's own ``grader.py`` (grader name ``file:grader.py``), which defines
  ``grade(answer, item)``. The text travels with the set, so that a run can be graded again without the folder.
- ``_sources``: the texts of a module of the library ``evaluate`` that lies in the set's folder, by file name.
- ``_allow_code``: whether the caller of ``load`` allowed that text to run. Whoever reads a set back from disk drops it.

``schema`` is the content of ``schema.json``, unless the card gives an option of that name.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from speedqual.evalsets.card import Card
from speedqual.evalsets.guesses import guess_grader
from speedqual.evalsets.jsonl import Row
from speedqual.evalsets.problems import Findings, nearest
from speedqual.evalsets.sources import Source
from speedqual.evalsets.textfiles import read_text
from speedqual.records import GraderSpec

__all__ = ["grader_of", "known_graders"]

_CONTRACT = ("code", "exact", "extraction", "facts")
_FILE = "file:"
_PREFIXES = (_FILE, "evaluate:", "function:")


@cache
def known_graders() -> tuple[str, ...]:
    """Names of the graders that are installed."""
    installed = (point.name for point in entry_points(group="speedqual.graders"))
    return tuple(sorted({*_CONTRACT, *installed}))


def grader_of(source: Source, card: Card, rows: list[Row], findings: Findings, *, allow_code: bool) -> GraderSpec:
    """The grader of the card, else the set's own grader.py, else the one of the task, else what the columns choose."""
    name, options = card.grader.name or _default(source, card, rows, findings), dict(card.grader.options)
    if not name and rows:
        findings.error(card.at("task"), "nothing says which grader to use", _how_to_name(card, rows))
    _check_name(name, card, findings)
    _check_options(card, options, findings)
    if name.startswith(_FILE):
        options |= _own(source, name.removeprefix(_FILE), card, findings) | {"_allow_code": allow_code}
    elif name.startswith("evaluate:"):  # a module of the library evaluate is code as well
        options |= _module(source, name.removeprefix("evaluate:"), card, findings) | {"_allow_code": allow_code}
    return GraderSpec(name=name, options=options | _schema(source, options, findings))


def _default(source: Source, card: Card, rows: list[Row], findings: Findings) -> str:
    if not source.bare and (source.folder / "grader.py").is_file():
        return "file:grader.py"
    if card.task in known_graders():
        return card.task
    near = nearest(card.task, known_graders()) if card.task else ""
    if near:
        what = f"the task {card.task!r} is near {near}, and no grader is named"
        findings.error(card.header.find(card.task, "speedqual", "task"), what, f"Write {near}, or add `grader: NAME`")
    return near or guess_grader(row.data for row in rows)


def _how_to_name(card: Card, rows: list[Row]) -> str:
    for column in ("answer", "label", "expected"):
        if column in rows[0].data:
            return f'Write the {column} as "target": {{"answer": …}}'
    by_card = "`grader: NAME` to the card, or " if card.found else ""
    return f"Add {by_card}a column target, tests or facts"


def _check_name(name: str, card: Card, findings: Findings) -> None:
    if not name or name.startswith(_PREFIXES) or name in known_graders():
        return
    near = nearest(name, known_graders())
    fix = f"Write {near}" if near else f"Use one of: {', '.join(known_graders())}, or file:grader.py"
    findings.error(card.header.find(name, "speedqual", "grader"), f"unknown grader {name!r}", fix)


def _check_options(card: Card, options: dict[str, Any], findings: Findings) -> None:
    for key in [key for key in options if key.startswith("_")]:
        findings.error(card.at("grader", key), f"the option {key!r} begins with an underscore", "Rename it")
        del options[key]


def _own(source: Source, file: str, card: Card, findings: Findings) -> dict[str, Any]:
    """Name and text of the set's own grader, read and never run here."""
    path = source.inside(file)
    if path is None or not path.is_file():
        what = f"{file} lies outside the folder of the set" if path is None else f"there is no file {file}"
        findings.error(card.at("grader"), what, "Put grader.py beside README.md")
        return {}
    text = read_text(path, source.where(file), findings)
    return {} if text is None else {"_file": file, "_source": text}


def _module(source: Source, name: str, card: Card, findings: Findings) -> dict[str, Any]:
    """The texts of a module of ``evaluate`` that lies in the set's folder; nothing for one of the hub or elsewhere."""
    if Path(name).is_absolute():
        return {}
    path = source.inside(name)
    if path is None:
        findings.error(card.at("grader"), f"{name} lies outside the folder of the set", "Put a copy into the folder")
        return {}
    main = path / f"{path.name}.py" if path.is_dir() else path
    if not main.is_file():
        return {}
    files = {one.name: read_text(one, source.where(one.name), findings) for one in sorted(main.parent.glob("*.py"))}
    own = {one: text for one, text in files.items() if text is not None and (path.is_dir() or one == main.name)}
    return {"_file": main.name, "_sources": own}


def _schema(source: Source, options: dict[str, Any], findings: Findings) -> dict[str, Any]:
    path = source.inside("schema.json")
    if source.bare or "schema" in options or path is None or not path.is_file():
        return {}
    where = source.where("schema.json")
    text = read_text(path, where, findings)
    if text is None:
        return {}
    try:
        schema = json.loads(text)
    except json.JSONDecodeError as fault:
        place = f"{where}:{fault.lineno}:{fault.colno}"
        findings.error(place, f"invalid JSON: {fault.msg.lower()}", "Write strict JSON")
        return {}
    except (ValueError, RecursionError):
        findings.error(where, "the JSON is too deep or has a number that is too long", "Make it simpler")
        return {}
    if not isinstance(schema, dict):
        findings.error(where, "the schema is not an object", 'Write {"type": "object", "properties": {…}}')
        return {}
    return {"schema": schema}
