"""An eval set in a notebook: what it holds, and the first prompts as they are sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from speedqual.display import numbers
from speedqual.evalsets import build_prompt
from speedqual.notebook import markup
from speedqual.notebook.words import notebook_words
from speedqual.records import Candidate, EvalSet

__all__ = ["html"]

SAMPLES = 3


def html(evalset: EvalSet, *, lang: str = "en") -> str:
    """Counts by difficulty and language, the grader and the floor, three folded prompts."""
    say = notebook_words(lang)
    rows = [
        ("items", numbers.count(len(evalset.items))),
        ("difficulty", _counts(item.difficulty for item in evalset.items)),
        ("language", _counts(item.language for item in evalset.items)),
        ("grader", evalset.grader.name),
        ("floor", numbers.score(evalset.floor)),
        ("licence", evalset.licence or numbers.DASH),
    ]
    plain = Candidate(name="any", shots=0)
    samples = [
        markup.details(item.id, str(build_prompt(evalset, item, plain).messages[-1].content))
        for item in evalset.items[:SAMPLES]
    ]
    return (
        markup.heading(evalset.name, f"{evalset.task} · #{evalset.hash}")
        + markup.facts([(say(f"evalset.{name}"), text) for name, text in rows])
        + "".join(samples)
    )


def _counts(values: Iterable[str]) -> str:
    found = Counter(value for value in values if value)
    return ", ".join(f"{name} {n}" for name, n in found.items()) or numbers.DASH
