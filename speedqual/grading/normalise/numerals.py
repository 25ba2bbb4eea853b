"""Numbers in words: Chinese (三万五千, 二〇二四, 一百二十三点五, 壹仟) and English (one thousand two hundred)."""

from __future__ import annotations

import re
from decimal import Decimal

__all__ = ["CHINESE", "CHINESE_DIGITS", "ENGLISH", "chinese_number", "english_number"]

_DIGITS = {
    c: i
    for i, group in enumerate(
        ("〇零○Ｏ", "一壹弌", "二贰貳两兩弍", "三叁參叄弎", "四肆", "五伍", "六陆陸", "七柒", "八捌", "九玖")
    )
    for c in group
}
_SMALL = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_LARGE = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8, "兆": 10**12}
_TENS = {"廿": 20, "卅": 30}

CHINESE_DIGITS = "".join(_DIGITS)
CHINESE = CHINESE_DIGITS + "".join(_SMALL) + "".join(_LARGE) + "".join(_TENS)
"""Every character a Chinese numeral is written with, the decimal point 点 and the sign 负 apart."""

_MIXED = re.compile(rf"\d+(?:\.\d+)?|[{CHINESE}]")


def chinese_number(text: str) -> Decimal | None:
    """``text`` as a number, None when it is no well-formed numeral. Digits may be mixed in: ``3万5千``, ``1.2亿``."""
    sign = -1 if text[:1] in {"负", "負", "-"} else 1
    body = text[1:] if sign < 0 else text
    whole, point, decimals = body.partition("点") if "点" in body else body.partition("點")
    if point:
        fraction = _positional(decimals)
        number = _whole(whole) if whole else None
        if fraction is None or number is None:
            return None
        return sign * (number + Decimal(fraction).scaleb(-len(decimals)))
    number = _whole(body)
    return None if number is None else sign * number


def _positional(text: str) -> str | None:
    """二〇二四 → "2024"."""
    if not text or any(c not in _DIGITS for c in text):
        return None
    return "".join(str(_DIGITS[c]) for c in text)


def _whole(text: str) -> Decimal | None:
    if len(text) > 1 and (digits := _positional(text)) is not None:
        return Decimal(digits)
    tokens = _MIXED.findall(text)
    if not tokens or "".join(tokens) != text:
        return None
    return _combine(tokens)


def _combine(tokens: list[str]) -> Decimal | None:
    """Add up digits and units; a last digit counts in the next lower unit (三万五 = 35000)."""
    total = section = Decimal(0)
    digit: Decimal | None = None
    unit = Decimal(1)  # the last unit read, for the colloquial ending
    after_zero = False
    for token in tokens:
        if token in _SMALL:
            section += (Decimal(1) if digit is None else digit) * _SMALL[token]
            digit, unit, after_zero = None, Decimal(_SMALL[token]), False
        elif token in _LARGE:
            section += digit or 0
            if section == 0:
                return None
            scale = Decimal(_LARGE[token])
            total = (total + section) * scale if 0 < total < scale else total + section * scale
            section, digit, unit, after_zero = Decimal(0), None, scale, False
        elif token in _TENS:
            section += _TENS[token]
            digit, unit = None, Decimal(10)
        else:
            if digit is not None and digit != 0:
                return None
            digit = Decimal(_DIGITS[token]) if token in _DIGITS else Decimal(token)
            after_zero = after_zero or token in "〇零○"
    if digit is not None:
        colloquial = unit >= 100 and not after_zero and 0 < digit < 10 and tokens[-1] in _DIGITS
        section += digit * (unit / 10 if colloquial else 1)
    return total + section


_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS_EN = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_WORDS = {w: i for i, w in enumerate(_ONES)} | {w: 20 + 10 * i for i, w in enumerate(_TENS_EN)}
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}

_ATOM = "|".join(sorted([*_WORDS, *_SCALES, "hundred"], key=len, reverse=True))
ENGLISH = rf"(?:(?:a|an|minus|negative)[ ])?(?:{_ATOM})(?:(?:[ -]|,[ ]|[ ]and[ ])(?:{_ATOM}))*"
"""A pattern for English number words, in lower case."""


def english_number(text: str) -> Decimal | None:
    """``text`` (lower case) as a number, or None when it is no well-formed numeral."""
    words = re.sub(r"[-,]", " ", text).split()
    sign = -1 if words[:1] in (["minus"], ["negative"]) else 1
    words = [w for w in (words[1:] if sign < 0 else words) if w != "and"]
    if words[:1] in (["a"], ["an"]):
        words[0] = "one"
    if not words or any(w not in _WORDS and w not in _SCALES and w != "hundred" for w in words):
        return None
    total, section, last = 0, 0, 10**15
    for word in words:
        if word in _SCALES:
            if section == 0 or _SCALES[word] >= last:
                return None
            total, section, last = total + section * _SCALES[word], 0, _SCALES[word]
        elif word == "hundred":
            if not 0 < section < 100:
                return None
            section *= 100
        else:
            value, room = _WORDS[word], section % 100
            if room and (room < 20 or room % 10 or value > 9 or value == 0):
                return None
            section += value
    return Decimal(sign * (total + section))
