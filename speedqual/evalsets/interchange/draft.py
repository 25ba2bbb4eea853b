"""A set on its way into a folder: rows, settings of the card, and what the other format could not carry."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from speedqual.evalsets.scaffolding import fresh_folder
from speedqual.evalsets.yamltext import dump

__all__ = ["Draft", "lines", "title_of", "write"]

Row = dict[str, Any]

_DATE = re.compile(r"\d{1,4}[-/.]\d\d?[-/.]\d{1,4}.*")


@dataclass
class Draft:
    """What becomes README.md, test.jsonl and fewshot.jsonl. ``settings`` are the keys under ``speedqual:``."""

    rows: list[Row]
    settings: dict[str, Any]
    fewshot: list[Row] = field(default_factory=list)
    licence: str = "other"
    grader_source: str = ""
    about: str = ""
    lost: list[str] = field(default_factory=list)

    def lose(self, what: str) -> None:
        """Note what does not come along, once."""
        if what not in self.lost:
            self.lost.append(what)


def title_of(name: str) -> str:
    """``name`` as the name of a folder."""
    title = re.sub(r"[^\w.-]+", "-", name).strip("-._")
    return title[:64] or "imported"


def write(draft: Draft, name: str, folder: Path) -> Path:
    """Make ``folder/name``; its path. Rows without an id are numbered."""
    rows, fewshot = _numbered(draft.rows, "row"), _numbered(draft.fewshot, "example")
    with fresh_folder(name, folder) as path:
        (path / "test.jsonl").write_text(lines(rows), encoding="utf-8")
        if fewshot:
            (path / "fewshot.jsonl").write_text(lines(fewshot), encoding="utf-8")
        if draft.grader_source:
            (path / "grader.py").write_text(draft.grader_source, encoding="utf-8")
        (path / "README.md").write_text(_card(draft, name, rows, fewshot), encoding="utf-8")
    return path


def lines(rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows as JSON Lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _numbered(rows: list[Row], word: str) -> list[Row]:
    """Each row with a text id of its own that no reader takes for a number or a date."""
    seen: set[str] = set()
    numbered = []
    for number, row in enumerate(rows, 1):
        given = row.get("id")
        name = f"{word}-{number}" if given in (None, "") else " ".join(str(given).split())[:180]
        if (not isinstance(given, str) and given is not None) or _DATE.fullmatch(name) or not name.isprintable():
            name = f"{word}-{name}" if name.isprintable() else f"{word}-{number}"
        while name in seen:
            name = f"{name}-{number}"
        seen.add(name)
        numbered.append({"id": name} | {key: value for key, value in row.items() if key != "id"})
    return numbered


def _card(draft: Draft, name: str, rows: list[Row], fewshot: list[Row]) -> str:
    files = [{"split": "test", "path": "test.jsonl"}]
    files += [{"split": "fewshot", "path": "fewshot.jsonl"}] if fewshot else []
    columns = dict.fromkeys(column for row in (*rows, *fewshot) for column in row)
    features = [{"name": column, "dtype": _dtype(column, (*rows, *fewshot))} for column in columns]
    header = {
        "license": draft.licence or "other",
        "configs": [{"config_name": "default", "data_files": files}],
        "dataset_info": {"features": features},
        "speedqual": draft.settings,
    }
    lost = "".join(f"- {_one_line(what)}\n" for what in draft.lost)
    notes = f"\nNot carried over:\n\n{lost}" if lost else ""
    return f"---\n{dump(header)}---\n\n# {name}\n\n{_one_line(draft.about)}\n{notes}"


def _one_line(text: str) -> str:
    return " ".join(text.split())[:500]


def _dtype(column: str, rows: Iterable[Row]) -> str:
    """The type that ``datasets`` is told: texts as such, all that is not one simple type as JSON."""
    kinds = {type(row[column]) for row in rows if row.get(column) is not None}
    simple = {str: "string", bool: "bool", int: "int64", float: "float64"}
    if not kinds:
        return "string"
    if kinds == {int, float}:
        return "float64"
    return simple.get(next(iter(kinds)), "json") if len(kinds) == 1 else "json"
