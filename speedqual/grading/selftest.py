"""Can the grader of a set tell right from wrong? References must pass, mutated references must not.

A grader that praises everything, or fails its own reference, is found before a model is blamed for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from speedqual.grading.base import Grader, grade_all
from speedqual.grading.mutations import Mutant, mutants
from speedqual.grading.mutations_tools import right_reply, tool_mutants
from speedqual.records import Answer, EvalSet, Grade, Item, Plain

__all__ = ["SelfTest", "Slip", "self_test"]

_NEIGHBOURS = frozenset({"code", "extraction", "exact", "facts", "tools"})
"""Graders for which the right reply to another item, with another target, must be wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slip(Plain):
    """One reply that was judged otherwise than it must be."""

    item: str
    reply: str  # what kind of reply: "the reference", or how it was made wrong
    what: str  # "judged wrong", "passed", "the grader broke"
    text: str
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfTest(Plain):
    """``slips`` is empty when the grader can tell. Replies that were not judged (no sandbox) are ``n_undecided``."""

    n_items: int
    n_right: int  # references graded
    n_wrong: int  # wrong replies graded
    n_undecided: int
    without_reference: tuple[str, ...]  # ids of items that have none
    slips: tuple[Slip, ...]


def self_test(evalset: EvalSet, grader: Grader, reference: Callable[[Item], str]) -> SelfTest:
    """Grade the reference of every item, and what is made wrong of it. ``reference`` gives the right reply as text."""
    known = {item.id: reference(item) or _from_facts(item) for item in evalset.items}
    items = [item for item in evalset.items if known[item.id]]
    right = {item.id: _right(evalset, item, known[item.id]) for item in items}
    rights = [(item, right[item.id]) for item in items]
    rights += [(item, Mutant("an alias", alias)) for item in items for alias in _aliases(evalset, item)]
    wrongs = [(item, one) for item in items for one in _wrong(evalset, items, item, known, right)]
    right_grades, wrong_grades = _graded(grader, rights), _graded(grader, wrongs)
    slips = [_slip(item, one, grade, "judged wrong") for item, one, grade in right_grades if _decided(grade, False)]
    slips += _passed(wrong_grades)
    return SelfTest(
        n_items=len(evalset.items),
        n_right=len(rights),
        n_wrong=len(wrongs),
        n_undecided=sum(_undecided(grade) for _, _, grade in (*right_grades, *wrong_grades)),
        without_reference=tuple(item.id for item in evalset.items if not known[item.id]),
        slips=tuple(slips),
    )


def _aliases(evalset: EvalSet, item: Item) -> list[str]:
    aliases = item.row.get("aliases") if evalset.grader.name == "exact" else None
    return [str(alias) for alias in aliases] if isinstance(aliases, list) else []


def _right(evalset: EvalSet, item: Item, text: str) -> Mutant:
    return right_reply(item, text) if evalset.grader.name == "tools" else Mutant("the reference", text)


def _wrong(
    evalset: EvalSet, items: list[Item], item: Item, known: Mapping[str, str], right: Mapping[str, Mutant]
) -> list[Mutant]:
    name, own = evalset.grader.name, right[item.id]
    made = list(tool_mutants(item, own.text) if name == "tools" else mutants(name, item, known[item.id]))
    other = _other(items, item, known)
    if other is not None and (name != "tools" or own.calls):
        made.append(replace(right[other.id], kind=f"the reference of {other.id}", sure=name in _NEIGHBOURS))
    return [one for one in made if (one.text, one.calls) != (own.text, own.calls)]


def _other(items: list[Item], item: Item, known: Mapping[str, str]) -> Item | None:
    """The next item with another right reply; none for items to which the right reply is that there's no answer."""
    if item.row.get("unanswerable"):
        return None
    at = items.index(item)
    for one in (*items[at + 1 :], *items[:at]):
        if known[one.id] != known[item.id] and not _alike(one, item):
            return one
    return None


def _alike(one: Item, item: Item) -> bool:
    """Whether the right reply to one may be right for the other: same values, or one cluster."""
    if item.cluster and one.cluster == item.cluster:
        return True
    facts = _values(item)
    if facts:
        return _values(one) == facts
    return one.target == item.target and one.row.get("tests") == item.row.get("tests")


def _from_facts(item: Item) -> str:
    """A reply that says every required fact, for items of ``facts`` without a written answer."""
    if item.row.get("unanswerable"):
        return "Not stated."
    return "; ".join(_values(item))


def _values(item: Item) -> list[str]:
    """The values of the facts that must be said."""
    facts = [fact for fact in item.row.get("facts") or () if isinstance(fact, Mapping)]
    return [str(fact.get("value", fact.get("text", ""))) for fact in facts if fact.get("must") is not False]


def _graded(grader: Grader, replies: list[tuple[Item, Mutant]]) -> list[tuple[Item, Mutant, Grade]]:
    grades = grade_all(grader, [(_answer(one), item) for item, one in replies])
    return [(item, one, grade) for (item, one), grade in zip(replies, grades, strict=True)]


def _answer(one: Mutant) -> Answer:
    return Answer(text=one.text, stop="tool" if one.calls else "stop", tool_calls=one.calls)


def _undecided(grade: Grade) -> bool:
    return grade.score is None and grade.failure != "grader_error"


def _decided(grade: Grade, passed: bool) -> bool:
    return not _undecided(grade) and (grade.verdict == "pass") is passed


def _passed(graded: list[tuple[Item, Mutant, Grade]]) -> list[Slip]:
    """Wrong replies that pass or break the grader; of the doubtful ones of an item only when none was told."""
    slips = []
    doubtful: dict[str, list[tuple[Item, Mutant, Grade]]] = {}
    for item, one, grade in graded:
        if grade.failure == "grader_error" or (one.sure and _decided(grade, True)):
            slips.append(_slip(item, one, grade, "passed"))
        elif not one.sure and not _undecided(grade):
            doubtful.setdefault(item.id, []).append((item, one, grade))
    untold = [some[0] for some in doubtful.values() if all(grade.verdict == "pass" for _, _, grade in some)]
    return slips + [_slip(*one, "passed, as did all like it") for one in untold]


def _shown(one: Mutant) -> str:
    return one.text or "; ".join(f"{call.name}({call.arguments})" for call in one.calls)


def _slip(item: Item, one: Mutant, grade: Grade, what: str) -> Slip:
    broke = grade.failure == "grader_error"
    why: Any = grade.why
    told = "the grader broke" if broke else what
    return Slip(item=item.id, reply=one.kind, what=told, text=_shown(one)[:500], why=str(why)[:500])
