"""Which unit a question wants, and whether a number in a reply has another: "2 litres" is no price in euros."""

from __future__ import annotations

import re
from functools import lru_cache

from speedqual.grading.normalise.currency import currency_codes
from speedqual.grading.normalise.units import known_unit

__all__ = ["asked_units", "has_other_unit"]

Unit = tuple[str, object]
"""A dimension, and what tells units of it apart: the factor, or the currencies that a sign may stand for."""

_NAMED = re.compile(
    r"\b(?:in|how many)\s+(?P<word>[A-Za-z]{2,}(?: dollars)?)\b|(?:几|多少)个?(?P<han>[\u4e00-\u9fff]{1,3})",
    re.IGNORECASE,
)
_PRICE = re.compile(r"\b(?:cost|price|pay|paid|fee|charge[ds]?)\b|多少钱|价格|价钱|花了?多少|费用", re.IGNORECASE)


@lru_cache(maxsize=4096)
def asked_units(question: str) -> tuple[Unit, ...]:
    """The units that the question names as those of the answer; any currency where it asks for a price."""
    words = [match["word"] or match["han"] for match in _NAMED.finditer(question)]
    units = [unit for unit in map(_unit_of, words) if unit is not None]
    if not units and _PRICE.search(question):
        return (("money", None),)
    return tuple(units)


def has_other_unit(question: str, unit: str) -> bool:
    """Whether ``unit``, the word behind a number, is a unit and none that the question wants."""
    asked, given = asked_units(question), _unit_of(unit)
    return bool(asked) and given is not None and not any(_agree(one, given) for one in asked)


def _unit_of(word: str) -> Unit | None:
    """The unit that the word begins with; Chinese words run on without a space."""
    for end in range(len(word), 0, -1) if not word.isascii() else (len(word),):
        if codes := currency_codes(word[:end]):
            return "money", codes
        if unit := known_unit(word[:end]):
            return unit
    return None


def _agree(asked: Unit, given: Unit) -> bool:
    if asked[0] != given[0]:
        return False
    mine, theirs = asked[1], given[1]
    if isinstance(mine, frozenset) and isinstance(theirs, frozenset):
        return bool(mine & theirs)
    return mine is None or mine == theirs
