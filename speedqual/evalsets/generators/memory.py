"""The set ``memory``: conversations in which something is set, changed and asked for later.

Each family makes turns of the user; replies of the assistant in between are short and give nothing away. The last turn
asks for the present state. Values that were replaced are ``forbidden``.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from speedqual.evalsets.generators.words import WEEKDAYS, names, rng

__all__ = ["rows", "shipped_rows"]

_TIERS = ("easy", "medium", "hard")
_COPIES = 2


@dataclass(frozen=True, slots=True)
class _Talk:
    """What the user says that matters, in order; the last question; the right answer; values that no longer hold."""

    said: list[str]
    question: str
    answer: int | str
    old: list[int | str]
    aliases: tuple[str, ...] = ()


_Family = Callable[[random.Random, int, bool], _Talk]


def rows(seed: int) -> list[dict[str, Any]]:
    """84 rows: 7 families x 3 levels x 2 languages x 2 copies."""
    return [
        _row(seed, lang, level, family, copy)
        for lang in ("en", "zh")
        for level in range(len(_TIERS))
        for family in _FAMILIES
        for copy in range(_COPIES)
    ]


shipped_rows = rows


def _row(seed: int, lang: str, level: int, family: str, copy: int) -> dict[str, Any]:
    random_ = rng("memory", seed, lang, level, family, copy)
    talk = _FAMILIES[family](random_, level, lang == "zh")
    answer = {"id": "answer", "value": talk.answer, "type": "number" if isinstance(talk.answer, int) else "string"}
    return {
        "id": f"{lang}-{_TIERS[level]}-{family}-{copy + 1}",
        "lang": lang,
        "tier": _TIERS[level],
        "cluster": f"{lang}-{family}",
        "tags": [family, lang],
        "messages": _messages(random_, talk, level, lang),
        "facts": [answer | {"aliases": list(talk.aliases), "must": True}],
        "forbidden": [
            {"id": f"old-{n}", "value": value, "type": answer["type"]} for n, value in enumerate(talk.old, 1)
        ],
        "target": {"answer": str(talk.answer)},
    }


# ----------------------------------------------------------------------------------------------- turns in between

_NOTED = {
    "en": ["Noted.", "Got it.", "All right.", "Understood.", "OK, done."],
    "zh": ["好的。", "记下了。", "明白。", "收到。", "知道了。"],
}
_ASIDES = {
    "en": [
        ("Which is longer, a metre or a yard?", "A metre is a little longer."),
        ("What do bees make?", "Honey and wax."),
        ("Is a tomato a fruit?", "To a botanist it is."),
        ("What is the opposite of 'shallow'?", "Deep."),
        ("Does sound travel through water?", "Yes, and faster than through air."),
        ("Give me another word for 'quick'.", "Fast."),
        ("What does a barometer measure?", "The pressure of the air."),
        ("Where does the sun set?", "In the west."),
        ("What is ice made of?", "Frozen water."),
        ("Which animal is known for its trunk?", "The elephant."),
    ],
    "zh": [
        ("蜜蜂会酿什么？", "蜂蜜。"),
        ("“浅”的反义词是什么？", "“深”。"),
        ("声音能在水里传播吗？", "能，而且比在空气里快。"),
        ("换个说法说“很快”。", "迅速。"),
        ("气压计是量什么的？", "量大气压的。"),
        ("太阳从哪边落下？", "从西边。"),
        ("冰是由什么变成的？", "由水冻成的。"),
        ("哪种动物鼻子很长？", "大象。"),
        ("番茄算水果吗？", "按植物学的说法，它是果实。"),
        ("世界上最高的动物是什么？", "长颈鹿。"),
    ],
}


def _messages(r: random.Random, talk: _Talk, level: int, lang: str) -> list[dict[str, str]]:
    """The turns that matter with others in between: none at level 0, one after each at level 1, two at level 2."""
    asides = r.sample(_ASIDES[lang], min(len(_ASIDES[lang]), level * len(talk.said)))
    turns: list[tuple[str, str]] = []
    for said in talk.said:
        turns.append((said, r.choice(_NOTED[lang])))
        turns += [asides.pop() for _ in range(level) if asides]
    messages = [
        {"role": role, "content": text}
        for turn in turns
        for role, text in zip(("user", "assistant"), turn, strict=True)
    ]
    return [*messages, {"role": "user", "content": talk.question}]


# ------------------------------------------------------------------------------------------------------- families


def _price(r: random.Random, level: int, zh: bool) -> _Talk:
    """A budget that is replaced once to three times."""
    values = [10 * n for n in r.sample(range(21, 98), 2 + level)]
    if zh:
        said = [f"这次聚会的预算是{values[0]}元。", *(f"预算改了，现在是{value}元。" for value in values[1:])]
        return _Talk(said, "现在的预算是多少元？只回答现在的数。", values[-1], list(values[:-1]))
    said = [f"The budget for the party is {values[0]} dollars."]
    said += [f"The budget has changed: it is {value} dollars now." for value in values[1:]]
    return _Talk(
        said, "What is the budget now, in dollars? Give only the present figure.", values[-1], list(values[:-1])
    )


def _list(r: random.Random, level: int, zh: bool) -> _Talk:
    """A shopping list to which things are added and from which they are taken; how many are on it."""
    goods = ["bread", "milk", "rice", "tea", "salt", "soap", "eggs", "butter", "apples", "candles"]
    if zh:
        goods = ["面包", "牛奶", "大米", "茶叶", "盐", "肥皂", "鸡蛋", "黄油", "苹果", "蜡烛"]
    r.shuffle(goods)
    on, rest = goods[:3], goods[3:]
    said = [f"购物单上先写：{'、'.join(on)}。" if zh else f"Start a shopping list: {', '.join(on)}."]
    for step in range(2 + level):
        if step % 2 and len(on) > 1:
            gone = on.pop(r.randrange(len(on)))
            said.append(f"把{gone}划掉。" if zh else f"Take the {gone} off the list.")
        else:
            new = [rest.pop() for _ in range(r.randint(1, 2))]
            on += new
            said.append(f"再加上{'和'.join(new)}。" if zh else f"Add {' and '.join(new)}.")
    end = (
        "购物单上现在有几样东西？只回答数字。"
        if zh
        else "How many different things are on the list now? Just the number."
    )
    return _Talk(said, end, len(on), [])


def _score(r: random.Random, level: int, zh: bool) -> _Talk:
    """Points of two players; those of one are asked for."""
    a, b = names(r, "zh" if zh else "en", 2)
    points = {a: 0, b: 0}
    said = [f"{a}和{b}在玩游戏，都从0分开始。" if zh else f"{a} and {b} play a game. Both start with 0 points."]
    order = [a, b, *r.choices((a, b), k=level * 2)]
    for who in order:
        n = r.randint(3, 19)
        loses = points[who] > n and r.random() < 0.35
        points[who] += -n if loses else n
        said.append(
            f"{who}{'丢了' if loses else '得了'}{n}分。" if zh else f"{who} {'loses' if loses else 'wins'} {n} points."
        )
    if points[a] == points[b]:
        points[a] += 2
        said.append(f"{a}得了2分。" if zh else f"{a} wins 2 points.")
    end = f"{a}现在一共多少分？只回答数字。" if zh else f"How many points does {a} have now? Just the number."
    return _Talk(said, end, points[a], [])


def _day(r: random.Random, level: int, zh: bool) -> _Talk:
    """A day that is moved once to three times."""
    days = r.sample(range(7), 2 + level)
    words = [WEEKDAYS["zh" if zh else "en"][day] for day in days]
    if zh:
        said = [f"牙医约在{words[0]}。", *(f"牙医的预约改到{word}了。" for word in words[1:])]
        tail = words[-1][2:]
        more = ("周日", "星期天", "礼拜天") if tail == "日" else (f"周{tail}", f"礼拜{tail}")
        return _Talk(said, "牙医现在约在星期几？", words[-1], list(words[:-1]), more)
    said = [f"My dentist is on {words[0]}.", *(f"The dentist has been moved to {word}." for word in words[1:])]
    return _Talk(said, "On which day is my dentist now?", words[-1], list(words[:-1]))


def _seats(r: random.Random, level: int, zh: bool) -> _Talk:
    """Rooms of two to four people, some of whom change places; where one of them is."""
    who = names(r, "zh" if zh else "en", 2 + level)
    rooms = dict(zip(who, r.sample(range(101, 180), len(who)), strict=True))
    before = rooms[who[0]]
    said = [f"{name}在{room}室。" if zh else f"{name} is in room {room}." for name, room in rooms.items()]
    swaps = [(who[0], who[1])] + ([r.sample(who, 2)] if level else [])
    for a, b in swaps:
        rooms[a], rooms[b] = rooms[b], rooms[a]
        said.append(f"{a}和{b}换了房间。" if zh else f"{a} and {b} have changed rooms with each other.")
    end = f"{who[0]}现在在几号房间？" if zh else f"In which room is {who[0]} now?"
    return _Talk(said, end, rooms[who[0]], [before] if before != rooms[who[0]] else [])


_COLOURS = {
    "en": ["red", "blue", "green", "white", "black", "yellow", "brown", "grey"],
    "zh": ["红色", "蓝色", "绿色", "白色", "黑色", "黄色", "棕色", "灰色"],
}


def _paint(r: random.Random, level: int, zh: bool) -> _Talk:
    """Colours of two to four things, one of which is painted over; others change as well."""
    things = ["door", "fence", "table", "gate"][: 2 + level]
    if zh:
        things = ["大门", "篱笆", "桌子", "窗框"][: 2 + level]
    colours = r.sample(_COLOURS["zh" if zh else "en"], len(things) + 1 + level)
    said = [f"{t}刷成{c}。" if zh else f"The {t} is to be {c}." for t, c in zip(things, colours, strict=False)]
    left = colours[len(things) :]
    old, new = colours[0], left.pop()
    changes = [(things[0], new), *zip(things[1:], left, strict=False)]
    r.shuffle(changes)
    said += [f"改主意了：{t}要{c}的。" if zh else f"I changed my mind: make the {t} {c}." for t, c in changes]
    end = f"{things[0]}最后要什么颜色？" if zh else f"Which colour is the {things[0]} to be in the end?"
    return _Talk(said, end, new, [old], (new[0],) if zh else ())


def _called(r: random.Random, level: int, zh: bool) -> _Talk:
    """The name of a pet that is renamed; other names come up on the way."""
    pets = ["Pixel", "Biscuit", "Comet", "Pepper", "Mango", "Olive", "Domino", "Waffle"]
    if zh:
        pets = ["豆豆", "花卷", "汤圆", "可乐", "米粒", "芝麻", "年糕", "布丁"]
    picked = r.sample(pets, 3 + level)
    said = [f"我的小狗叫{picked[0]}。" if zh else f"My puppy is called {picked[0]}."]
    said.append(f"邻居家的猫叫{picked[1]}。" if zh else f"The neighbours' cat is called {picked[1]}.")
    said += [f"我给小狗改名叫{name}了。" if zh else f"I have renamed my puppy {name}." for name in picked[2:]]
    end = "我的小狗现在叫什么？" if zh else "What is my puppy called now?"
    return _Talk(said, end, picked[-1], [*picked[:-1]])


_FAMILIES: dict[str, _Family] = {
    "budget": _price,
    "list": _list,
    "score": _score,
    "day": _day,
    "rooms": _seats,
    "colours": _paint,
    "pet": _called,
}
