"""Other ways to write a time of day: 18:45 is 6:45 pm, 18点45分 and 晚上6点三刻."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["clock_names"]

_CLOCK = re.compile(r"(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)")
_DIGITS = "零一二三四五六七八九"


@lru_cache(maxsize=4096)
def clock_names(value: str) -> tuple[str, ...]:
    """Spellings of a clock time besides ``value``; none when it is none. Without am or pm only 24 hours count."""
    match = _CLOCK.fullmatch(value.strip())
    if match is None:
        return ()
    hour, minute = int(match["hour"]), int(match["minute"])
    short, half = hour % 12 or 12, "am" if hour < 12 else "pm"
    dotted = f"{half[0]}.m."
    english = [f"{hour}:{minute:02}", f"{hour:02}:{minute:02}", f"{hour}.{minute:02}", f"{hour}h{minute:02}"]
    english += [f"{short}:{minute:02} {half}", f"{short}:{minute:02}{half}", f"{short}:{minute:02} {dotted}"]
    english += [f"{short} {half}", f"{short}{half}", f"{short} {dotted}"] if minute == 0 else []
    parts = ("上午", "早上", "凌晨") if hour < 12 else ("下午", "晚上", "中午", "傍晚")
    hours = [(str(hour), ""), (_chinese(hour), "")]
    hours += [(name, part) for part in parts for name in (str(short), _chinese(short))]
    chinese = [f"{part}{name}{mark}{tail}" for name, part in hours for mark in "点點" for tail in _minutes(minute)]
    return tuple(one for one in (*english, *chinese) if one != value)


def _minutes(minute: int) -> tuple[str, ...]:
    spoken = {0: ("", "整", "钟"), 15: ("一刻",), 30: ("半",), 45: ("三刻",)}.get(minute, ())
    digits = (f"{minute:02}分", f"{minute}分", f"{minute:02}", f"{_chinese(minute)}分", _chinese(minute))
    plain = digits if minute else ()
    return (*spoken, *plain)


def _chinese(number: int) -> str:
    """0 to 59 as it is said."""
    tens, ones = divmod(number, 10)
    if tens == 0:
        return "两" if number == 2 else _DIGITS[ones]
    return ("" if tens == 1 else _DIGITS[tens]) + "十" + (_DIGITS[ones] if ones else "")
