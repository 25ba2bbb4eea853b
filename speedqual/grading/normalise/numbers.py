"""Numbers as people and models write them, in any script, read without guessing.

A text that two locales read differently (``1.234``, ``1.234,50``) is ambiguous until the card declares one. Exact
decimals throughout: 12345678901234567891 is not …890. What Python's ``float`` lets through (``1_000``, ``nan``) is
no number here.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Any

from speedqual.grading.normalise.base import AMBIGUOUS, BAD, Reading, Settings
from speedqual.grading.normalise.currency import without_currency
from speedqual.grading.normalise.digits import MAX_CHARS, VULGAR, ascii_digits
from speedqual.grading.normalise.numerals import CHINESE, ENGLISH, chinese_number, english_number

__all__ = ["ExactFloat", "read_number", "read_unsigned"]


class ExactFloat(float):
    """A JSON number with a fraction that remembers how it was written, so that no digit is lost in comparing."""

    __slots__ = ("literal",)
    literal: str

    def __new__(cls, literal: str) -> ExactFloat:
        """Build from the characters of the JSON number."""
        made = super().__new__(cls, literal)
        made.literal = literal
        return made

    def __reduce__(self) -> tuple[type[ExactFloat], tuple[str]]:
        return ExactFloat, (self.literal,)


_MULTIPLIERS = {
    "thousand": 3,
    "k": 3,
    "million": 6,
    "millions": 6,
    "mn": 6,
    "mio": 6,
    "m": 6,
    "billion": 9,
    "billions": 9,
    "bn": 9,
    "b": 9,
    "trillion": 12,
    "tn": 12,
    "万": 4,
    "萬": 4,
    "亿": 8,
    "億": 8,
    "百": 2,
    "千": 3,
    "百万": 6,
    "千万": 7,
    "百萬": 6,
    "千萬": 7,
    "十万": 5,
    "十亿": 9,
    "万亿": 12,
    "兆": 12,
    "百亿": 10,
    "千亿": 11,
}
_SCALED = re.compile(
    r"(?P<number>[\d.,' ]*\d) ?(?P<unit>"
    + "|".join(sorted(map(re.escape, _MULTIPLIERS), key=len, reverse=True))
    + r")",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?")
_COMMA_GROUPS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d*)?")
_LAKH_GROUPS = re.compile(r"\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d*)?")
_OTHER_GROUPS = re.compile(r"\d{1,3}(?:([ '])\d{3})(?:\1\d{3})*(?:[.,]\d+)?")
_POINT_GROUPS = re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?")
_COMMA_DECIMAL = re.compile(r"\d+,\d+")
_COMMA_LOCALES = frozenset(
    [
        "de",
        "fr",
        "es",
        "it",
        "pt",
        "nl",
        "pl",
        "ru",
        "tr",
        "id",
        "da",
        "sv",
        "nb",
        "no",
        "fi",
        "cs",
        "sk",
        "hu",
        "ro",
        "el",
        "uk",
        "vi",
        "bg",
        "hr",
        "sl",
        "sr",
        "ca",
    ]
)
_CHINESE_NUMERAL = re.compile(
    rf"[负負-]?(?:[\d.]|[{CHINESE}])*[{CHINESE}](?:[\d.]|[{CHINESE}])*(?:[点點][{CHINESE}]+)?"
)
_ENGLISH_NUMERAL = re.compile(ENGLISH)


def read_number(value: Any, settings: Settings) -> Reading:
    """A JSON number or a text that is one number and nothing else; a currency sign beside it is let pass."""
    if isinstance(value, bool):
        return Reading(None, BAD)
    if isinstance(value, (int, float)):
        return _native(value)
    if not isinstance(value, str) or len(value) > MAX_CHARS:
        return Reading(None, BAD)
    return _signed(without_currency(ascii_digits(value)), settings)


def _native(value: float) -> Reading:
    literal = value.literal if isinstance(value, ExactFloat) else repr(value)
    try:
        number = Decimal(literal)
    except InvalidOperation:
        return Reading(None, BAD)
    return Reading(number) if number.is_finite() else Reading(None, BAD)


def _signed(text: str, settings: Settings) -> Reading:
    """A sign, accounting brackets, then the digits."""
    negative = text.startswith("(") and text.endswith(")") and len(text) > 2
    body = text[1:-1].strip() if negative else text
    match = re.match(r"(?:(-)|\+|(minus|negative) |(负|負)) ?", body, re.IGNORECASE)
    if match:
        if negative:
            return Reading(None, BAD)
        negative = match.group(0)[0] != "+"
        body = body[match.end() :]
    reading = read_unsigned(without_currency(body), settings)
    return Reading(-reading.value) if negative and not reading.fault else reading


def read_unsigned(text: str, settings: Settings) -> Reading:
    """Digits with their separators, a multiplier (``1.2亿``, ``3.5 million``), or a numeral in words."""
    if text in VULGAR:
        return Reading(Decimal(VULGAR[text]))
    if text[-1:] in VULGAR and text[:-1].isdecimal():
        return Reading(Decimal(text[:-1]) + Decimal(VULGAR[text[-1]]))
    if text[:1].isdigit() or text[:1] == ".":
        scaled = _SCALED.fullmatch(text)
        if scaled:
            return _scaled(scaled, settings)
        reading = _digits(text, settings)
        if not reading.fault or reading.fault == AMBIGUOUS:
            return reading
    if _CHINESE_NUMERAL.fullmatch(text):
        number = chinese_number(text)
        return Reading(None, BAD) if number is None else Reading(number)
    lowered = text.casefold()
    if _ENGLISH_NUMERAL.fullmatch(lowered):
        number = english_number(lowered)
        return Reading(None, BAD) if number is None else Reading(number)
    return Reading(None, BAD)


def _scaled(match: re.Match[str], settings: Settings) -> Reading:
    """A multiplier word tells the language, so that a point before it is a decimal point."""
    unit = match["unit"]
    key = unit if unit in _MULTIPLIERS else unit.lower()
    local = settings if settings.locale else Settings(locale="en")
    reading = _digits(match["number"], local)
    return reading if reading.fault else Reading(reading.value.scaleb(_MULTIPLIERS[key]))


def _digits(text: str, settings: Settings) -> Reading:
    """Digits and separators only, read as the locale says or, without one, only when there is one way to read them."""
    language = settings.locale.replace("_", "-").split("-")[0].lower()
    if language in _COMMA_LOCALES:
        return _comma_decimal(text)
    if _PLAIN.fullmatch(text):
        if not language and re.fullmatch(r"[1-9]\d{0,2}\.\d{3}", text):
            return Reading(None, AMBIGUOUS)
        return Reading(Decimal(text))
    if _COMMA_GROUPS.fullmatch(text) or _LAKH_GROUPS.fullmatch(text):
        return Reading(Decimal(text.replace(",", "")))
    if _OTHER_GROUPS.fullmatch(text):
        return Reading(Decimal(text.replace(" ", "").replace("'", "").replace(",", ".")))
    if _POINT_GROUPS.fullmatch(text):
        return Reading(None, BAD if language else AMBIGUOUS)
    return Reading(None, BAD)


def _comma_decimal(text: str) -> Reading:
    """``1.234,50``, ``1 234,50``, ``1234,5``; a point that groups no thousands is read as a decimal point."""
    if _POINT_GROUPS.fullmatch(text):
        return Reading(Decimal(text.replace(".", "").replace(",", ".")))
    if _COMMA_DECIMAL.fullmatch(text):
        return Reading(Decimal(text.replace(",", ".")))
    if _OTHER_GROUPS.fullmatch(text):
        return Reading(Decimal(text.replace(" ", "").replace("'", "").replace(",", ".")))
    if _PLAIN.fullmatch(text):
        return Reading(Decimal(text))
    return Reading(None, BAD)
