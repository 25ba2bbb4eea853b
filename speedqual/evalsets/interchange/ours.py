"""What our own sets put into the files of other tools, so that nothing is lost when such a file comes back.

Each format that has room for further keys gets one table ``speedqual``: ``{settings, added, grader_source}``.
``added`` names the columns that were added for the other tool; they go again on the way back.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from speedqual.evalsets.interchange.draft import Draft
from speedqual.evalsets.interchange.settings_out import settings_of
from speedqual.evalsets.loading import Loaded, read
from speedqual.evalsets.problems import Findings
from speedqual.evalsets.prompts import reference, turns
from speedqual.evalsets.sources import find
from speedqual.records import EvalSet, Item

__all__ = ["added_columns", "draft_back", "draft_from_set", "extra", "flat_prompt", "with_texts"]

Row = dict[str, Any]


def draft_from_set(path: Path) -> Draft | None:
    """The set in our own folder format; None when the folder's card is not one of ours."""
    findings = Findings()
    loaded: Loaded = read(find(str(path)), findings)
    if not loaded.card.found:
        return None
    findings.raise_first()
    return draft_of_set(loaded.evalset)


def draft_of_set(evalset: EvalSet) -> Draft:
    """A loaded set as a draft: nothing is lost but the prose of its card."""
    source = evalset.grader.options.get("_source")
    draft = Draft(
        [dict(item.row) | {"id": item.id} for item in evalset.items],
        settings_of(evalset),
        [dict(item.row) | {"id": item.id} for item in evalset.fewshot],
        evalset.licence or "other",
        source if isinstance(source, str) else "",
    )
    draft.about = f"{len(evalset.items)} items of the eval set {evalset.name}."
    if draft.grader_source:
        draft.settings["grader"]["name"] = "file:grader.py"
    return draft


def extra(evalset: EvalSet, added: list[str]) -> dict[str, Any]:
    """The table ``speedqual`` in a file of another tool."""
    table: dict[str, Any] = {"settings": settings_of(evalset), "added": added, "licence": evalset.licence}
    source = evalset.grader.options.get("_source")
    return table | ({"grader_source": source} if isinstance(source, str) else {})


def draft_back(table: Mapping[str, Any], rows: list[Row], fewshot: list[Row], where: str) -> Draft:
    """The draft of a file that we wrote."""
    added = set(table.get("added") or ())
    settings = dict(table.get("settings") or {})
    draft = Draft(_without(rows, added), settings, _without(fewshot, added), str(table.get("licence") or "other"))
    draft.grader_source = str(table.get("grader_source") or "")
    if not fewshot and settings.pop("fewshot", None):
        draft.lose("the examples (few-shot)")
    draft.about = f"{len(rows)} items from {where}."
    return draft


def _without(rows: list[Row], added: set[str]) -> list[Row]:
    return [{key: value for key, value in row.items() if key not in added} for row in rows]


def added_columns(evalset: EvalSet) -> tuple[str, str]:
    """Two names that no column has yet: for the whole prompt and for the right answer, both as text."""
    columns = {column for item in (*evalset.items, *evalset.fewshot) for column in item.row}
    names = []
    for name in ("input", "expected"):
        while name in columns:
            name += "_text"
        names.append(name)
    return names[0], names[1]


def with_texts(evalset: EvalSet, items: tuple[Item, ...]) -> list[Row]:
    """Each row with its whole prompt and its right answer as two more columns of text."""
    asked, expected = added_columns(evalset)
    return [
        {**item.row, "id": item.id, asked: flat_prompt(evalset, item), expected: reference(evalset, item)}
        for item in items
    ]


def flat_prompt(evalset: EvalSet, item: Item) -> str:
    """The turns of one item as one text, without the system text: other turns than the last one by their role."""
    said = turns(evalset, item)
    if len(said) == 1:
        return str(said[0].content)
    return "\n\n".join(f"{turn.role}: {turn.content}" for turn in said)
