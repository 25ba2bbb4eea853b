"""Running the tests of one program in the sandbox and judging each outcome, outside of it."""

from __future__ import annotations

import json
import re
import secrets
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from speedqual.errors import EvalSetError
from speedqual.grading.code.values import decode, equal, plain, show
from speedqual.grading.sandbox import Limits, Result, Role, Sandbox
from speedqual.records import Failure

__all__ = ["Case", "CaseOutcome", "Spec", "judge_raised", "run_cases", "spec_of", "stray_end"]

CALL = "speedqual.grading.code.python_driver:call"
LIMIT_FAILURES: frozenset[str] = frozenset({"time_limit", "memory_limit", "output_limit", "process_limit"})
GIVE_UP_AFTER = 2
"""After so many cases that ran into a limit the others are not tried: they would cost as much and change nothing."""
_TIME_LIMITS = {
    "cpu": "used up its CPU time",
    "idle": "slept for as long as its CPU time",
    "wall": "was not done at the wall time limit",
}
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_MISSING = object()


@dataclass(frozen=True, slots=True)
class Case:
    """Inputs and what must come back; ``raises`` names an exception instead."""

    args: list[Any]
    kwargs: dict[str, Any]
    expect: Any = _MISSING
    raises: str = ""
    expect_args: Any = _MISSING  # the arguments after the call, for functions that work in place


@dataclass(frozen=True, slots=True)
class Spec:
    """What a row's ``tests`` column asks for."""

    entry_point: str = ""
    cases: tuple[Case, ...] = ()
    asserts: str = ""

    @property
    def runs(self) -> bool:
        """There is something to run, not only to compile."""
        return bool(self.cases or self.asserts)


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """One case judged. ``got`` and ``expected`` are short views for people."""

    failure: Failure
    why: str = ""
    got: Any = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    retried: bool = False

    @property
    def passed(self) -> bool:
        """The right value came back."""
        return self.failure == "none"


def spec_of(row: Mapping[str, Any], where: str) -> Spec:
    """The tests of a row: ``tests`` (an object or its JSON), or HumanEval's ``test`` and ``entry_point`` columns."""
    tests = row.get("tests")
    if isinstance(tests, str) and tests.strip():
        try:
            tests = json.loads(tests)
        except ValueError as fault:
            raise EvalSetError(f"tests is no JSON ({fault})", where=where, fix="Write an object.") from fault
    if tests is None and isinstance(row.get("test"), str):
        tests = {"entry_point": row.get("entry_point", ""), "asserts": row["test"]}
    if tests is None or tests == "":
        return Spec(entry_point=str(row.get("entry_point") or ""))
    if not isinstance(tests, Mapping):
        raise EvalSetError(
            "tests is no object", where=where, fix="Write {entry_point, cases} or {entry_point, asserts}."
        )
    entry = str(tests.get("entry_point") or row.get("entry_point") or "")
    cases = tuple(_case(case, f"{where}, tests.cases[{at}]") for at, case in enumerate(tests.get("cases") or ()))
    asserts = tests.get("asserts") or ""
    if isinstance(asserts, Sequence) and not isinstance(asserts, str):
        asserts = "\n".join(map(str, asserts))
    if (cases or asserts) and not entry:
        raise EvalSetError("tests has no entry_point", where=where, fix="Name the function that the tests call.")
    return Spec(entry, cases, asserts)


def _case(case: Any, where: str) -> Case:
    if not isinstance(case, Mapping) or not ({"expect", "raises", "expect_args"} & case.keys()):
        raise EvalSetError("a case needs args and expect", where=where, fix="Write {args: [...], expect: ...}.")
    return Case(
        args=list(case.get("args") or ()),
        kwargs=dict(case.get("kwargs") or {}),
        expect=case.get("expect", _MISSING),
        raises=str(case.get("raises") or ""),
        expect_args=case.get("expect_args", _MISSING),
    )


def run_cases(
    sandbox: Sandbox, source: str, spec: Spec, limits: Limits, *, mode: str, float_ok: bool
) -> list[CaseOutcome]:
    """Each case in a process of its own, in order; after a few limits hit the rest is not tried and counts as
    failed.
    """
    outcomes: list[CaseOutcome] = []
    hits = 0
    for case in spec.cases:
        if hits >= GIVE_UP_AFTER:
            outcomes.append(CaseOutcome(outcomes[-1].failure, "not tried after the limits that earlier cases ran into"))
            continue
        outcome = _run_case(sandbox, source, spec, case, limits, mode=mode, float_ok=float_ok)
        hits += outcome.failure in LIMIT_FAILURES
        outcomes.append(outcome)
    return outcomes


def _run_case(
    sandbox: Sandbox, source: str, spec: Spec, case: Case, limits: Limits, *, mode: str, float_ok: bool
) -> CaseOutcome:
    payload = {
        "source": source,
        "mode": mode,
        "entry_point": spec.entry_point,
        "args": case.args,
        "kwargs": case.kwargs,
        "with_args": case.expect_args is not _MISSING,
    }
    nonce = secrets.token_hex(16)
    role = Role(driver=CALL, payload=payload, limits=limits, nonce=nonce)
    result = sandbox.run_one(role)
    retried = result.ended == "wall"
    if retried:  # the wall decides only on a host so loaded that one more try is fair
        result = sandbox.run_one(role)
    outcome = _judge(result, case, spec.entry_point, nonce, float_ok)
    return CaseOutcome(outcome.failure, outcome.why, outcome.got, _shown(case, spec.entry_point), retried)


def _shown(case: Case, entry_point: str) -> dict[str, Any]:
    arguments = [show(decode(each)) for each in case.args]
    arguments += [f"{name}={show(decode(each))}" for name, each in case.kwargs.items()]
    expected = f"raises {case.raises}" if case.raises else show(decode(_expectation(case)))
    return {"input": f"{entry_point}({', '.join(arguments)})", "expected": expected}


def _expectation(case: Case) -> Any:
    return case.expect_args if case.expect is _MISSING else case.expect


def stray_end(result: Result, nonce: str) -> CaseOutcome | dict[str, Any]:
    """The driver's reply, or why there is none that counts."""
    if result.ended in ("cpu", "idle", "wall"):
        return CaseOutcome("time_limit", _TIME_LIMITS[result.ended])  # no seconds: equal answers get equal grades
    if result.ended in ("output", "disk"):
        return CaseOutcome("output_limit", "printed or wrote more than allowed")
    if result.ended in ("signal", "stopped"):
        name = signal.Signals(result.code).name if result.code in set(signal.Signals) else str(result.code)
        return CaseOutcome("crashed", f"ended by {name} before the test finished")
    if result.code == 87:
        return CaseOutcome("not_executed", "the child could not be confined")
    body = result.reply
    if result.code != 0 or not body:
        failure: Failure = "forged" if body else "crashed"
        return CaseOutcome(failure, f"ended with exit code {result.code} before the test finished")
    if not body.startswith(nonce) or body.count("\n") != 1:
        return CaseOutcome("forged", "the reply is not the driver's own")
    try:
        reply = json.loads(body[len(nonce) :])
    except (ValueError, RecursionError):
        return CaseOutcome("forged", "the reply is not the driver's own")
    return reply if isinstance(reply, dict) else CaseOutcome("forged", "the reply is not the driver's own")


def _judge(result: Result, case: Case, entry_point: str, nonce: str, float_ok: bool) -> CaseOutcome:
    reply = stray_end(result, nonce)
    if isinstance(reply, CaseOutcome):
        return reply
    if "raised" in reply:
        if reply.get("during") == "call" and case.raises and case.raises in (reply.get("bases") or ()):
            return CaseOutcome("none")
        return judge_raised(reply, entry_point)
    if case.raises:
        return CaseOutcome("wrong_result", f"did not raise {case.raises}")
    try:
        got = decode(reply["value"])
        after = decode(reply["args"]) if case.expect_args is not _MISSING else None
    except (KeyError, ValueError, RecursionError, TypeError):
        return CaseOutcome("forged", "the reply is not the driver's own")
    if case.expect is not _MISSING and not equal(got, decode(case.expect), float_ok=float_ok):
        return CaseOutcome("wrong_result", f"returned {show(got)}", plain(got))
    if case.expect_args is not _MISSING and not equal(after, decode(case.expect_args), float_ok=float_ok):
        return CaseOutcome("wrong_result", f"left its arguments as {show(after)}", plain(after))
    return CaseOutcome("none", got=plain(got))


def judge_raised(reply: Mapping[str, Any], entry_point: str) -> CaseOutcome:
    """An exception that came out of a program, as a failure."""
    name, during = str(reply["raised"]), reply.get("during")
    message = _ADDRESS.sub("", str(reply.get("message", "")))
    said = f"{name}: {message}" if message else name
    if during == "find" and name == "LookupError":
        return CaseOutcome("wrong_format", f"the program does not define {entry_point}")
    if name == "MemoryError":
        return CaseOutcome("memory_limit", "ran out of its memory limit")
    if reply.get("errno") == 11 or "can't start new thread" in message:
        return CaseOutcome("process_limit", f"was refused another process ({said})")
    if name == "Foreign" and during == "value":
        return CaseOutcome("wrong_result", f"returned {message}", f"<{message}>")
    if name == "TooLarge":
        return CaseOutcome("output_limit", f"returned too much: {message}")
    when = "while loading" if during == "load" else "in the call"
    return CaseOutcome("crashed", f"raised {said} {when}")
