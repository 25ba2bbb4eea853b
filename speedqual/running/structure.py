"""The check of a route while it runs: what can be seen of an answer without knowing the right one.

It calls the same functions as the graders do, so that an answer it turns down is one that they would not pass.
"""

from __future__ import annotations

import ast
import asyncio
import warnings
from collections.abc import Mapping

from speedqual.grading.base import Grader, grade_all, grader_for
from speedqual.grading.code.extraction import canonical_language, extract
from speedqual.grading.jsontext import find_json
from speedqual.grading.reply import look
from speedqual.grading.text import is_refusal
from speedqual.records import Answer, Attempt, EvalSet, Item

__all__ = ["Checks", "structural_fault"]

LONGEST_PROGRAM = 100_000
"""Characters; a longer program passes unread, so that the check takes milliseconds at most."""


class Checks:
    """The checks of one run: of the form, or by the grader where a policy assumes a perfect check."""

    def __init__(self) -> None:
        self._graders: dict[str, Grader] = {}
        self._one_at_a_time = asyncio.Lock()  # a grader need not bear two callers

    async def fault(self, attempt: Attempt, item: Item, evalset: EvalSet, *, perfect: bool) -> str:
        """Why the reply does not do, in one word; "" = it passes."""
        answer = Answer(text=attempt.text, stop=attempt.stop, tool_calls=attempt.tool_calls, outcome=attempt.outcome)
        return await self._graded(answer, item, evalset) if perfect else structural_fault(answer, item, evalset)

    async def _graded(self, answer: Answer, item: Item, evalset: EvalSet) -> str:
        async with self._one_at_a_time:
            if evalset.name not in self._graders:
                self._graders[evalset.name] = grader_for(evalset)
            (grade,) = await asyncio.to_thread(grade_all, self._graders[evalset.name], [(answer, item)])
        if grade.score is None:
            return "not_graded"
        return "" if grade.score >= evalset.success_at else "wrong"


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
