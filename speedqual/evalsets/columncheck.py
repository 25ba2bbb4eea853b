"""Do the columns that the card names exist?"""

from __future__ import annotations

from collections.abc import Iterator

from speedqual.evalsets.card import Card
from speedqual.evalsets.jsonl import Row
from speedqual.evalsets.problems import Findings, nearest, quoted
from speedqual.evalsets.sources import Source
from speedqual.evalsets.template import slots
from speedqual.records import EvalSet

__all__ = ["check_columns"]


def check_columns(evalset: EvalSet, card: Card, rows: dict[str, list[Row]], source: Source, findings: Findings) -> None:
    """Note columns named by prompt, tiers, cluster or field types that the rows lack. ``rows``: split → rows."""
    if not rows["test"]:
        return
    _check_slots(evalset, card, rows, source, findings)
    columns = {column for row in rows["test"] for column in row.data}
    for path, named in ((("tiers", "by"), card.tiers.by), (("cluster",), card.cluster)):
        if card.header.raw("speedqual", *path) and named not in columns:
            near = nearest(named, columns)
            fix = f"Write {near}" if near else f"The columns are: {quoted(sorted(columns))}"
            what = f"{'.'.join(path)} names the column {named!r}, and no row has it"
            findings.error(card.at(*path), what, fix)
    _check_fields(evalset, card, findings)


def _check_fields(evalset: EvalSet, card: Card, findings: Findings) -> None:
    """Types declared for fields that no target has: misspelt where a target has one like it that has no type."""
    fields = evalset.grader.options.get("fields")
    targets = [item.target for item in (*evalset.items, *evalset.fewshot) if isinstance(item.target, dict)]
    if evalset.grader.name != "extraction" or not isinstance(fields, dict) or not targets:
        return
    keys = {str(key) for target in targets for key in target}
    for field in fields:
        if field not in keys:
            near = nearest(field, keys - set(fields))
            note = findings.error if near else findings.warn
            fix = f"Write {near}" if near else "Remove it, or add it to a target"
            note(card.at("grader", "fields", field), f"no target has the field {field!r}", fix)


def _check_slots(evalset: EvalSet, card: Card, rows: dict[str, list[Row]], source: Source, findings: Findings) -> None:
    """Each ``{column}`` of the prompt that no row or not every row has, and one that gives the answer away."""
    filled = {split: [row for row in some if _is_filled(evalset, row)] for split, some in rows.items()}
    columns = {column for row in filled["test"] for column in row.data}
    if not filled["test"]:
        return
    for template, path in _templates(evalset, card):
        for name in dict.fromkeys(slots(template, columns)):
            at = card.header.find(f"{{{name}}}", "speedqual", *path)
            if name not in columns:
                _say_no_column(name, at, columns, findings)
                continue
            if name == "target":
                findings.warn(at, "the prompt shows the model the target", "Remove {target}")
            for split, some in filled.items():
                file = source.rows.name if split == "test" else f"{split}.jsonl"
                _check_rows(name, some, source.where(file), findings)


def _is_filled(evalset: EvalSet, row: Row) -> bool:
    """Whether the card's prompt is used for the row: a row with turns of its own replaces it."""
    return not row.data.get("messages") or "{messages}" in evalset.prompt


def _check_rows(name: str, rows: list[Row], where: str, findings: Findings) -> None:
    lacking = next((row for row in rows if name not in row.data), None)
    if lacking is not None:
        near = nearest(name, lacking.data)
        fix = f"Rename {near} to {name}" if near else f'Add "{name}", null if there is none'
        what = f"the row has no column {name!r}, which the prompt uses"
        findings.error(f"{where}:{lacking.line}", what, fix)


def _templates(evalset: EvalSet, card: Card) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    """Each template and the place of its text in the card."""
    if evalset.prompt:
        yield evalset.prompt, ("prompt",)
    for index, turn in enumerate(card.messages):
        if turn.role != "system":
            yield str(turn.content), ("messages", index, "content")


def _say_no_column(name: str, at: str, columns: set[str], findings: Findings) -> None:
    near = nearest(name, columns)
    fix = f"Write {{{near}}}" if near else f"The columns are: {quoted(sorted(columns))}"
    findings.error(at, f"the prompt names {{{name}}}, and no row has such a column", fix + _literal(name))


def _literal(name: str) -> str:
    return f"; braces meant literally are written with a space, {{ {name} }}"
