"""Grade by literal assertions on the text: the column ``assert`` lists ``{type, value, weight}``.

Types: ``equals``, ``contains``, ``icontains`` (without regard to case), ``contains-all``, ``contains-any`` and the same
with ``i``, ``starts-with``, ``regex``, ``is-json`` (the whole reply; ``value``: a JSON Schema), ``contains-json``,
``is-refusal``; each also as ``not-…``. The strict score is 1 when all hold, the share that holds (by ``weight``) from
the column ``threshold`` on; the lenient score is that share. An empty reply never passes: ``not-contains`` alone would
praise silence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from speedqual.errors import EvalSetError
from speedqual.grading.jsontext import find_json, loads
from speedqual.grading.options import options_of
from speedqual.grading.patterns import compiled, found
from speedqual.grading.refusals import is_refusal
from speedqual.grading.reply import failed, look
from speedqual.grading.schema import check_schema, violations
from speedqual.grading.text import fold, is_blank
from speedqual.records import Answer, EvalSet, Grade, Item

__all__ = ["TYPES", "VERSION", "AssertionsGrader", "make"]

VERSION = "1"

Test = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Assertion:
    """One that is ready to be asked; ``label`` says it in a grade."""

    label: str
    holds: Test
    weight: float


def _texts(value: Any, where: str) -> list[str]:
    values = value if isinstance(value, list) else [value]
    if not values or not all(isinstance(one, (str, int, float)) and str(one) for one in values):
        raise EvalSetError("the value is not text, nor a list of texts", where=where, fix='Write "value": "Paris"')
    return [str(one) for one in values]


def _holding(value: Any, where: str, *, folded: bool, every: bool) -> Test:
    wanted = [fold(one) if folded else one for one in _texts(value, where)]
    many = all if every else any

    def holds(text: str) -> bool:
        said = fold(text) if folded else text
        return many(one in said for one in wanted)

    return holds


def _equals(value: Any, where: str) -> Test:
    """The whole reply, apart from white space around it; a table or list as JSON."""
    if isinstance(value, (dict, list)):
        return lambda text: _json(text) == (True, value)
    (wanted,) = _texts(value, where)[:1]
    return lambda text: text.strip() == wanted.strip()


def _starts(value: Any, where: str) -> Test:
    (wanted,) = _texts(value, where)[:1]
    return lambda text: text.lstrip().startswith(wanted)


def _regex(value: Any, where: str) -> Test:
    pattern, n_repeats = compiled(value, where)
    return partial(found, pattern, n_repeats)


def _json(text: str) -> tuple[bool, Any]:
    try:
        return True, loads(text)
    except ValueError:
        return False, None


def _is_json(value: Any, where: str) -> Test:
    schema = _schema(value, where)

    def holds(text: str) -> bool:
        valid, parsed = _json(text)
        return valid and (schema is None or not violations(parsed, schema))

    return holds


def _contains_json(value: Any, where: str) -> Test:
    schema = _schema(value, where)

    def holds(text: str) -> bool:
        one = find_json(text)
        return one.exists and not one.repairs and (schema is None or not violations(one.value, schema))

    return holds


def _schema(value: Any, where: str) -> Mapping[str, Any] | None:
    if value is None:
        return None
    check_schema(value, where)
    schema: Mapping[str, Any] = value
    return schema


TYPES: dict[str, Callable[[Any, str], Test]] = {
    "equals": _equals,
    "contains": partial(_holding, folded=False, every=True),
    "icontains": partial(_holding, folded=True, every=True),
    "contains-all": partial(_holding, folded=False, every=True),
    "icontains-all": partial(_holding, folded=True, every=True),
    "contains-any": partial(_holding, folded=False, every=False),
    "icontains-any": partial(_holding, folded=True, every=False),
    "starts-with": _starts,
    "regex": _regex,
    "is-json": _is_json,
    "contains-json": _contains_json,
    "is-refusal": lambda value, where: is_refusal,
}
"""Every type and what makes its test."""


def make(evalset: EvalSet) -> AssertionsGrader:
    """The grader of a set. Raises EvalSetError for an assertion that is wrong, with its item."""
    options_of(evalset, ())
    return AssertionsGrader({item.id: _read(item, f"eval set {evalset.name}") for item in evalset.items})


def _read(item: Item, where: str) -> tuple[Assertion, ...]:
    given = item.row.get("assert")
    where = f"{where}, item {item.id}, assert"
    if not isinstance(given, list) or not given:
        raise EvalSetError("the item asserts nothing", where=where, fix='Write [{"type": "contains", "value": "…"}]')
    return tuple(_assertion(one, f"{where}[{index}]") for index, one in enumerate(given))


def _assertion(given: Any, where: str) -> Assertion:
    kind = given.get("type") if isinstance(given, Mapping) else None
    negated = isinstance(kind, str) and kind.startswith("not-")
    name = str(kind).removeprefix("not-")
    if name not in TYPES:
        raise EvalSetError(f"unknown assertion {str(kind)[:40]!r}", where=where, fix=f"Use one of: {', '.join(TYPES)}")
    weight = given.get("weight", 1)
    if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 <= weight <= 1e6:
        raise EvalSetError("the weight is not a number from 0", where=where, fix="Write 1, or leave it out")
    test = TYPES[name](given.get("value"), where)
    value = given.get("value")
    label = f"{kind} {value!r}"[:120] if value is not None else str(kind)
    return Assertion(label, (lambda text: not test(text)) if negated else test, float(weight))


@dataclass(frozen=True, slots=True)
class AssertionsGrader:
    """``(answer, item) -> Grade``; the assertions of the set's own items are ready."""

    known: Mapping[str, tuple[Assertion, ...]]
    name: str = "assertions"

    def __call__(self, answer: Answer, item: Item) -> Grade:
        """All assertions on one reply, without its thinking."""
        reply = look(answer)
        if is_blank(reply.text):
            failure = "truncated" if reply.unfinished else "no_answer"
            return failed(failure, "the reply is empty", version=VERSION, flags=reply.flags)  # type: ignore[arg-type]
        assertions = self.known.get(item.id) or _read(item, "an item")
        broken = [one for one in assertions if not one.holds(reply.text)]
        total = sum(one.weight for one in assertions)
        share = 1 - sum(one.weight for one in broken) / total if total else float(not broken)
        threshold = item.row.get("threshold")
        wanted = threshold if isinstance(threshold, (int, float)) and not isinstance(threshold, bool) else 1
        passed = bool(assertions) and (not broken or (0 < wanted <= share and wanted < 1))
        return Grade(
            score=float(passed),
            score_lenient=1.0 if passed else share,
            verdict="pass" if passed else "partial" if 0 < share < 1 else "fail",
            failure="none" if passed else "truncated" if reply.unfinished else "wrong_result",
            why="; ".join(f"does not hold: {one.label}" for one in broken)[:500],
            how="text of the reply",
            flags=reply.flags,
            parts={"held": len(assertions) - len(broken), "asserted": len(assertions)},
            version=VERSION,
        )
