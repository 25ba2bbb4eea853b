"""The check of a route while it runs: what can be seen of an answer without knowing the right one.

It calls the same functions as the graders do, so that an answer it turns down is one that they would not pass.
"""

from __future__ import annotations

import ast
import asyncio
import warnings
from collections.abc import Mapping

from speedqual.grading.base import grade_all, grader_for
from speedqual.grading.code.extraction import canonical_language, extract
from speedqual.grading.jsontext import find_json
from speedqual.grading.reply import look
from speedqual.grading.text import is_refusal
from speedqual.records import Answer, Attempt, EvalSet, Item

__all__ = ["structural_fault", "turned_down"]

LONGEST_PROGRAM = 100_000
"""Characters; a longer program passes unread, so that the check takes milliseconds at most."""


async def turned_down(attempt: Attempt, item: Item, evalset: EvalSet, *, perfect: bool = False) -> str:
    """Why the reply does not do, in one word; "" = it passes. ``perfect``: ask the grader, in a thread."""
    answer = Answer(text=attempt.text, stop=attempt.stop, tool_calls=attempt.tool_calls, outcome=attempt.outcome)
    if not perfect:
        return structural_fault(answer, item, evalset)
    (grade,) = await asyncio.to_thread(lambda: grade_all(grader_for(evalset), [(answer, item)]))
    passes = grade.score is not None and grade.score >= evalset.success_at
    return "" if passes else "not_graded" if grade.score is None else "wrong"


def structural_fault(answer: Answer, item: Item, evalset: EvalSet) -> str:
    """``empty, truncated, refused, not_json, no_code, does_not_parse``; "" when nothing is wrong to the eye."""
    reply = look(answer)
    if reply.unfinished:
        return "truncated"
    if not reply.text.strip():
        return "" if answer.tool_calls else "empty"
    if evalset.grader.name == "refusal":  # there a refusal may be what is wanted
        return ""
    if evalset.task == "extraction":
        found = find_json(reply.text, want_list=isinstance(item.target, list))
        return "" if found.exists else "refused" if is_refusal(reply.text) else "not_json"
    if evalset.task == "code":
        fault = _code_fault(reply.text, item, evalset)
        return "refused" if fault and is_refusal(reply.text) else fault
    return "refused" if is_refusal(reply.text) else ""


def _code_fault(text: str, item: Item, evalset: EvalSet) -> str:
    """Only Python is parsed: it needs no other program."""
    stated = item.row.get("language") or evalset.grader.options.get("language") or "python"
    language = canonical_language(str(stated))
    tests = item.row.get("tests")
    entry_point = str(tests.get("entry_point", "")) if isinstance(tests, Mapping) else ""
    found = extract(text, language=language, entry_point=entry_point)
    if found.failure != "none":
        return "no_code"
    if language != "python" or len(found.source) > LONGEST_PROGRAM or _parses(found.source):
        return ""
    return "does_not_parse"


def _parses(source: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape in an answer is not ours to report
            ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
