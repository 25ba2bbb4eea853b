"""Grades programs: found in the answer, compiled by the language's real front end, tested in a sandbox (pass@1).

Options of the card: ``mode: script | notebook``, ``python: ">=3.11"``, ``float_ok``, ``sandbox: auto |
bubblewrap | landlock | none``, ``cpu_s``, ``memory_mb``, ``language``. Strict score: 1 when the program as
written passes every test. Lenient score: 1 when it does after a repair that is named in ``flags``. ``parts``:
``compiles``, ``tests``, ``passed``, ``test_fraction``, ``first_failure`` (input, expected, got) and what ran
it.
"""

from __future__ import annotations

import logging
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from speedqual.errors import EvalSetError
from speedqual.grading import checkers
from speedqual.grading.base import Grader
from speedqual.grading.code.asserts import run_asserts
from speedqual.grading.code.cases import CaseOutcome, Spec, run_cases, spec_of
from speedqual.grading.code.extraction import ALIASES, Extracted, canonical_language, extract
from speedqual.grading.code.python_versions import interpreter_for, needs
from speedqual.grading.code.repairs import repaired
from speedqual.grading.sandbox import Interpreter, Limits, Sandbox, SandboxLost, best_backend, possible_backends, probe
from speedqual.grading.text import is_refusal, strip_thinking
from speedqual.records import UNGRADED_FAILURES, Answer, EvalSet, Failure, Grade, Item

__all__ = ["CodeGrader", "make"]

VERSION = "1"
DRIVERS = (
    "speedqual.grading.code.python_driver:call",
    "speedqual.grading.code.python_driver:check",
    "speedqual.grading.code.assert_server:serve",
    "speedqual.grading.code.python_asserts:test",
)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Judged:
    """What a program as it stands is worth."""

    failure: Failure
    why: str = ""
    parts: Mapping[str, Any] = field(default_factory=dict)
    flags: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return self.failure == "none"


@dataclass(kw_only=True)
class CodeGrader:
    """Judges one answer after the other; safe to call from several threads."""

    name: str = "code"
    mode: str = "script"
    float_ok: bool = True
    language: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    python: Interpreter | None = None
    python_asked: str = ""
    sandbox: Sandbox | None = None
    limits: Limits = field(default_factory=Limits)

    def __call__(self, answer: Answer, item: Item) -> Grade:
        """Grade one answer. Never raises: a fault of ours or of the row is ``grader_error``."""
        try:
            return self._grade(answer, item)
        except SandboxLost as lost:
            return self._verdict(_Judged("sandbox_lost", str(lost)), Extracted())
        except EvalSetError as fault:
            return self._verdict(_Judged("grader_error", str(fault)), Extracted())
        except Exception as fault:
            _log.debug("code grader fault", exc_info=True)
            return self._verdict(_Judged("grader_error", f"{type(fault).__name__}: {fault}"[:300]), Extracted())

    def _grade(self, answer: Answer, item: Item) -> Grade:
        spec = spec_of(item.row, f"item {item.id}")
        language = self._language(item)
        stripped = strip_thinking(answer.text)
        if stripped.unclosed:
            return self._verdict(_Judged("truncated", "the thinking never ended"), Extracted())
        prompts = [value for value in item.row.values() if isinstance(value, str)]
        found = extract(stripped.text, language=language, entry_point=spec.entry_point, prompts=prompts)
        if found.failure != "none":
            return self._verdict(_without_program(found, stripped.text, answer), found)
        if found.cut and answer.stop == "length":
            return self._verdict(_Judged("truncated", "cut by the token limit inside the program"), found)
        judged = self._judge(found.source, spec, language, {**self.options, **item.row})
        if judged.failure == "does_not_compile" and found.alone:
            alone = self._judge(found.alone, spec, language, {**self.options, **item.row})
            if alone.failure != "does_not_compile":
                how = f"{found.how}, which does not compile and is left out"
                judged, found = alone, replace(found, source=found.alone, how=how)
        if judged.failure == "does_not_compile" and answer.stop == "length" and _ends_with(stripped.text, found.source):
            judged = replace(judged, failure="truncated", why=f"cut by the token limit: {judged.why}")
        if judged.passed or judged.failure in UNGRADED_FAILURES or language != "python":
            return self._verdict(judged, found)
        return self._leniently(judged, found, spec)

    def _language(self, item: Item) -> str:
        for word in (item.row.get("language"), self.language):
            if isinstance(word, str) and canonical_language(word) in ALIASES:
                return canonical_language(word)
        return "python"

    def _judge(self, source: str, spec: Spec, language: str, row: Mapping[str, Any]) -> _Judged:
        check = self._check(source, language, row)
        parts = {
            "compiles": check.ok,
            "checker": check.checker,
            **({"warnings": check.warnings} if check.warnings else {}),
        }
        if check.ok is None:
            return _Judged(check.failure, check.why, parts)
        if not check.ok:
            return _Judged("does_not_compile", check.why, parts)
        if not spec.runs:
            return _Judged("none", "compiles", parts)
        if language != "python":
            return _Judged("not_executed", f"tests of {language} programs are not run", parts)
        if self.sandbox is None:
            return _Judged("not_executed", "no sandbox of this machine passed its probe", parts)
        return self._run(self.sandbox, source, spec, parts)

    def compiles(self, source: str, language: str = "python") -> bool | None:
        """Whether a program, or a part of one, compiles; None = not known. Nothing of it is run."""
        return self._check(source, canonical_language(language), self.options).ok

    def _check(self, source: str, language: str, row: Mapping[str, Any]) -> checkers.Check:
        if language != "python":
            return checkers.check(language, source, row)
        if self.python is None:
            why = f"asks for Python {self.python_asked}, which is not on this machine"
            return checkers.Check(ok=None, failure="not_checked", why=why)
        if self.sandbox is None and platform.system() != "Linux":
            return checkers.Check(ok=None, failure="not_executed", why="programs are compiled and run on Linux only")
        check = checkers.python.check(source, self.sandbox or _bare(self.python), mode=self.mode)
        newer = needs(source, self.python.version) if check.ok is False else ""
        return replace(check, why=f"{check.why}; needs Python ≥ {newer}") if newer else check

    def _run(self, sandbox: Sandbox, source: str, spec: Spec, parts: Mapping[str, Any]) -> _Judged:
        if spec.cases:
            outcomes = run_cases(sandbox, source, spec, self.limits, mode=self.mode, float_ok=self.float_ok)
        else:
            outcomes = []
        if spec.asserts:
            outcomes += run_asserts(sandbox, source, spec, self.limits, mode=self.mode)
        return _summed(outcomes, {**parts, "sandbox": sandbox.backend, "style": "asserts" if spec.asserts else "cases"})

    def _leniently(self, judged: _Judged, found: Extracted, spec: Spec) -> Grade:
        strict = self._verdict(judged, found)
        for name, source in repaired(found.source, spec.entry_point, judged.failure):
            again = self._judge(source, spec, "python", {})
            if again.passed:
                why = f"{strict.why}; right after a repair ({name})"
                return replace(strict, score_lenient=1.0, repairs=1, flags=(*strict.flags, f"repaired:{name}"), why=why)
        return strict

    def _verdict(self, judged: _Judged, found: Extracted) -> Grade:
        graded = judged.failure not in UNGRADED_FAILURES
        score = (1.0 if judged.passed else 0.0) if graded else None
        python = {"python": self.python.version} if self.python and judged.parts.get("checker") else {}
        return Grade(
            score=score,
            score_lenient=score,
            verdict="not_graded" if score is None else "pass" if judged.passed else "fail",
            failure=judged.failure,
            why=judged.why,
            how=found.how,
            extracted=found.source or None,
            flags=(*found.flags, *judged.flags, *self._own_flags()),
            parts={**judged.parts, **python},
            grader=self.name,
            version=VERSION,
        )

    def _own_flags(self) -> Iterator[str]:
        if self.sandbox is not None and self.sandbox.backend == "none":
            yield "no_sandbox"


def _ends_with(text: str, source: str) -> bool:
    """Whether nothing stands after the program, not even a closing fence: then a token limit may have cut it."""
    return text.rstrip().endswith(source.rstrip().rpartition("\n")[2].strip())


def _without_program(found: Extracted, text: str, answer: Answer) -> _Judged:
    if text.strip() and is_refusal(text):
        return _Judged("refused", "the model refused")
    if answer.stop == "length" and found.failure in ("no_code", "no_answer"):
        return _Judged("truncated", "cut by the token limit before any program")
    return _Judged(found.failure, found.how)


def _summed(outcomes: list[CaseOutcome], parts: Mapping[str, Any]) -> _Judged:
    passed = sum(outcome.passed for outcome in outcomes)
    total = len(outcomes)
    sums = {**parts, "tests": total, "passed": passed, "test_fraction": round(passed / total, 6) if total else None}
    flags = ("retried",) if any(outcome.retried for outcome in outcomes) else ()
    if total == 0:
        return _Judged("grader_error", "the row's tests contain nothing to run", sums)
    first = next(((at, outcome) for at, outcome in enumerate(outcomes) if not outcome.passed), None)
    if first is None:
        return _Judged("none", f"passes all {total} tests", sums, flags)
    at, outcome = first
    shown = {"test": at, "failure": outcome.failure, **outcome.detail, "got": outcome.got, "why": outcome.why}
    what = outcome.detail.get("input", f"test {at + 1}")
    wanted = f", expected {outcome.detail['expected']}" if "expected" in outcome.detail else ""
    why = f"{passed} of {total} tests pass; {what}{wanted}: {outcome.why}"
    return _Judged(outcome.failure, why[:600], {**sums, "first_failure": shown}, flags)


# ------------------------------------------------------------------------------------------------------- making

_sandboxes: dict[tuple[str, str], Sandbox] = {}


def _shared(backend: Any, python: Interpreter) -> Sandbox:
    """One warm sandbox a backend and interpreter, for all graders of the process."""
    key = (backend, python.path)
    if key not in _sandboxes:
        _sandboxes[key] = Sandbox(backend, drivers=DRIVERS, python=python)
    return _sandboxes[key]


def _bare(python: Interpreter) -> Sandbox:
    """Resource limits alone: enough to compile Python, which runs nothing of the program."""
    return _shared("none", python)


def _open_sandbox(choice: str, python: Interpreter, where: str) -> Sandbox | None:
    if choice == "none":
        _log.warning("%s: sandbox is none: programs of models run on this machine without protection", where)
        return _shared("none", python)
    if choice == "auto":
        backend = best_backend(python)
        return _shared(backend, python) if backend else None
    if choice not in ("bubblewrap", "landlock"):
        raise EvalSetError(f"unknown sandbox {choice!r}", where=where, fix="Use auto, bubblewrap, landlock or none.")
    named = next((backend for backend in possible_backends() if backend == choice), None)
    return _shared(named, python) if named and probe(named, python).holds else None


def make(evalset: EvalSet) -> Grader:
    """The grader of a code eval set. Raises EvalSetError for an option that makes no sense."""
    options, where = evalset.grader.options, f"eval set {evalset.name}, grader"
    mode = options.get("mode", "script")
    if mode not in ("script", "notebook"):
        raise EvalSetError(f"unknown mode {mode!r}", where=where, fix="Use script or notebook.")
    asked = str(options.get("python", "") or ">=3.11")
    python = interpreter_for(asked, where)
    return CodeGrader(
        mode=mode,
        float_ok=bool(options.get("float_ok", True)),
        language=str(options.get("language", "")),
        options=options,
        python=python,
        python_asked=asked,
        sandbox=_open_sandbox(str(options.get("sandbox") or "auto"), python, where) if python else None,
        limits=Limits(
            cpu_s=_positive(options, "cpu_s", 5.0, where), memory_mb=int(_positive(options, "memory_mb", 512, where))
        ),
    )


def _positive(options: Mapping[str, Any], name: str, default: float, where: str) -> float:
    value = options.get(name, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e6:
        raise EvalSetError(f"{name}: {value!r} is no positive number", where=where, fix=f"Write {name}: {default}.")
    return value
