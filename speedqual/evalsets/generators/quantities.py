"""Puzzles about amounts: baskets, stocks, machines, shares, prices, journeys. All answers are whole numbers."""

from __future__ import annotations

import random

from speedqual.evalsets.generators.words import WEEKDAYS, Puzzle, names

__all__ = ["basket", "journey", "machine", "percent", "rates", "share", "stock"]

_GOODS = {
    "en": ["lamp", "chair", "rug", "kettle", "clock", "stool", "mirror", "vase"],
    "zh": ["台灯", "椅子", "地毯", "水壶", "挂钟", "书架", "镜子", "花瓶"],
}


def basket(r: random.Random, level: int, lang: str) -> Puzzle:
    """Two to four kinds of goods; from level 1 a discount on all, at level 2 a delivery fee and change as well."""
    goods = r.sample(_GOODS[lang], 2 + level)
    lines = [(good, 10 * r.randint(2, 19), r.randint(2, 6)) for good in goods]
    total, off, fee = sum(price * n for _, price, n in lines), 10 * r.randint(1, 4), r.randint(6, 25)
    (who,) = names(r, lang, 1)
    pay = total - (total * off // 100 if level else 0) + (fee if level == 2 else 0)
    note = (pay // 500 + 1) * 500
    if lang == "zh":
        text = "".join(f"{good}每件{price}元。" for good, price, _ in lines)
        text += f"{who}买了" + "、".join(f"{n}件{good}" for good, _, n in lines) + "。"
        text += f"所有商品打{10 - off // 10}折。" if level else ""
        text += f"折后另加送货费{fee}元，{who}付了{note}元。应找回多少元？" if level == 2 else f"{who}一共要付多少元？"
    else:
        text = " ".join(f"A {good} costs {price} dollars." for good, price, _ in lines)
        text += f" {who} buys " + " and ".join(f"{n} {good}s" for good, _, n in lines) + "."
        text += f" There is a discount of {off} percent on all goods." if level else ""
        end = f" How many dollars does {who} pay in all?"
        if level == 2:
            end = f" Delivery, not discounted, adds {fee} dollars. {who} hands over {note} dollars."
            end += " How many dollars come back?"
        text += end
    return Puzzle(text, note - pay if level == 2 else pay)


def stock(r: random.Random, level: int, lang: str) -> Puzzle:
    """Two, four or six changes of one count, from level 1 with a half that leaves."""
    zh = lang == "zh"
    start = count = r.randint(180, 520)
    halving = r.randint(1, 1 + 2 * level) if level else -1
    said = []
    for step in range(2 + 2 * level):
        day = WEEKDAYS[lang][step]
        if step == halving:
            odd = count % 2
            count = (count + odd) // 2
            first = ("先运来1箱，然后" if zh else "one more crate arrives, and then ") if odd else ""
            half = f"{day}{first}运走现有的一半。" if zh else f"On {day} {first}half of what is there leaves."
            said.append(half)
            continue
        n = r.randint(12, min(99, count - 10))
        sign = r.choice((1, -1)) if count > 140 else 1
        count += sign * n
        if zh:
            said.append(f"{day}{'运来' if sign > 0 else '运走'}{n}箱。")
        else:
            said.append(f"On {day} {n} crates {'arrive' if sign > 0 else 'leave'}.")
    if zh:
        return Puzzle(f"仓库里原有{start}箱货物。{''.join(said)}最后仓库里有多少箱？", count)
    return Puzzle(f"A depot holds {start} crates. {' '.join(said)} How many crates are there at the end?", count)


def rates(r: random.Random, level: int, lang: str) -> Puzzle:
    """Two machines; from level 1 a share is faulty; at level 2 the good ones are packed into full boxes."""
    a, b = 10 * r.randint(4, 15), 10 * r.randint(4, 15)
    x, y = r.randint(3, 9), r.randint(3, 9)
    made, bad, box = a * x + b * y, 10 * r.randint(1, 3), r.choice((7, 8, 9, 11, 12))
    good = made - (made * bad // 100 if level else 0)
    answer = good // box if level == 2 else good
    if lang == "zh":
        text = f"甲机器每小时做{a}个零件，工作了{x}小时；乙机器每小时做{b}个，工作了{y}小时。"
        text += f"其中{bad}%不合格，被挑了出来。" if level else ""
        ends = ("一共做了多少个零件？", "合格的零件有多少个？", f"合格的零件每{box}个装一盒，能装满多少盒？")
    else:
        text = f"Machine A makes {a} parts an hour and runs for {x} hours."
        text += f" Machine B makes {b} parts an hour and runs for {y} hours."
        text += f" Of all these parts, {bad} percent are faulty and taken out." if level else ""
        ends = (
            " How many parts were made in all?",
            " How many good parts are left?",
            f" The good parts are packed {box} to a box. How many boxes get full?",
        )
    return Puzzle(text + ends[level], answer)


def share(r: random.Random, level: int, lang: str) -> Puzzle:
    """Sweets shared equally, the rest kept; at higher levels the rest of several rounds is added up or passed on."""
    zh = lang == "zh"
    rounds = [(r.randint(60, 400), r.randint(6, 17)) for _ in range(1 + level)]
    left = 0
    said = []
    for number, (sweets, children) in enumerate(rounds):
        left = (left + sweets) % children
        carried = number > 0
        if zh:
            said.append(
                f"{'接着又拿来' if carried else '老师有'}{sweets}颗糖，"
                f"{'连同上次剩下的一起' if carried else ''}平均分给{children}个孩子，每人尽量多分整数颗，剩下的留着。"
            )
        else:
            said.append(
                f"{'Then' if carried else 'A teacher has'} {sweets} {'more ' if carried else ''}sweets"
                f"{' come in; together with those kept, they are' if carried else ', which are'} shared among "
                f"{children} children, as many whole sweets to each as possible, the same to all; the rest is kept."
            )
    end = "最后老师手里剩几颗糖？" if zh else "How many sweets does the teacher have left at the end?"
    return Puzzle(("" if zh else " ").join([*said, end]), left)


def percent(r: random.Random, level: int, lang: str) -> Puzzle:
    """A price that changes one to three times by whole tens of per cent."""
    zh = lang == "zh"
    start = price = 1000 * r.randint(2, 9)
    said = []
    for step in range(1 + level):
        by = r.choice((-40, -30, -20, -10, 10, 20, 30, 50)[: 8 if step < 2 else 6])
        price = price * (100 + by) // 100
        if zh:
            said.append(f"{('先' if level else '') if step == 0 else '再'}{'涨' if by > 0 else '降'}{abs(by)}%")
        else:
            said.append(f"{'rises' if by > 0 else 'falls'} by {abs(by)} percent")
    if zh:
        each = "（每次都按当时的价格算）" if level else ""
        return Puzzle(f"一件商品原价{start}元，{'，'.join(said)}{each}。现在多少元？", price)
    each = ", each time of the price at that moment" if level else ""
    text = f"An article costs {start} dollars. Its price {', then '.join(said)}{each}."
    return Puzzle(f"{text} How many dollars does it cost now?", price)


def journey(r: random.Random, level: int, lang: str) -> Puzzle:
    """Rides and waits from a clock time to an appointment; the minutes to spare."""
    zh = lang == "zh"
    start = 60 * r.randint(6, 10) + r.randint(1, 58)
    legs = [r.randint(21, 115) for _ in range(2 + level)]
    waits = [r.randint(4, 28) for _ in range(1 + level)] if level else [0] * len(legs[1:])
    spare = r.randint(5, 55)
    due = start + sum(legs) + sum(waits) + spare
    (who,) = names(r, lang, 1)
    means = ("公交车", "火车", "地铁", "出租车") if zh else ("bus", "train", "tram", "taxi")
    said = []
    for number, minutes in enumerate(legs):
        hours, rest = divmod(minutes, 60)
        if zh:
            took = f"{f'{hours}小时' if hours else ''}{f'{rest}分钟' if rest else ''}"
            said.append(f"坐{means[number]}用了{took}")
        else:
            took = " and ".join(f"{n} {word}{'s' * (n > 1)}" for n, word in ((hours, "hour"), (rest, "minute")) if n)
            said.append(f"the {means[number]} takes {took}")
        if number < len(legs) - 1 and waits[number]:
            said.append(f"等了{waits[number]}分钟" if zh else f"the wait is {waits[number]} minutes")
    left, late = f"{start // 60}:{start % 60:02d}", f"{due // 60}:{due % 60:02d}"
    if zh:
        return Puzzle(f"{who}{left}出发，{'，'.join(said)}，{late}要准时开会。{who}提前多少分钟到？", spare)
    text = f"{who} sets out at {left} (24-hour clock). Then {', '.join(said)}. {who} has to be there at {late}."
    return Puzzle(f"{text} How many minutes early does {who} arrive?", spare)


_OPS = {
    "en": {"+": "add {}", "-": "subtract {}", "*": "multiply by {}", "//": "divide by {}"},
    "zh": {"+": "加上{}", "-": "减去{}", "*": "乘以{}", "//": "除以{}"},
}


def machine(r: random.Random, level: int, lang: str) -> Puzzle:
    """Two, four or six operations in a row; divisions come out whole."""
    start = value = r.randint(6, 40)
    said = []
    for step in range(2 + 2 * level):
        divisors = [d for d in range(2, 10) if value % d == 0]
        if step % 2:
            op, n = ("//", r.choice(divisors)) if divisors and value > 60 else ("*", r.randint(2, 6))
        else:
            op, n = r.choice("+-"), r.randint(3, max(3, min(48, value - 1)))
        value = {"+": value + n, "-": value - n, "*": value * n, "//": value // n}[op]
        said.append(_OPS[lang][op].format(n))
    if lang == "zh":
        return Puzzle(f"从{start}开始，依次：{'，'.join(said)}。结果是多少？", value)
    return Puzzle(f"Start with {start}. In this order: {', '.join(said)}. What is the result?", value)
