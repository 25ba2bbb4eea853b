"""The numbers and dates that running text mentions, with where they stand.

Text is taken a sentence at a time, after ``prepare``: Markdown off, one script of digits, one kind of dash.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import islice
from typing import NamedTuple

from speedqual.grading.normalise import Settings, read
from speedqual.grading.normalise.dates import DATE_IN_TEXT, Day
from speedqual.grading.normalise.digits import ascii_digits
from speedqual.grading.normalise.numerals import CHINESE, ENGLISH, chinese_number, english_number
from speedqual.grading.normalise.units import PERCENT, POINTS
from speedqual.grading.refusals import sentences
from speedqual.grading.text import plain

__all__ = ["MONTHS", "DateMention", "NumberMention", "dates_in", "numbers_in", "prepare"]

MAX_CHARS = 20_000
"""Of a longer reply only this much is read for facts."""
MAX_MENTIONS = 400


class NumberMention(NamedTuple):
    """``value`` as written with its multiplier; ``digits``: before the multiplier (9000 of 9000万)."""

    start: int
    end: int
    value: Decimal
    digits: Decimal
    unit: str  # "%", "pp", or the word or sign behind it in lower case, "" = none
    is_year: bool
    text: str


class DateMention(NamedTuple):
    """A date in text; ``day`` has year None replaced by 0 when only day and month are said."""

    start: int
    end: int
    day: Day
    text: str


_ENUMERATION = re.compile(r"^[ \t]*(?:\(?\d{1,2}[.)、]|step \d+:|[a-d][.)])[ \t]+(?=\S)", re.MULTILINE | re.IGNORECASE)


def prepare(text: str) -> tuple[str, ...]:
    """Clean sentences of a reply, in order."""
    cleaned = _ENUMERATION.sub("", plain(text[:MAX_CHARS]))
    parts = (ascii_digits(part).replace("‘", "'").replace("’", "'") for part in sentences(cleaned))
    return tuple(part for part in parts if any(map(str.isalnum, part)))


_MULTIPLIER = (
    r"(?: ?(?:thousand|million|billion|trillion|mn|bn)\b|[kKMB](?![A-Za-z])"
    r"| ?(?:万亿|千亿|百亿|十亿|千万|百万|十万|亿|億|万|萬|千|百|兆))"
)
_MEASURE = (
    "个台只件张把条名位人年月日号天周小分秒元块角米公厘毫千斤吨克升本册辆架层楼次场排座岁家所间种份页行倍成度颗粒袋瓶箱票队"
    "区亩平两点百毛口匹头棵朵支枝根片盒杯碗套双对组班级届届期步里寸尺丈升壶桶车船艘栋幢门部篇首句字项样笔批起趟遍回轮星季刻钟"
    "個張條號萬億塊斤噸層樓場間種頁歲輛臺"
)
_SPACED_GROUPS = r"\d{1,3}(?:[ ']\d{3})+(?!\d)"
_DIGITS = re.compile(
    r"(?=[-+.\d])(?:(?P<fraction>(?<![\w/.])\d{1,6}/\d{1,6}(?![\w/]))"
    r"|(?P<clock>(?<![\w:])\d{1,2}:\d{2}(?::\d{2})?(?!\d))"
    r"|(?P<sign>(?<![A-Za-z0-9_)\]])[-+])?"
    r"(?P<digits>(?:(?<![A-Za-z0-9_.,])|(?<=RM)|(?<=USD)|(?<=EUR)|(?<=GBP)|(?<=CNY)|(?<=RMB)|(?<=Rs))"
    rf"(?:{_SPACED_GROUPS}|\d[\d.,]*\d|\d|\.\d+)(?:[eE][-+]?\d{{1,3}}(?!\w))?)"
    rf"(?P<multiplier>{_MULTIPLIER})?)"
)
_CHINESE = re.compile(
    rf"[负負]?(?:[百千]分之)?(?:(?:[{CHINESE}]|"
    rf"(?<![\d.,])\d+(?:\.\d+)?(?=[{CHINESE}]))*[{CHINESE}]+)(?:[点點][{CHINESE}]+)?"
)
_HAS_CHINESE = re.compile(f"[{CHINESE}]")
_ENGLISH = re.compile(rf"(?<![\w-]){ENGLISH}(?!\w)")
_HAS_ENGLISH = re.compile(
    r"zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|teen|ty\b|hundred|thousand|million"
)
_UNIT = re.compile(
    rf"[ -]?(?P<points>{POINTS})|[ ]?(?P<percent>{PERCENT})|[ -]?(?P<word>[°℃℉]?[A-Za-zµ°][\w²³/]*|"
    rf"[\u4e00-\u9fff]{{1,2}})",
    re.IGNORECASE,
)
_YEAR_BEFORE = frozenset(
    [
        "in",
        "since",
        "of",
        "by",
        "from",
        "until",
        "till",
        "during",
        "year",
        "late",
        "early",
        "before",
        "after",
        "on",
        "to",
    ]
)
_PLAIN_YEAR = re.compile(r"[12]\d{3}")


def numbers_in(sentence: str, settings: Settings) -> list[NumberMention]:
    """Every number in order, dates and clock times apart."""
    taken = [(date.start, date.end) for date in dates_in(sentence, settings)]
    found: list[NumberMention] = []
    for start, end, value, digits in (*_in_digits(sentence, settings), *_in_words(sentence)):
        if len(found) < MAX_MENTIONS and not any(a < end and start < b for a, b in taken):
            taken.append((start, end))
            found.append(_mention(sentence, start, end, value, digits))
    return sorted(found)


def _word_before(sentence: str, start: int) -> str:
    words = sentence[max(0, start - 12) : start].split()
    return words[-1].lower() if words else ""


_Span = tuple[int, int, Decimal, Decimal]


def _mention(sentence: str, start: int, end: int, value: Decimal, digits: Decimal) -> NumberMention:
    text, unit = sentence[start:end], _unit_behind(sentence, end)
    if "分之" in text:
        unit = "%"
    plain_year = bool(_PLAIN_YEAR.fullmatch(text)) and (
        unit[:1] == "年" or _word_before(sentence, start) in _YEAR_BEFORE
    )
    return NumberMention(start, end, value, digits, unit, plain_year or (unit[:1] == "年" and value >= 1000), text)


def _in_digits(sentence: str, settings: Settings) -> Iterator[_Span]:
    for match in _DIGITS.finditer(sentence):
        if match["fraction"]:
            top, bottom = map(int, match["fraction"].split("/"))
            if bottom:
                yield match.start(), match.end(), Decimal(top) / bottom, Decimal(top) / bottom
        elif match["digits"]:
            pair = _scaled(match, settings)
            if pair is not None and not _goes_on_in_chinese(sentence, match):
                yield match.start(), match.end(), *pair


def _scaled(match: re.Match[str], settings: Settings) -> tuple[Decimal, Decimal] | None:
    """The value with its multiplier, and without."""
    reading = read("number", match["digits"].rstrip(".,"), settings)
    scaled = read("number", match["digits"] + match["multiplier"], settings) if match["multiplier"] else reading
    if reading.fault or scaled.fault:
        return None
    sign = -1 if match["sign"] == "-" else 1
    return sign * scaled.value, sign * reading.value


def _goes_on_in_chinese(sentence: str, match: re.Match[str]) -> bool:
    """``3万5千`` and ``1亿2000万``: one numeral, read as a whole by the other pattern."""
    behind = sentence[match.end() : match.end() + 1]
    before = sentence[match.start() - 1 : match.start()]
    mixed = match["multiplier"] is not None and behind.isdecimal()
    return mixed or (
        before != "" and before in "万亿千百萬億" and sentence[match.start() - 2 : match.start() - 1].isdecimal()
    )


def _in_words(sentence: str) -> Iterator[_Span]:
    if not sentence.isascii() and _HAS_CHINESE.search(sentence):
        for match in _CHINESE.finditer(sentence):
            value = _chinese_value(match.group())
            if value is not None and _is_chinese_number(sentence, match):
                yield match.start(), match.end(), value, value
    lowered = sentence.lower()
    if _HAS_ENGLISH.search(lowered):
        for match in _ENGLISH.finditer(lowered):
            number = english_number(match.group())
            if number is not None:
                yield match.start(), match.end(), number, number


def _chinese_value(text: str) -> Decimal | None:
    number = chinese_number(text.replace("百分之", "").replace("千分之", ""))
    return number / 10 if number is not None and "千分之" in text else number


_NOT_NUMBERS = re.compile("[起些般样直定旦切致共向律并同下边面道者足]")
_IDIOMS = frozenset(("千万", "百万", "十分", "万一", "亿万", "百千", "万", "亿", "百", "千", "万千"))


def _is_chinese_number(sentence: str, match: re.Match[str]) -> bool:
    """Whether the numeral counts something: 三台, not the 一 of 一起. A measure follows, or it stands alone."""
    text, behind = match.group(), sentence[match.end() : match.end() + 1]
    if sentence[match.start() - 1 : match.start()] == "第" or text in _IDIOMS:
        return False
    if len(text) == 1 and _NOT_NUMBERS.match(behind):
        return False
    alone = not ("\u4e00" <= behind <= "\u9fff")
    return alone or behind in _MEASURE or len(text) >= 3


def _unit_behind(sentence: str, end: int) -> str:
    match = _UNIT.match(sentence, end)
    if not match:
        return ""
    if match["points"]:
        return "pp"
    return "%" if match["percent"] else match["word"].lower()


_DATE_HINT = re.compile(
    r"\d ?[-/.年月] ?\d|[年月]|\b(?:[Jj]an|[Ff]eb|[Mm]ar|[Aa]pr|[Mm]a[iy]|[Jj]u[nl]|[Aa]ug|[Ss]ep|[Oo]ct|[Nn]ov|[Dd]ec)"
)
MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_MONTH = r"(?P<month>" + "|".join(f"{m}|{m[:3]}" for m in MONTHS) + r")\b\.?"
_ZH = rf"(?:\d|[{CHINESE}]){{1,3}}"
_MONTH2 = _MONTH.replace("month", "month2")
_DAY_MONTH = re.compile(
    rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH}(?! ?\d{{4}})"
    rf"|\b{_MONTH2} (?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\b(?!,? \d{{4}})"
    rf"|(?<![\d年{CHINESE}])(?P<zm>{_ZH})月(?P<zd>{_ZH})[日号號]",
    re.IGNORECASE,
)


def dates_in(sentence: str, settings: Settings) -> list[DateMention]:
    """Every date; one without a year has the year 0."""
    found: list[DateMention] = []
    if not _DATE_HINT.search(sentence):
        return found
    for match in islice(DATE_IN_TEXT.finditer(sentence), MAX_MENTIONS):
        reading = read("date", match.group().strip(" ,"), settings)
        if not reading.fault:
            found.append(DateMention(match.start(), match.end(), reading.value, match.group()))
    for match in islice(_DAY_MONTH.finditer(sentence), MAX_MENTIONS):
        if not any(a.start <= match.start() < a.end for a in found):
            day = _day_month(match)
            if day is not None:
                found.append(DateMention(match.start(), match.end(), day, match.group()))
    return sorted(found)


def _day_month(match: re.Match[str]) -> Day | None:
    if match["zm"]:
        month, day = _small(match["zm"]), _small(match["zd"])
    else:
        name = (match["month"] or match["month2"]).lower()
        month = next(i for i, m in enumerate(MONTHS, start=1) if m.startswith(name[:3]))
        day = _small(match["day"] or match["day2"])
    return Day(0, month, day) if month and day and month <= 12 and day <= 31 else None


def _small(text: str) -> int | None:
    if text.isdecimal():
        return int(text)
    number = chinese_number(text)
    return None if number is None else int(number)
