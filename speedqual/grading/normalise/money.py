"""Amounts and currencies: ``$1,234.50``, ``1200元``, ``RM 9.00``, ``人民币三万五千元``."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, NamedTuple

from speedqual.grading.normalise.base import BAD, Reading, Settings
from speedqual.grading.normalise.currency import CURRENCY, currency_codes, split_currency
from speedqual.grading.normalise.digits import MAX_CHARS, ascii_digits
from speedqual.grading.normalise.numbers import read_number
from speedqual.grading.normalise.numerals import CHINESE, chinese_number

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
    text = ascii_digits(value).strip()
    if (parts := _in_parts(text)) is not None:
        return _joined(*parts, settings)
    rest, codes = split_currency(text)
    if rest.startswith("(") and rest.endswith(")"):
        inner, inside = split_currency(rest[1:-1])
        rest, codes = f"({inner})", codes or inside
    reading = read_number(rest, settings)
    return reading if reading.fault else Reading(Money(reading.value, codes))


_ENGLISH_PARTS = re.compile(
    rf"(?:(?P<whole>.*(?:{CURRENCY})|\D{{1,4}}[\d.,]+)[ ,]+(?:and )?)?"
    r"(?P<cents>[a-z\d-]+(?: [a-z]+)?) ?(?:cents?|pence|¢)",
    re.IGNORECASE,
)
_CHINESE_PARTS = re.compile(
    rf"(?:(?P<whole>.+?(?:元|圆|块钱?))(?:[零〇]|又)?)?(?:(?P<jiao>\d|[{CHINESE}])(?P<tenth>[角毛])?)?"
    rf"(?:[零〇]?(?P<fen>\d|[{CHINESE}])分)?(?:钱|整|正)?"
)


def _in_parts(text: str) -> tuple[str, str] | None:
    """``12元5角``, ``三元五角八分``, ``12块5``, ``five dollars and 20 cents``: the whole and its hundredths."""
    if (match := _ENGLISH_PARTS.fullmatch(text)) is not None:
        return match["whole"] or "", match["cents"]
    match = _CHINESE_PARTS.fullmatch(text)
    if match is None or not (match["jiao"] or match["fen"]) or not (match["whole"] or match["tenth"] or match["fen"]):
        return None
    hundredths = 10 * _digit(match["jiao"]) + _digit(match["fen"])
    return match["whole"] or "", str(hundredths)


def _digit(text: str | None) -> int:
    number = None if not text else Decimal(text) if text.isdecimal() else chinese_number(text)
    return 0 if number is None else int(number)


def _joined(whole: str, cents: str, settings: Settings) -> Reading:
    """The amount of a whole part with its currency and of hundredths."""
    small = read_number(cents, settings)
    if small.fault or not 0 <= small.value < 100:
        return Reading(None, BAD)
    if not whole:
        return Reading(Money(small.value / 100, frozenset()))
    large = read_money(whole, settings)
    if large.fault:
        return large
    amount = large.value.amount
    return Reading(Money(amount + (small.value / 100).copy_sign(amount), large.value.currencies))


def read_currency(value: Any, settings: Settings) -> Reading:
    """The codes that a sign, code or name stands for."""
    if not isinstance(value, str) or len(value) > MAX_CHARS:
        return Reading(None, BAD)
    codes = currency_codes(ascii_digits(value)) or currency_codes(value)
    return Reading(codes) if codes else Reading(None, BAD)
