"""What a grader is, how one is found by name, and how a batch is graded without a fault taking the run down."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib.metadata import entry_points
from typing import Any, Protocol

from speedqual.errors import EvalSetError
from speedqual.records import Answer, EvalSet, Grade, Item

__all__ = ["GROUP", "Grader", "grade_all", "grader_for", "grader_names", "register", "register_function"]

GROUP = "speedqual.graders"
_registered: dict[str, Callable[[EvalSet], Grader]] = {}


class Grader(Protocol):
    """Judges one answer. A plain function of ``(answer, item)`` is one too."""

    def __call__(self, answer: Answer, item: Item) -> Grade: ...


def register(name: str, make: Callable[[EvalSet], Grader]) -> None:
    """Offer a grader under ``name`` for this process; it wins over an entry point."""
    _registered[name] = make


def register_function(function: Callable[..., Any]) -> None:
    """Offer a plain function to cards of this process that say ``grader: function:NAME``, as from a notebook cell."""
    from speedqual.grading.adapters import as_grader

    name = f"function:{function.__name__}"
    register(name, lambda _: as_grader(function))


def grader_names() -> tuple[str, ...]:
    """Every name that a card can give, sorted."""
    return tuple(sorted({*_registered, *(point.name for point in entry_points(group=GROUP))}))


def grader_for(evalset: EvalSet) -> Grader:
    """The grader that the eval set's card names, made with its options.

    Raises EvalSetError when no grader of that name is installed; the message lists those that are.
    """
    name = evalset.grader.name
    if name in _registered:
        return _registered[name](evalset)
    if name.startswith(("file:", "evaluate:")):
        from speedqual.grading import adapters

        return adapters.make_file(evalset) if name.startswith("file:") else adapters.make_evaluate(evalset)
    if name.startswith("function:"):
        own = name.partition(":")[2]
        what = f"the answers were judged by the function {own}, which this process does not have"
        fix = f"Define {own} again and offer it: speedqual.grading.base.register_function({own}). The old grades stand"
        raise EvalSetError(what, where=f"eval set {evalset.name}, grader.name", fix=fix)
    for point in entry_points(group=GROUP, name=name):
        make: Callable[[EvalSet], Grader] = point.load()
        return make(evalset)
    raise EvalSetError(
        f"unknown grader {name!r}",
        where=f"eval set {evalset.name}, grader.name",
        fix=f"Use one of: {', '.join(grader_names())}",
    )


def grade_all(grader: Grader, pairs: Iterable[tuple[Answer, Item]]) -> list[Grade]:
    """Grade each pair in order. A grader that raises gives ``grader_error`` for that pair and goes on.

    A grader with ``grade_batch`` gets all pairs at once; when that raises, they are graded one by one.
    """
    batch = getattr(grader, "grade_batch", None)
    if batch is not None:
        pairs = list(pairs)
        try:
            return list(batch(pairs))
        except (Exception, SystemExit):  # told for each pair below
            pass
    return [_guarded(grader, answer, item) for answer, item in pairs]


def _guarded(grader: Grader, answer: Answer, item: Item) -> Grade:
    name = getattr(grader, "name", getattr(grader, "__name__", type(grader).__name__))
    try:
        grade = grader(answer, item)
    except (Exception, SystemExit) as fault:  # a grader fault is data: it is counted apart from wrong answers
        why = f"the grader raised {type(fault).__name__}: {fault}"[:500]
        return Grade(score=None, verdict="not_graded", failure="grader_error", why=why, grader=name)
    return grade if grade.grader else replace(grade, grader=name)
