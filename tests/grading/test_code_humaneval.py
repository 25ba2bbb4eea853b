"""HumanEval's 164 references as assert-style tests: all pass, and programs that return nothing or lie all fail."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from speedqual.grading.base import Grader, grader_for
from speedqual.records import Answer, EvalSet, GraderSpec, Item

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def rows(shared: Path) -> list[dict[str, Any]]:
    lines = (shared / "data" / "humaneval" / "HumanEval.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def grader() -> Grader:
    return grader_for(EvalSet(name="humaneval", task="code", items=(), grader=GraderSpec(name="code")))


def failures(grader: Grader, rows: list[dict[str, Any]], answer: str) -> list[str]:
    """The tasks whose answer, made from the row by a format string, does not pass, with the reason."""
    found = []
    for row in rows:
        grade = grader(Answer(text=answer.format(**row), stop="stop"), Item(id=row["task_id"], row=row))
        if grade.score != 1.0:
            found.append(f"{row['task_id']}: {grade.failure}: {grade.why}")
    return found


@pytest.mark.parametrize(
    "answer",
    [
        "{prompt}{canonical_solution}",
        "{canonical_solution}",
        "Sure:\n```python\n{prompt}{canonical_solution}\n```\nDone.",
    ],
    ids=["completed prompt", "body alone", "fenced"],
)
def test_all_references_pass(grader: Grader, rows: list[dict[str, Any]], answer: str) -> None:
    assert len(rows) == 164
    assert failures(grader, rows, answer) == []


def test_no_liar_passes(grader: Grader, rows: list[dict[str, Any]]) -> None:
    methods = "".join(
        f"    def __{name}__(s, *a): return True\n" for name in ("eq", "ne", "lt", "gt", "le", "ge", "bool")
    )
    liar = f"class A:\n{methods}    def __sub__(s, o): return 0\n    def __abs__(s): return 0\n    __rsub__ = __sub__\n"
    answer = liar.replace("{", "{{").replace("}", "}}") + "def {entry_point}(*a): return A()\n"
    assert len(failures(grader, rows, answer)) == 164


def test_nothing_returned_never_passes(grader: Grader, rows: list[dict[str, Any]]) -> None:
    assert len(failures(grader, rows, "def {entry_point}(*a): return None\n")) == 164
