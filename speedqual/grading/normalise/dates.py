"""Dates and times as written: nothing depends on today, on the machine's zone or on its locale.

``03/04/2024`` is ambiguous until the card declares ``date_order``; a date with a time and a zone is the date that is
written, not the one it would be elsewhere.
"""

from __future__ import annotations

import calendar
import re
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from speedqual.grading.normalise.base import AMBIGUOUS, BAD, Reading, Settings
from speedqual.grading.normalise.digits import MAX_CHARS, ascii_digits
from speedqual.grading.normalise.numerals import CHINESE, chinese_number

__all__ = ["DATE_IN_TEXT", "Day", "Moment", "read_date", "read_datetime"]


class Day(NamedTuple):
    """A date, or a month (day None), or a year (month None): equal only at the same precision."""

    year: int
    month: int | None
    day: int | None


class Moment(NamedTuple):
    """A wall-clock time and its offset from UTC in minutes, None = not said."""

    wall: datetime
    offset_min: int | None


_MONTH_NAMES = (
    "january jan januar enero janvier janv gennaio janeiro",
    "february feb februar febrero fevrier février fevr févr febbraio fevereiro",
    "march mar mär märz marz marzo mars março marco",
    "april apr abril avril avr aprile",
    "may mai mayo maggio maio",
    "june jun juni junio juin giugno junho",
    "july jul juli julio juillet juil luglio julho",
    "august aug agosto août aout",
    "september sep sept septiembre septembre settembre setembro",
    "october oct okt oktober octubre octobre ottobre outubro",
    "november nov noviembre novembre novembro",
    "december dec dez dezember diciembre décembre decembre dicembre dezembro",
)
_MONTHS = {name: i for i, names in enumerate(_MONTH_NAMES, start=1) for name in names.split()}
_MONTH = "(?:" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_DAY = r"\d{1,2}(?:st|nd|rd|th|\.|er|º)?"
_WEEKDAY = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?,? )?"
_ZH = rf"[\d{CHINESE}]"
_PATTERNS = (
    r"(?P<y>\d{4}) ?[-/.] ?(?P<m>\d{1,2}) ?[-/.] ?(?P<d>\d{1,2})",
    rf"(?P<y>{_ZH}{{4}}) ?年 ?(?P<m>{_ZH}{{1,2}}) ?月 ?(?P<d>{_ZH}{{1,3}}) ?[日号號]?",
    rf"{_WEEKDAY}(?P<d>{_DAY}) ?(?:of |de |-|/|\.)? ?(?P<m>{_MONTH}),? ?(?:of |de |-|/|\.)? ?(?P<y>\d{{4}})",
    rf"{_WEEKDAY}(?P<m>{_MONTH}) ?[-/.]? ?(?P<d>{_DAY}),? ?[-/.]? ?(?P<y>\d{{4}})",
    rf"(?P<y>\d{{4}}) ?[-/,.]? ?(?P<m>{_MONTH}) ?[-/]? ?(?P<d>{_DAY})",
    r"(?P<y>(?:1[89]|20)\d\d)(?P<m>\d\d)(?P<d>\d\d)",
    r"(?P<a>\d{1,2}) ?(?P<sep>[-/.]) ?(?P<b>\d{1,2}) ?(?P=sep) ?(?P<y>\d{4})",
    r"(?P<a>\d{1,2}) ?(?P<sep>[-/.]) ?(?P<b>\d{1,2}) ?(?P=sep) ?(?P<y2>\d{2})",
    r"(?P<y>\d{4})[-/](?P<m>\d{1,2})",
    rf"(?P<y>{_ZH}{{4}}) ?年 ?(?P<m>{_ZH}{{1,2}}) ?月",
    rf"(?P<m>{_MONTH}),? ?(?:of |de )?(?P<y>\d{{4}})",
    rf"(?P<y>{_ZH}{{4}}) ?年",
    r"(?P<y>\d{4})",
)
_TIME = (
    r"(?:,? ?(?:T|t|at )? ?(?P<half>上午|下午|早上|晚上|凌晨|中午)? ?"
    rf"(?:(?P<hour>\d{{1,2}}|[{CHINESE}]{{1,3}})(?:(?::|时|時|点|點|h)(?:(?P<minute>\d{{1,2}}|半|[{CHINESE}]{{1,3}})(?:分|m)?)?"
    r"|(?= ?[ap]\.?m\b))"
    r"(?::?(?P<second>\d{1,2})(?:[.,]\d{1,9})?秒?)?)"
    r" ?(?P<meridiem>[ap]\.?m\b\.?)? ?(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?"
)
_DATES = tuple(re.compile(pattern + _TIME, re.IGNORECASE) for pattern in _PATTERNS)
DATE_IN_TEXT = re.compile(
    "|".join(
        f"(?:{re.sub(r'[?]P<sep>', '', p).replace('(?P=sep)', '[-/.]')})"
        for p in (re.sub(r"[?]P<[^s]\w*>", "", q) for q in _PATTERNS[:7])
    ),
    re.IGNORECASE,
)
"""Finds whole dates inside running text."""


_AROUND = re.compile(
    r"^(?:on )?the (?=\d)|^on (?=\w)|^(?:星期|周|礼拜)[一二三四五六日天][,， ]*"
    r"|[,， ]*[(（]?(?:星期|周|礼拜)[一二三四五六日天][)）]?$",
    re.IGNORECASE,
)
_ERAS = {"民国": 1911, "民國": 1911, "令和": 2018, "平成": 1988, "昭和": 1925}
_ERA = re.compile(rf"({'|'.join(_ERAS)}) ?(元|\d{{1,3}}|[{CHINESE}]{{1,4}}) ?年")


def _western(text: str) -> str:
    """``民国113年3月4日`` → ``2024年3月4日``."""
    match = _ERA.match(text)
    if not match:
        return text
    year = 1 if match[2] == "元" else _number(match[2])
    return text if year is None else f"{_ERAS[match[1]] + year:04}年{text[match.end() :]}"


def read_date(value: Any, settings: Settings) -> Reading:
    """A text that is one date, perhaps followed by a time."""
    return _read(value, settings, want_time=False)


def read_datetime(value: Any, settings: Settings) -> Reading:
    """A text that is a date and a time; without a time, midnight."""
    return _read(value, settings, want_time=True)


def _read(value: Any, settings: Settings, *, want_time: bool) -> Reading:
    if isinstance(value, int) and not isinstance(value, bool) and 1000 <= value <= 9999 and not want_time:
        return Reading(Day(value, None, None))
    if not isinstance(value, str) or len(value) > MAX_CHARS:
        return Reading(None, BAD)
    text = _western(_AROUND.sub("", ascii_digits(value)))
    for pattern in _DATES:
        if match := pattern.fullmatch(text):
            day = _day(match, settings)
            return _moment(match, day) if want_time and not day.fault else day
    return Reading(None, BAD)


def _day(match: re.Match[str], settings: Settings) -> Reading:
    groups = match.groupdict()
    if "a" in groups:
        return _ordered(groups, settings)
    year = _number(groups["y"])
    month = _month(groups["m"]) if groups.get("m") else None
    day = _number(re.sub(r"(?<=\d)\D+$", "", groups["d"])) if groups.get("d") else None
    if year is None or (groups.get("m") and month is None) or (groups.get("d") and day is None):
        return Reading(None, BAD)
    return _valid(year, month, day)


def _ordered(groups: dict[str, str | None], settings: Settings) -> Reading:
    """Two numbers before the year: the card's order, or the only one that makes a date."""
    a, b = int(groups["a"] or 0), int(groups["b"] or 0)
    year = int(groups["y"] or 0) if groups.get("y") else None
    if year is None:
        if not settings.date_order:
            return Reading(None, AMBIGUOUS)
        if settings.date_order == "ymd":
            return _valid(_century(a), b, int(groups["y2"] or 0))
        year = _century(int(groups["y2"] or 0))
    day_first, month_first = _valid(year, b, a), _valid(year, a, b)
    if settings.date_order in ("dmy", "mdy"):
        chosen, other = (day_first, month_first) if settings.date_order == "dmy" else (month_first, day_first)
        return other if chosen.fault else chosen
    if day_first.fault or month_first.fault or a == b:
        return month_first if day_first.fault else day_first
    return Reading(None, AMBIGUOUS)


def _century(year: int) -> int:
    """The POSIX pivot: 00-68 → 2000s, 69-99 → 1900s."""
    return year + (2000 if year < 69 else 1900)


def _month(text: str | None) -> int | None:
    name = (text or "").rstrip(".").lower()
    return _MONTHS[name] if name in _MONTHS else _number(name)


def _number(text: str | None) -> int | None:
    if text is None:
        return None
    if text.isdecimal():
        return int(text)
    number = chinese_number(text)
    return None if number is None else int(number)


def _valid(year: int, month: int | None, day: int | None) -> Reading:
    fits = 1 <= year <= 9999 and (month is None or 1 <= month <= 12)
    if fits and day is not None and month is not None:
        fits = 1 <= day <= calendar.monthrange(year, month)[1]
    return Reading(Day(year, month, day)) if fits else Reading(None, BAD)


def _moment(match: re.Match[str], day: Reading) -> Reading:
    if day.value.day is None:
        return Reading(None, BAD)
    hour, minute = _number(match["hour"]) or 0, 30 if match["minute"] == "半" else _number(match["minute"]) or 0
    half = (match["meridiem"] or "").lower().replace(".", "") or {"下午": "pm", "晚上": "pm", "中午": "pm"}.get(
        match["half"] or "", ""
    )
    if half == "pm" and hour < 12:
        hour += 12
    elif half == "am" and hour == 12:
        hour = 0
    try:
        wall = datetime(day.value.year, day.value.month, day.value.day, hour, minute, int(match["second"] or 0))
    except ValueError:
        return Reading(None, BAD)
    return Reading(Moment(wall, _offset(match["zone"])))


def _offset(zone: str | None) -> int | None:
    if not zone:
        return None
    if zone[0] not in "+-":
        return 0
    digits = zone[1:].replace(":", "")
    return (-1 if zone[0] == "-" else 1) * (int(digits[:2]) * 60 + int(digits[2:]))


def same_moment(a: Moment, b: Moment) -> bool:
    """The same instant when both give a zone, else the same time on the wall."""
    if a.offset_min is None or b.offset_min is None:
        return a.wall == b.wall
    return a.wall - timedelta(minutes=a.offset_min) == b.wall - timedelta(minutes=b.offset_min)
