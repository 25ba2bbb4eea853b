"""Names and small words that generators draw from, and the frame of a puzzle. Nothing here names a real person."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["NAMES", "WEEKDAYS", "Family", "Puzzle", "names", "rng"]

_EN = """
Ada Bela Carl Dora Emil Fay Gus Hana Ivo Jill Kofi Lena Milo Nora Otto Pia Quinn Rosa Sven Tara Uma Viktor Wanda Zoe
"""
_ZH = """
小安 小波 小陈 小丹 小峰 小谷 小航 小静 小凯 小兰 小梅 小宁 小平 小青 小荣 小山 小涛 小薇 小雪 小燕 小泽
"""
NAMES = {"en": _EN.split(), "zh": _ZH.split()}
WEEKDAYS = {
    "en": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"],
    "zh": ["星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "星期日"],
}


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A question with its one right answer; ``aliases`` are other ways to write it."""

    text: str
    answer: int | str
    aliases: tuple[str, ...] = ()


Family = Callable[[random.Random, int, str], Puzzle]
"""``(rng, level, lang) -> Puzzle``; level 0 to 2 sets the number of steps, lang is "en" or "zh"."""


def rng(*key: object) -> random.Random:
    """A generator of its own for each key, so that a new item shifts no other one."""
    return random.Random("/".join(map(str, key)))


def names(random_: random.Random, lang: str, n: int) -> list[str]:
    """``n`` different names."""
    return random_.sample(NAMES[lang], n)
