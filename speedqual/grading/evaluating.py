"""What the ``evaluate`` modules call: rows in, the same grades and figures out as from the graders themselves."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from speedqual.grading.aggregate import extraction_figures, facts_figures, general_figures
from speedqual.grading.base import grade_all, grader_for
from speedqual.records import Answer, EvalSet, Grade, GraderSpec, Item

__all__ = ["compute", "grades_of", "item_of"]


def item_of(number: int, reference: str) -> Item:
    """A reference is the JSON of a row of an eval set, or of its target alone."""
    row = json.loads(reference)
    if not isinstance(row, dict) or not row.keys() & {"target", "facts", "forbidden", "unanswerable", "tests"}:
        row = {"target": row}
    return Item(id=str(row.get("id", number)), row=row, target=row.get("target"), tags=tuple(row.get("tags") or ()))


def grades_of(
    name: str, predictions: Sequence[str], references: Sequence[str], options: Mapping[str, Any] | None
) -> tuple[list[Grade], list[Item]]:
    """Grade each prediction with the grader ``name`` under the card's ``options``."""
    items = [item_of(i, reference) for i, reference in enumerate(references)]
    spec = GraderSpec(name=name, options=dict(options or {}))
    grader = grader_for(EvalSet(name=name, task=name, items=tuple(items), grader=spec))
    return grade_all(grader, [(Answer(text=p, stop="stop"), i) for p, i in zip(predictions, items, strict=True)]), items


def compute(
    name: str, predictions: Sequence[str], references: Sequence[str], options: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The figures of the set under the grader's own names, with ``<name>_scores`` for each row."""
    grades, items = grades_of(name, predictions, references, options)
    if name == "extraction":
        figures = extraction_figures(grades)
    else:
        figures = facts_figures(grades, items) if name == "facts" else general_figures(grades)
    return figures | {"scores": [g.score for g in grades], "verdicts": [g.verdict for g in grades]}
