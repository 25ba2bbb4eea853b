"""Typed reading of values: one canonical form for each kind, so that equal values compare equal.

``compare(kind, got, want, settings)`` is all that graders need. Kinds: see ``KINDS``.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

from speedqual.grading.normalise import dates, money, numbers, texts, units
from speedqual.grading.normalise.base import AMBIGUOUS, BAD, Fault, Reading, Settings, Tolerance

__all__ = [
    "AMBIGUOUS",
    "BAD",
    "DEFAULT",
    "KINDS",
    "Comparison",
    "Fault",
    "Reading",
    "Settings",
    "Tolerance",
    "compare",
    "kind_of",
    "native",
    "read",
]


def _read_integer(value: Any, settings: Settings) -> Reading:
    reading = numbers.read_number(value, settings)
    if not reading.fault and reading.value != reading.value.to_integral_value():
        return Reading(None, BAD)
    return reading


_READERS: dict[str, Callable[[Any, Settings], Reading]] = {
    "string": texts.read_string,
    "name": texts.read_name,
    "number": numbers.read_number,
    "integer": _read_integer,
    "money": money.read_money,
    "currency": money.read_currency,
    "percent": units.read_percent,
    "ratio": units.read_ratio,
    "quantity": units.read_quantity,
    "date": dates.read_date,
    "datetime": dates.read_datetime,
    "boolean": texts.read_boolean,
    "phone": texts.read_phone,
    "id": texts.read_id,
    "enum": texts.read_enum,
}
KINDS = tuple(_READERS)
"""The types that a field or a fact can have."""
DEFAULT = Settings()
CACHED_CHARS = 400


class Comparison(NamedTuple):
    """``fault``: why the answer could not be read; ``gold_as_text``: the gold itself does not fit its type."""

    equal: bool
    fault: Fault = ""
    gold_as_text: bool = False


def read(kind: str, value: Any, settings: Settings = DEFAULT) -> Reading:
    """``value`` as a ``kind``; KeyError for a kind that is not in ``KINDS``."""
    if isinstance(value, str) and len(value) <= CACHED_CHARS:
        return _read_text(kind, value, settings)
    return _READERS[kind](value, settings)


@lru_cache(maxsize=16_384)
def _read_text(kind: str, value: str, settings: Settings) -> Reading:
    return _READERS[kind](value, settings)


def compare(kind: str, got: Any, want: Any, settings: Settings = DEFAULT) -> Comparison:
    """Whether ``got`` and ``want`` are the same value of this kind. A gold that is none is compared as text."""
    gold = read(kind, want, settings)
    if gold.fault:
        a, b = texts.read_string(got, settings), texts.read_string(want, settings)
        return Comparison(not a.fault and a == b, "", gold_as_text=True)
    reading = read(kind, got, settings)
    if reading.fault:
        return Comparison(False, reading.fault)
    return Comparison(_same(reading.value, gold.value, got, want, settings))


def _same(a: Any, b: Any, got: Any, want: Any, settings: Settings) -> bool:
    if isinstance(b, Decimal):
        return _same_number(a, b, settings) or (
            type(want) is float and isinstance(got, (int, float, str)) and float(a) == want
        )
    if isinstance(b, money.Money):
        return _same_number(a.amount, b.amount, settings) and _compatible(a.currencies, b.currencies)
    if isinstance(b, frozenset):
        return bool(a & b)
    if isinstance(b, units.Share):
        return _same_number(a.value, b.value, settings) and _same_unit(a, b)
    if isinstance(b, units.Quantity):
        return a.dimension == b.dimension and (_same_number(a.value, b.value, settings) or _near(a.value, b.value))
    if isinstance(b, dates.Moment):
        return dates.same_moment(a, b)
    if isinstance(b, texts.Phone):
        return texts.same_phone(a, b)
    return bool(a == b)


def _same_number(a: Decimal, b: Decimal, settings: Settings) -> bool:
    return a == b or (settings.tolerance is not None and settings.tolerance.allows(a, b))


def _compatible(a: frozenset[str], b: frozenset[str]) -> bool:
    return not a or not b or bool(a & b)


def _same_unit(a: units.Share, b: units.Share) -> bool:
    """Per cent and percentage points differ; a bare number is taken as either, unless it may be a fraction of one."""
    if a.unit and b.unit:
        return a.unit == b.unit
    return True


def _near(a: Decimal, b: Decimal) -> bool:
    """Equal but for the rounding of a conversion of units."""
    return abs(a - b) <= abs(b) * Decimal("1e-9")


def kind_of(value: Any) -> str:
    """The kind of an undeclared field, from the JSON type of its gold."""
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, (int, float)) else "string"


def native(kind: str, value: Any) -> bool:
    """Whether ``value`` has the JSON type that this kind is given in: a number as a string is right but not native."""
    if kind == "boolean":
        return isinstance(value, bool)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind in ("number", "integer"):
        return is_number
    if kind in ("money", "percent", "ratio", "quantity"):
        return is_number or isinstance(value, str)
    return isinstance(value, str)
