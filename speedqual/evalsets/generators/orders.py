"""Puzzles about order and state: ages, races, weekdays, swaps, counting."""

from __future__ import annotations

import random
from itertools import pairwise

from speedqual.evalsets.generators.words import WEEKDAYS, Puzzle, names

__all__ = ["ages", "count", "cups", "race", "weekday"]


def ages(r: random.Random, level: int, lang: str) -> Puzzle:
    """A chain of two, three or five comparisons from one known age; told out of order from level 1."""
    zh = lang == "zh"
    who = names(r, lang, (3, 4, 6)[level])
    value = first = r.randint(6, 15)
    clues = []
    for older, younger in zip(who[1:], who, strict=False):
        if value <= 14 and r.random() < 0.5:
            value *= 2
            clues.append(f"{older}的年龄是{younger}的2倍。" if zh else f"{older} is twice as old as {younger}.")
            continue
        n = r.randint(2, 9)
        sign = -1 if value > n + 4 and r.random() < 0.5 else 1
        value += sign * n
        if zh:
            clues.append(f"{older}比{younger}{'大' if sign > 0 else '小'}{n}岁。")
        else:
            clues.append(f"{older} is {n} years {'older' if sign > 0 else 'younger'} than {younger}.")
    clues.append(f"{who[0]}今年{first}岁。" if zh else f"{who[0]} is {first} years old.")
    if level:
        r.shuffle(clues)
    else:
        clues.reverse()
        clues[1:] = clues[:0:-1]
    end = f"{who[-1]}今年几岁？" if zh else f"How old is {who[-1]}?"
    return Puzzle(("" if zh else " ").join([*clues, end]), value)


_PLACES = {"en": ["first", "second", "third", "fourth", "fifth", "sixth"], "zh": ["一", "二", "三", "四", "五", "六"]}


def race(r: random.Random, level: int, lang: str) -> Puzzle:
    """Three to six runners, neighbours in the result told in any order; who came in at one place."""
    zh = lang == "zh"
    who = names(r, lang, (3, 5, 6)[level])
    clues = []
    for ahead, behind in pairwise(who):
        turned = level > 0 and r.random() < 0.5
        if zh:
            clues.append(f"{behind}紧跟在{ahead}后面到达。" if turned else f"{ahead}到达后，下一个就是{behind}。")
        elif turned:
            clues.append(f"{behind} came in directly behind {ahead}.")
        else:
            clues.append(f"{ahead} came in directly before {behind}.")
    r.shuffle(clues)
    place = r.randrange(1, len(who))
    asked = _PLACES[lang][place]
    if zh:
        return Puzzle(f"{len(who)}个人赛跑，没有并列。{''.join(clues)}第{asked}名是谁？", who[place])
    text = f"{len(who)} people ran a race without ties. {' '.join(clues)} Who came in {asked}?"
    return Puzzle(text, who[place])


def weekday(r: random.Random, level: int, lang: str) -> Puzzle:
    """One to three moves on the calendar, the last ones back."""
    zh = lang == "zh"
    start = day = r.randrange(7)
    moves = [r.randint(9, 60), -r.randint(9, 40), 7 * r.randint(2, 6) + r.randint(1, 5)][: 1 + level]
    said = []
    for number, n in enumerate(moves):
        day += n
        if zh:
            said.append(f"{'再' if number else ''}{'往后' if n > 0 else '往前'}推{abs(n)}天")
        else:
            said.append(f"{'then ' if number else ''}{abs(n)} days {'forward' if n > 0 else 'back'}")
    answer = WEEKDAYS[lang][day % 7]
    if zh:
        text = f"今天是{WEEKDAYS[lang][start]}。从今天起{'，'.join(said)}，那天是星期几？"
        tail = answer[2:]
        extra = ("周日", "星期天", "周天", "礼拜天", "礼拜日") if tail == "日" else (f"周{tail}", f"礼拜{tail}")
        return Puzzle(text, answer, extra)
    text = f"Today is {WEEKDAYS[lang][start]}. Go {', '.join(said)}. Which day of the week is that?"
    return Puzzle(text, answer)


def cups(r: random.Random, level: int, lang: str) -> Puzzle:
    """A ball under one of three to five cups, three to eight swaps of places; where it is."""
    n = 3 + level
    start = at = r.randint(1, n)
    swaps: list[tuple[int, int]] = []
    for _ in range((3, 5, 8)[level]):
        a, b = r.sample(range(1, n + 1), 2)
        while swaps and {a, b} == set(swaps[-1]):
            a, b = r.sample(range(1, n + 1), 2)
        at = {a: b, b: a}.get(at, at)
        swaps.append((a, b))
    if lang == "zh":
        moves = "，".join(f"第{a}个位置和第{b}个位置的杯子对调" for a, b in swaps)
        text = f"{n}个杯子排成一排，位置从左到右是1到{n}。球在第{start}个位置的杯子下面。"
        return Puzzle(f"{text}依次：{moves}。球现在在第几个位置？", at)
    moves = "; ".join(f"the cups at places {a} and {b} are swapped" for a, b in swaps)
    text = f"{n} cups stand in a row, at places 1 to {n}. A ball is under the cup at place {start}."
    return Puzzle(f"{text} In this order: {moves}. At which place is the ball now? Answer with its number.", at)


def count(r: random.Random, level: int, lang: str) -> Puzzle:
    """Whole numbers in a range that divide by one number, by one or the other, or by one and not the other."""
    low = r.randint(5, 60)
    high = low + r.randint(50, 140)
    x, y = r.choice(((3, 5), (3, 7), (4, 5), (4, 7), (5, 6), (5, 7), (5, 8), (7, 9), (3, 8), (6, 7)))
    if level == 2:
        x, y = r.choice(((3, 5), (3, 7), (5, 3), (5, 7), (7, 3), (7, 5), (9, 5), (3, 9)))
    answer = sum(_fits(n, x, y, level) for n in range(low, high + 1))
    if lang == "zh":
        odd = f"是奇数、能被{x}整除但不能被{y}整除"
        what = (f"能被{x}整除", f"能被{x}整除或能被{y}整除", odd)[level]
        return Puzzle(f"从{low}到{high}（包括这两个数）的整数里，{what}的有多少个？", answer)
    odd = f"odd, divisible by {x} and not by {y}"
    what = (f"divisible by {x}", f"divisible by {x} or by {y} or by both", odd)[level]
    return Puzzle(f"How many whole numbers from {low} to {high}, both included, are {what}?", answer)


def _fits(n: int, x: int, y: int, level: int) -> bool:
    if level == 0:
        return n % x == 0
    if level == 1:
        return n % x == 0 or n % y == 0
    return n % x == 0 and n % y != 0 and n % 2 == 1
