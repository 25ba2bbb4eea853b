"""Assert-style tests, judged outside: what the tests' process reports, and how the program's process ended."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from speedqual.grading.code.cases import CaseOutcome, Spec, judge_raised, stray_end
from speedqual.grading.sandbox import Job, Limits, Role, Sandbox

__all__ = ["run_asserts"]

TEST = "speedqual.grading.code.python_asserts:test"
SERVE = "speedqual.grading.code.assert_server:serve"


def run_asserts(sandbox: Sandbox, source: str, spec: Spec, limits: Limits, *, mode: str) -> list[CaseOutcome]:
    """One outcome an assert. A pass needs the tests' own end (nonce), their canary, and no assert left out."""
    nonce = secrets.token_hex(16)
    job = Job(
        roles=(
            Role(
                driver=TEST,
                payload={"asserts": spec.asserts, "entry_point": spec.entry_point},
                limits=replace(limits, may_idle=True),
                nonce=nonce,
            ),
            Role(driver=SERVE, payload={"source": source, "mode": mode}, limits=replace(limits, may_idle=True)),
        )
    )
    tester, program = sandbox.run(job)
    reply = stray_end(tester, nonce)
    if isinstance(reply, CaseOutcome):
        return [reply]
    if "broken" in reply:
        return [CaseOutcome("grader_error", str(reply["broken"]))]
    if reply.get("lost"):
        ended = stray_end(replace(program, reply=""), "")
        why = ended if isinstance(ended, CaseOutcome) else CaseOutcome("crashed", "ended before the tests finished")
        return _tally(reply, spec, why)
    if "failed" in reply:
        return [judge_raised(reply["failed"], spec.entry_point)]
    return _tally(reply, spec, None)


def _tally(reply: Mapping[str, Any], spec: Spec, end: CaseOutcome | None) -> list[CaseOutcome]:
    right, wrong, expected = reply.get("right", 0), reply.get("wrong", []), reply.get("expected", 0)
    outcomes = [CaseOutcome("none")] * right
    failed = [end] if end is not None else [_wrong(each, spec) for each in wrong]
    if not outcomes and not failed:
        return [CaseOutcome("grader_error", "the tests ran no assert")]
    missing = max(0, expected - len(outcomes) - len(failed)) if failed else 0
    left_out = CaseOutcome("crashed", "not reached")
    return [*failed, *[left_out] * missing, *outcomes]


def _wrong(report: Mapping[str, Any], spec: Spec) -> CaseOutcome:
    line = report.get("line") or 0
    lines = spec.asserts.split("\n")
    text = lines[line - 1].strip()[:200] if 0 < line <= len(lines) else ""
    if report["raised"] == "AssertionError":
        return CaseOutcome("wrong_result", "the assert does not hold", detail={"input": text or "an assert"})
    outcome = judge_raised({**report, "during": "call"}, spec.entry_point)
    return replace(outcome, detail={"input": text or "the tests"})
