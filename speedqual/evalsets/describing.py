"""An eval set in a few lines for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from speedqual.records import EvalSet

__all__ = ["describe"]


def describe(evalset: EvalSet) -> str:
    """What is asked and how it is judged: one fact a line, names aligned."""
    facts = {
        "task": evalset.task,
        "items": str(len(evalset.items)),
        "difficulty": _counts((item.difficulty for item in evalset.items), evalset.difficulty_order),
        "language": _counts(item.language for item in evalset.items),
        "clusters": str(len({item.cluster for item in evalset.items if item.cluster}) or ""),
        "tags": _counts(tag for item in evalset.items for tag in item.tags),
        "grader": _grader(evalset),
        "floor": "none" if evalset.floor is None else f"{evalset.floor:g}",
        "success at": f"score {evalset.success_at:g}",
        "examples": f"{evalset.shots} of {len(evalset.fewshot)} in a prompt" if evalset.fewshot else "none",
        "limits": _limits(evalset),
        "licence": evalset.licence,
        "hash": evalset.hash,
    }
    title = f"{evalset.name} {evalset.version}".strip()
    return "\n".join([title, *(f"  {name:<11} {fact}" for name, fact in facts.items() if fact)])


def _counts(values: Iterable[str], order: tuple[str, ...] = ()) -> str:
    """``easy 12, hard 9``: in the order of the card, else the most frequent first; empty when there are no values."""
    counts = Counter(values)
    if set(counts) <= {""}:
        return ""
    ranked = sorted(counts, key=lambda value: order.index(value) if value in order else len(order))
    names = ranked if order else [value for value, _ in counts.most_common()]
    shown = ", ".join(f"{name or '(none)'} {counts[name]}" for name in names[:12])
    return f"{shown} and {len(names) - 12} more" if len(names) > 12 else shown


def _grader(evalset: EvalSet) -> str:
    options = [name for name in evalset.grader.options if not name.startswith("_")]
    return evalset.grader.name + (f" ({', '.join(options)})" if options else "")


def _limits(evalset: EvalSet) -> str:
    limits = {
        "tokens": evalset.max_tokens,
        "seconds": evalset.timeout_s,
        "repeats": evalset.repeats if evalset.repeats > 1 else None,
    }
    return ", ".join(f"{value:g} {unit}" for unit, value in limits.items() if value is not None)
