"""Amounts and currencies: ``$1,234.50``, ``1200元``, ``RM 9.00``, ``人民币三万五千元``."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

from speedqual.grading.normalise.base import BAD, Reading, Settings
from speedqual.grading.normalise.currency import currency_codes, split_currency
from speedqual.grading.normalise.digits import MAX_CHARS, ascii_digits
from speedqual.grading.normalise.numbers import read_number

__all__ = ["Money", "read_currency", "read_money"]


class Money(NamedTuple):
    """An amount and the codes its currency may have: "$" stands for several, empty = not said."""

    amount: Decimal
    currencies: frozenset[str]


def read_money(value: Any, settings: Settings) -> Reading:
    """A JSON number, or a text with an amount and perhaps a currency."""
    if not isinstance(value, str):
        reading = read_number(value, settings)
        return reading if reading.fault else Reading(Money(reading.value, frozenset()))
    if len(value) > MAX_CHARS:
        return Reading(None, BAD)
    rest, codes = split_currency(ascii_digits(value).strip())
    if rest.startswith("(") and rest.endswith(")"):
        inner, inside = split_currency(rest[1:-1])
        rest, codes = f"({inner})", codes or inside
    reading = read_number(rest, settings)
    return reading if reading.fault else Reading(Money(reading.value, codes))


def read_currency(value: Any, settings: Settings) -> Reading:
    """The codes that a sign, code or name stands for."""
    if not isinstance(value, str) or len(value) > MAX_CHARS:
        return Reading(None, BAD)
    codes = currency_codes(ascii_digits(value)) or currency_codes(value)
    return Reading(codes) if codes else Reading(None, BAD)
