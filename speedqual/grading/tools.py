"""Grade the choice of a function and its arguments, or the answer that is given from a function's result.

``item.target`` is either ``{"calls": [{"name": …, "arguments": {…}}, …]}``, an empty list where no function fits, or
``{"answer": …}``, which the exact grader judges. Calls are compared as a set without order, arguments by the types that
the column ``tools`` declares: a number as text is a ``wrong_field`` in the strict score, right in the lenient one, as
is a call that was written into the text as JSON instead of being made. An argument that equals its declared default may
be left out or given. ``accept`` beside ``arguments`` lists other values that are right, by argument.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from speedqual.errors import EvalSetError
from speedqual.grading.exact import ExactGrader
from speedqual.grading.exact import make as make_exact
from speedqual.grading.jsontext import find_json, is_bare_json, loads
from speedqual.grading.options import options_of
from speedqual.grading.reply import Reply, failed, look, nothing_given
from speedqual.grading.text import is_blank
from speedqual.grading.toolargs import Wanted, differences, wanted_of
from speedqual.records import Answer, EvalSet, Failure, Grade, GraderSpec, Item, ToolCall

__all__ = ["VERSION", "ToolsGrader", "make"]

VERSION = "1"
_Slip = tuple[Failure, str]


def make(evalset: EvalSet) -> ToolsGrader:
    """The grader that the card declares. Raises EvalSetError for a call that names no offered function or argument."""
    options_of(evalset, frozenset())
    where = f"eval set {evalset.name}"
    for item in evalset.items:
        _target(item, f"{where}, item {item.id}, target")
    answers = tuple(item for item in evalset.items if "answer" in item.target)
    return ToolsGrader(
        make_exact(replace(evalset, items=answers, grader=GraderSpec(name="exact", options={"final": True})))
    )


def _target(item: Item, where: str = "target") -> tuple[Wanted, ...] | None:
    """The calls that are right; None when the item asks for an answer."""
    target: Any = item.target
    if isinstance(target, Mapping) and "answer" in target:
        return None
    calls = target.get("calls") if isinstance(target, Mapping) else None
    if not isinstance(calls, list):
        fix = 'Write {"calls": [{"name": "f", "arguments": {}}]} or {"answer": 1}'
        raise EvalSetError("the target has neither calls nor an answer", where=where, fix=fix)
    return tuple(wanted_of(call, item.row.get("tools"), where) for call in calls)


@dataclass(frozen=True, slots=True)
class _Call:
    """One call of the reply; ``arguments`` is None when they are no JSON object."""

    name: str
    arguments: Mapping[str, Any] | None
    written: bool = False  # as JSON in the text


@dataclass(frozen=True, slots=True)
class ToolsGrader:
    """``(answer, item) -> Grade``."""

    exact: ExactGrader
    name: str = field(default="tools")

    def __call__(self, answer: Answer, item: Item) -> Grade:
        """Judge one reply."""
        wanted, reply = _target(item), look(answer)
        made = [_made(call) for call in answer.tool_calls]
        if wanted is None:
            return self._from_result(answer, item, made, reply)
        calls = made or _written(reply.text)
        if not wanted:
            return _abstained(answer, calls, reply)
        if not calls:
            return _no_call(answer, reply)
        return _compared(wanted, calls, reply)

    def _from_result(self, answer: Answer, item: Item, made: list[_Call], reply: Reply) -> Grade:
        if made and is_blank(reply.text):
            return failed("no_answer", "a function is called again instead of answering", version=VERSION)
        if is_bare_json(reply.text):
            return _failed("wrong_format", "repeats a result as JSON instead of answering", made, reply)
        return replace(self.exact(answer, item), grader="", version=VERSION)


def _made(call: ToolCall) -> _Call:
    try:
        arguments = loads(call.arguments or "{}")
    except ValueError:
        arguments = None
    return _Call(call.name, arguments if isinstance(arguments, Mapping) else None)


def _written(text: str) -> list[_Call]:
    """Calls written out as JSON: ``{"name": …, "arguments": {…}}``, a list of them, or such a list under ``calls``."""
    found = find_json(text, ("name", "arguments", "parameters", "calls", "tool_calls"))
    value = found.value
    if isinstance(value, Mapping):
        value = value.get("calls", value.get("tool_calls", value))
    rows = value if isinstance(value, list) else [value]
    calls = []
    for row in rows if found.exists else ():
        call = row.get("function", row) if isinstance(row, Mapping) else None
        arguments = call.get("arguments", call.get("parameters")) if isinstance(call, Mapping) else None
        if isinstance(call, Mapping) and isinstance(call.get("name"), str) and arguments is not None:
            calls.append(_Call(call["name"], arguments if isinstance(arguments, Mapping) else None, written=True))
    return calls


def _abstained(answer: Answer, calls: list[_Call], reply: Reply) -> Grade:
    """No function fits: right is any answer in words."""
    if calls:
        return _failed("invented_field", f"calls {calls[0].name}, and no function fits", calls, reply)
    silent = nothing_given(reply, answer, version=VERSION)
    if silent is not None and silent.failure in ("truncated", "refused") and is_blank(reply.text):
        return silent
    if is_blank(reply.text):
        return failed("no_answer", "the reply is empty", version=VERSION, flags=reply.flags)
    return _grade(1.0, 1.0, "none", "no function is called, and none fits", [], reply)


def _no_call(answer: Answer, reply: Reply) -> Grade:
    silent = nothing_given(reply, answer, version=VERSION)
    if silent is not None:
        return silent
    failure: Failure = "truncated" if reply.unfinished else "no_answer"
    return _failed(failure, "answers in words and calls no function", [], reply)


def _compared(wanted: tuple[Wanted, ...], calls: list[_Call], reply: Reply) -> Grade:
    """Each wanted call against the one of those made that fits it best; those that fit wholly are taken first."""
    left, missed = list(calls), []
    for one in wanted:
        exact = next((call for call in left if call.name == one.name and _fits(one, call)), None)
        if exact is None:
            missed.append(one)
        else:
            left.remove(exact)
    hard: list[_Slip] = []
    soft: list[_Slip] = []
    for one in missed:
        _take(one, left, hard, soft)
    hard += [("invented_field", f"{call.name} is called as well") for call in left[:1]]
    if any(call.written for call in calls):
        soft.append(("wrong_format", "the call is written into the text instead of being made"))
    if not hard and not soft:
        return _grade(1.0, 1.0, "none", "the right call with the right arguments", calls, reply)
    slips = [*hard, *soft]
    return _grade(0.0, float(not hard), slips[0][0], "; ".join(why for _, why in slips)[:300], calls, reply)


def _fits(wanted: Wanted, call: _Call) -> bool:
    slips = differences(wanted, call.arguments)
    return not slips.hard and not slips.soft


def _take(wanted: Wanted, left: list[_Call], hard: list[_Slip], soft: list[_Slip]) -> None:
    """Note what the nearest call of that name lacks, and take it from those left; without one, that it is not made."""
    same = [(differences(wanted, call.arguments), call) for call in left if call.name == wanted.name]
    if not same:
        other = left.pop(0) if left else None
        failure: Failure = "wrong_result" if other else "omission"
        hard.append((failure, f"{wanted.name} is not called" + (f", but {other.name}"[:120] if other else "")))
        return
    slips, call = min(same, key=lambda pair: (len(pair[0].hard), len(pair[0].soft)))
    left.remove(call)
    hard += slips.hard
    soft += slips.soft


def _failed(failure: Failure, why: str, calls: list[_Call], reply: Reply) -> Grade:
    return _grade(0.0, 0.0, failure, f"the reply {why}", calls, reply)


def _grade(score: float, lenient: float, failure: Failure, why: str, calls: list[_Call], reply: Reply) -> Grade:
    shown = [{"name": call.name, "arguments": call.arguments} for call in calls]
    return Grade(
        score=score,
        verdict="pass" if score else "fail",
        failure=failure,
        score_lenient=lenient,
        why=why,
        how="text" if any(call.written for call in calls) else "tool calls" if calls else "no call",
        extracted=shown or None,
        flags=(*reply.flags, *(("call_in_text",) if any(call.written for call in calls) else ())),
        version=VERSION,
    )
