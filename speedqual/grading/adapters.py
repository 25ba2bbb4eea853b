"""Other things as graders: a five-line function, a set's own ``grader.py``, any module of the library ``evaluate``.

A function is called with ``(answer, item)``, or with the text first when its first parameter is called ``text``. It
returns True or False, a number from 0 to 1, a label (``pass``, ``partial``, ``fail``, or a kind of failure such as
``refused``), one of these and a reason, a Grade, or None (not graded).
"""

from __future__ import annotations

import atexit
import inspect
import numbers
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

from speedqual.errors import EvalSetError, GraderError, RefusedError
from speedqual.grading.mentions import numbers_in, prepare
from speedqual.grading.normalise import Settings
from speedqual.grading.text import strip_thinking
from speedqual.records import Answer, EvalSet, Failure, Grade, Item

if TYPE_CHECKING:
    from speedqual.grading.base import Grader

__all__ = ["EvaluateGrader", "as_grader", "make_evaluate", "make_file", "module_path"]


def as_grader(function: Callable[..., Any], name: str = "") -> Grader:
    """Wrap a plain function. The grade's name is the function's."""
    label = name or getattr(function, "__name__", "custom")
    wants_text = _first_parameter(function) == "text"

    def grader(answer: Answer, item: Item) -> Grade:
        given: Any = strip_thinking(answer.text).text if wants_text else answer
        return _as_grade(function(given, item), label)

    grader.__name__ = label
    return grader


def _first_parameter(function: Callable[..., Any]) -> str:
    try:
        return next(iter(inspect.signature(function).parameters), "")
    except (TypeError, ValueError):
        return ""


def _as_grade(result: Any, name: str) -> Grade:
    """Raises GraderError for what is none of the forms that a grader may return."""
    if isinstance(result, Grade):
        return result if result.grader else replace(result, grader=name)
    why = ""
    if isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], str):
        result, why = result
    if isinstance(result, Mapping):
        why, result = str(result.get("why", "")), result.get("score")
    if result is None:
        return Grade(score=None, verdict="not_graded", failure="not_checked", why=why, grader=name)
    if isinstance(result, str):
        return _labelled(result, why, name)
    score = _score(result, name)
    passed = score == 1
    return Grade(
        score=score,
        verdict="pass" if passed else "partial" if score > 0 else "fail",
        failure="none" if passed else "wrong_result",
        score_lenient=score,
        why=why,
        how=name,
        grader=name,
    )


_LABELS = {"pass": 1.0, "partial": 0.5, "fail": 0.0}
_FAILURES = frozenset(get_args(Failure)) - {"none", *get_args(Failure)[get_args(Failure).index("not_executed") :]}


def _labelled(label: str, why: str, name: str) -> Grade:
    """A word as a grade: what it is worth, or the kind of failure."""
    if label in _LABELS:
        return _as_grade((_LABELS[label], why), name)
    if label not in _FAILURES:
        known = ", ".join((*_LABELS, *sorted(_FAILURES)))
        raise GraderError(f"{name} returned the label {label[:40]!r}", fix=f"Return one of: {known}")
    return replace(_as_grade((0.0, why), name), failure=cast(Failure, label))


def _score(value: Any, name: str) -> float:
    is_number = isinstance(value, numbers.Real) or type(value).__name__ in ("bool_", "bool")
    score = float(value) if is_number else -1.0
    if not 0 <= score <= 1:
        raise GraderError(f"{name} returned {value!r}", fix="Return True, False, a number from 0 to 1, a Grade or None")
    return score


def make_file(evalset: EvalSet) -> Grader:
    """The ``grade`` of the set's own ``grader.py``. Its code runs only when the set was loaded with ``allow_code``."""
    options = evalset.grader.options
    file, source = str(options.get("_file", "grader.py")), options.get("_source")
    where = f"eval set {evalset.name}, {file}"
    if options.get("_allow_code") is not True:
        raise RefusedError(
            "the grader is Python code of the eval set", where=where, fix="Read it, then pass --allow-code"
        )
    if not isinstance(source, str):
        raise EvalSetError("the text of the grader is missing", where=where, fix="Load the set from its folder")
    space: dict[str, Any] = {"__name__": f"speedqual_evalset_{evalset.hash or 'grader'}", "__file__": file}
    try:
        exec(compile(source, file, "exec", dont_inherit=True), space)
    except (Exception, SystemExit) as fault:
        line = getattr(fault, "lineno", None)
        raise EvalSetError(
            f"{type(fault).__name__}: {fault}", where=f"{where}:{line}" if line else where, fix="Mend the grader"
        ) from fault
    function = space.get("grade")
    if not callable(function):
        raise EvalSetError("there is no function grade(answer, item)", where=where, fix="Define one")
    return as_grader(function, Path(file).stem)


def module_path(name: str) -> Path:
    """The folder of a built-in grader as an ``evaluate`` module: ``evaluate.load(str(module_path("extraction")))``."""
    return Path(__file__).parent / "modules" / name


def make_evaluate(evalset: EvalSet) -> EvaluateGrader:
    """``evaluate:PATH``: a module folder or file. Its code runs only when the set was loaded with ``allow_code``."""
    options = dict(evalset.grader.options)
    path = evalset.grader.name.removeprefix("evaluate:")
    where = f"eval set {evalset.name}, grader evaluate:{path}"
    if not options.get("_allow_code"):
        raise RefusedError("the grader is Python code", where=where, fix="Read it, then pass --allow-code")
    import evaluate

    place = _module_place(options, path, where)

    def load() -> Any:
        return evaluate.load(place, keep_in_memory=True)

    kwargs = {k: v for k, v in options.items() if not k.startswith("_") and k not in ("key", "scale", "schema")}
    return EvaluateGrader(load, key=str(options.get("key", "")), scale=float(options.get("scale", 1)), kwargs=kwargs)


def _module_place(options: Mapping[str, Any], path: str, where: str) -> str:
    """Where the module lies: its texts that came with the set, written out anew; an absolute path; or a hub id."""
    sources, file = options.get("_sources"), str(options.get("_file", ""))
    if isinstance(sources, Mapping) and file in sources:
        folder = Path(tempfile.mkdtemp(prefix="speedqual-")) / Path(file).stem
        atexit.register(shutil.rmtree, folder.parent, ignore_errors=True)
        folder.mkdir()
        for name, text in sources.items():
            (folder / Path(name).name).write_text(str(text), encoding="utf-8")
        return str(folder)
    if not Path(path).is_absolute() and Path(path).exists():  # evaluate would take it from wherever the user stands
        fix = "Put the module into the folder of the set, or write the whole path"
        raise EvalSetError(f"the set has no module {path}", where=where, fix=fix)
    return path


class EvaluateGrader:
    """A module of ``evaluate`` as a grader. ``load`` gives a fresh one for each computation.

    ``grade_batch`` computes once over all rows, after generation; a module that gives no list of single results is
    computed a second time, row by row. ``key``: the result to take ("" = the first number); ``scale``: what it is
    divided by (100 for per cent).
    """

    def __init__(
        self, load: Callable[[], Any], *, key: str = "", scale: float = 1.0, kwargs: Mapping[str, Any] | None = None
    ) -> None:
        self.load, self.key, self.scale, self.kwargs = load, key, scale, dict(kwargs or {})
        self.name = "evaluate"

    def __call__(self, answer: Answer, item: Item) -> Grade:
        """Compute over this one row."""
        return self._grade(self._value(self._compute([(answer, item)])), {})

    def grade_batch(self, pairs: Sequence[tuple[Answer, Item]]) -> list[Grade]:
        """One computation over all rows; single results from it, or row by row."""
        if not pairs:
            return []
        whole = self._compute(pairs)
        lists = [v for v in whole.values() if isinstance(v, (list, tuple)) and len(v) == len(pairs)]
        if isinstance(whole.get(self.key), (list, tuple)) and len(whole[self.key]) == len(pairs):
            lists = [whole[self.key]]
        overall = {k: float(v) for k, v in whole.items() if isinstance(v, numbers.Real)}
        singles = lists[0] if lists else [self._value(self._compute([pair])) for pair in pairs]
        return [self._grade(value, {"over_all_rows": overall}) for value in singles]

    def _compute(self, pairs: Sequence[tuple[Answer, Item]]) -> dict[str, Any]:
        module = self.load()
        features = module.features[0] if isinstance(module.features, list) else module.features
        predictions = [_fit(strip_thinking(a.text).text.strip(), features.get("predictions")) for a, _ in pairs]
        references = [_fit(_reference(item), features.get("references")) for _, item in pairs]
        result = module.compute(predictions=predictions, references=references, **self.kwargs)
        return dict(result or {})

    def _value(self, result: Mapping[str, Any]) -> Any:
        if self.key:
            return result.get(self.key)
        return next((v for v in result.values() if isinstance(v, numbers.Real)), None)

    def _grade(self, value: Any, parts: dict[str, Any]) -> Grade:
        if isinstance(value, (list, tuple)) and len(value) == 1:
            value = value[0]
        scaled = value / self.scale if isinstance(value, numbers.Real) else value
        return replace(_as_grade(scaled, self.name), parts=parts)


def _reference(item: Item) -> Any:
    target = item.target
    if isinstance(target, Mapping) and "answer" in target:
        return target["answer"]
    return target if target is not None else item.row.get("reference", item.row.get("references"))


def _fit(value: Any, feature: Any) -> Any:
    """``value`` as the module's feature wants it: a number out of a text, a text out of a number, a list around one."""
    inner = getattr(feature, "feature", None)
    if inner is not None:
        return [_fit(v, inner) for v in (value if isinstance(value, (list, tuple)) else [value])]
    dtype = str(getattr(feature, "dtype", "string"))
    if dtype.startswith(("int", "float", "uint")) and isinstance(value, str):
        found = [m for p in prepare(value) for m in numbers_in(p, Settings(locale="en"))]
        number = float(found[-1].value) if found else -1.0
        return int(number) if not dtype.startswith("float") else number
    if dtype in ("string", "large_string") and not isinstance(value, str):
        import json

        return json.dumps(value, ensure_ascii=False, default=str)
    return value
