"""Words rather than numbers: booleans, phones, names, ids, enums and plain strings."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from speedqual.grading.normalise.base import BAD, Reading, Settings
from speedqual.grading.normalise.digits import MAX_CHARS, ascii_digits
from speedqual.grading.text import fold, squeeze

__all__ = ["Phone", "read_boolean", "read_enum", "read_id", "read_name", "read_phone", "read_string", "same_phone"]

_TRUE = frozenset(["true", "yes", "y", "t", "on", "1", "是", "真", "对", "有", "是的", "對"])
_FALSE = frozenset(["false", "no", "n", "f", "off", "0", "否", "假", "不", "无", "不是", "没有", "無", "沒有", "错"])
_HAN_SPACE = re.compile(r"(?<=[\u3400-\u9fff]) (?=[\u3400-\u9fff])")
_EDGES = " \t\n.,;:!?。，；：！？、"


def read_boolean(value: Any, settings: Settings) -> Reading:
    """JSON true and false, 1 and 0, and the words for them."""
    if isinstance(value, bool):
        return Reading(value)
    word = fold(str(value)) if isinstance(value, (str, int)) else ""
    if word in _TRUE or word in _FALSE:
        return Reading(word in _TRUE)
    return Reading(None, BAD)


class Phone(NamedTuple):
    """Digits with the country code (``international``) or without it, and an extension."""

    digits: str
    international: bool
    extension: str


_PHONE = re.compile(
    r"(?:tel\.?:?|phone:?|电话[::]?)? ?(?P<plus>\+|00)?(?P<body>[\d\s().\-/]{3,30}\d)(?: ?(?:ext\.?|x|"
    r"extension|转|分机) ?(?P<ext>\d{1,6}))?",
    re.IGNORECASE,
)


def read_phone(value: Any, settings: Settings) -> Reading:
    """Digits alone, whatever parts them."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or len(value) > MAX_CHARS:
        return Reading(None, BAD)
    match = _PHONE.fullmatch(ascii_digits(value))
    if not match:
        return Reading(None, BAD)
    body = match["body"].replace("(0)", "") if match["plus"] else match["body"]
    return Reading(Phone(re.sub(r"\D", "", body), bool(match["plus"]), match["ext"] or ""))


def same_phone(a: Phone, b: Phone) -> bool:
    """Equal digits, or one with a country code of at most three digits before the other's national number."""
    if a.extension != b.extension:
        return False
    if a.international == b.international:
        return a.digits == b.digits
    full, national = (a.digits, b.digits.lstrip("0")) if a.international else (b.digits, a.digits.lstrip("0"))
    if full == national:
        return True
    return len(national) >= 7 and full.endswith(national) and 1 <= len(full) - len(national) <= 3


def _as_text(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return getattr(value, "literal", None) or str(value)
    return None


def read_string(value: Any, settings: Settings) -> Reading:
    """Folded: NFKC, case, white space, kinds of quotes and dashes."""
    text = _as_text(value)
    return Reading(None, BAD) if text is None else Reading(_HAN_SPACE.sub("", fold(text)))


def read_name(value: Any, settings: Settings) -> Reading:
    """As a string, and punctuation at the edges does not count, nor a point after an initial."""
    text = _as_text(value)
    if text is None:
        return Reading(None, BAD)
    folded = re.sub(r"(?<=\b\w)\.(?=\s|$)", "", _HAN_SPACE.sub("", fold(text)).strip(_EDGES))
    return Reading(folded.strip())


def read_id(value: Any, settings: Settings) -> Reading:
    """Characters as they are: leading zeros and case stay; width and spaces do not count."""
    text = _as_text(value)
    return Reading(None, BAD) if text is None else Reading(squeeze(text).replace(" ", ""))


def read_enum(value: Any, settings: Settings) -> Reading:
    """One of the allowed values, when the card lists them."""
    reading = read_string(value, settings)
    if reading.fault or not settings.values:
        return reading
    allowed = {read_string(v, settings).value for v in settings.values}
    return reading if reading.value in allowed else Reading(None, BAD)
