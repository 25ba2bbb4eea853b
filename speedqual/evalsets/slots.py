"""Do the columns that a prompt names exist, in every row?"""

from __future__ import annotations

from collections.abc import Iterator

from speedqual.evalsets.card import Card
from speedqual.evalsets.jsonl import Row
from speedqual.evalsets.problems import Findings, nearest, quoted
from speedqual.evalsets.template import slots
from speedqual.records import EvalSet

__all__ = ["check_slots"]


def check_slots(evalset: EvalSet, card: Card, rows: list[Row], where: str, findings: Findings) -> None:
    """Note each ``{column}`` of the prompt that no row or not every row has, and those that give the answer away."""
    filled = [row for row in rows if not row.data.get("messages") or "{messages}" in evalset.prompt]
    columns = {column for row in filled for column in row.data}
    if not columns:
        return
    for template, path in _templates(evalset, card):
        for name in dict.fromkeys(slots(template, columns)):
            at = card.header.find(f"{{{name}}}", "speedqual", *path)
            if name not in columns:
                _say_missing(name, at, columns, findings)
                continue
            if name == "target":
                findings.warn(at, "the prompt shows the model the target", "Remove {target}")
            lacking = next((row for row in filled if name not in row.data), None)
            if lacking is not None:
                _say_lacking(name, lacking, where, findings)


def _templates(evalset: EvalSet, card: Card) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    """Each template and the place of its text in the card."""
    if evalset.prompt:
        yield evalset.prompt, ("prompt",)
    for index, turn in enumerate(card.messages):
        if turn.role != "system":
            yield str(turn.content), ("messages", index, "content")


def _say_missing(name: str, at: str, columns: set[str], findings: Findings) -> None:
    near = nearest(name, columns)
    fix = f"Write {{{near}}}" if near else f"The columns are: {quoted(sorted(columns))}"
    findings.error(at, f"the prompt names {{{name}}}, and no row has such a column", fix + _literal(name))


def _literal(name: str) -> str:
    return f"; braces meant literally are written with a space, {{ {name} }}"


def _say_lacking(name: str, row: Row, where: str, findings: Findings) -> None:
    near = nearest(name, row.data)
    fix = f"Rename {near} to {name}" if near else f'Add "{name}", null if there is none'
    findings.error(f"{where}:{row.line}", f"the row has no column {name!r}, which the prompt uses", fix)
