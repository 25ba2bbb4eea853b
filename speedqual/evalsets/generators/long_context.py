"""The set ``long_context``: the same questions over longer and longer prose.

Three kinds of question in two languages, five of each. Facts, question and answer of one cluster are the same on every
rung and stand at the same relative depths; the prose between them is another one and grows. So what falls, falls with
length, and no rung finds its beginning in a prefix cache.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from speedqual.evalsets.generators.prose import CHARS_PER_TOKEN, paragraphs
from speedqual.evalsets.generators.words import names, rng

__all__ = ["COPIES", "LENGTHS", "SHIPPED", "row", "rows", "shipped_rows"]

LENGTHS = {"512": 512, "1k": 1024, "2k": 2048, "4k": 4096, "8k": 8192, "16k": 16384, "32k": 32768, "64k": 65536}
"""Rung → about how many tokens the text has."""
SHIPPED = ("512", "1k", "2k")
COPIES = 6
_DEPTHS = (0.08, 0.25, 0.42, 0.58, 0.75, 0.92)


@dataclass(frozen=True, slots=True)
class Task:
    """Sentences to hide, each with its relative depth; the question; the answer."""

    hidden: tuple[tuple[float, str], ...]
    question: str
    answer: int | list[int]


def rows(seed: int) -> list[dict[str, Any]]:
    """288 rows: 8 lengths x 3 kinds x 2 languages x 6 copies."""
    return _rows(seed, tuple(LENGTHS))


def shipped_rows(seed: int) -> list[dict[str, Any]]:
    """108 rows: the lengths in ``SHIPPED``."""
    return _rows(seed, SHIPPED)


def _rows(seed: int, lengths: tuple[str, ...]) -> list[dict[str, Any]]:
    return [
        row(seed, length, LENGTHS[length], lang, kind, copy)
        for length in lengths
        for lang in ("en", "zh")
        for kind in _KINDS
        for copy in range(COPIES)
    ]


def row(seed: int, length: str, tokens: int, lang: str, kind: str, copy: int) -> dict[str, Any]:
    """One question over about ``tokens`` tokens; ``length`` names the rung, and its prose is drawn by that name."""
    cluster = f"{lang}-{kind}-{copy + 1}"
    task = _KINDS[kind](rng("long_context", seed, cluster), lang, copy)
    return {
        "id": f"{length}-{cluster}",
        "lang": lang,
        "length": length,
        "cluster": cluster,
        "tags": [kind, lang, length],
        "text": _text(rng("long_context", seed, cluster, length), lang, tokens, task),
        "question": task.question,
        "target": {"answer": task.answer},
    }


def _text(random_: random.Random, lang: str, tokens: int, task: Task) -> str:
    hidden = sum(len(sentence) for _, sentence in task.hidden)
    made = paragraphs(random_, lang, max(0, int(tokens * CHARS_PER_TOKEN[lang]) - hidden))
    places = [(p, s) for p, paragraph in enumerate(made) for s in range(len(paragraph))]
    for depth, sentence in sorted(task.hidden, reverse=True):  # from the end, so that earlier places stay right
        p, s = places[int(depth * len(places))]
        made[p].insert(s, sentence)
    return "\n\n".join(("" if lang == "zh" else " ").join(paragraph) for paragraph in made)


def _needle(r: random.Random, lang: str, copy: int) -> Task:
    """One code among four of the same kind."""
    who, codes = names(r, lang, 4), r.sample(range(100_000, 1_000_000), 4)
    others = [depth for depth in _DEPTHS if depth != _DEPTHS[copy]]
    depths = [_DEPTHS[copy], *r.sample(others, 3)]
    if lang == "zh":
        lines = [f"{name}储物柜的密码是{code}。" for name, code in zip(who, codes, strict=True)]
        question = f"{who[0]}储物柜的密码是多少？只回答数字。"
    else:
        lines = [f"The code of {name}'s locker is {code}." for name, code in zip(who, codes, strict=True)]
        question = f"What is the code of {who[0]}'s locker? Reply with the number alone."
    return Task(tuple(zip(depths, lines, strict=True)), question, codes[0])


def _several(r: random.Random, lang: str, copy: int) -> Task:
    """Three numbers of six, asked for in an order that is not that of the text."""
    who, numbers = names(r, lang, 6), r.sample(range(100, 1000), 6)
    depths = list(_DEPTHS)
    r.shuffle(depths)
    if lang == "zh":
        lines = [f"{name}住在{number}号房间。" for name, number in zip(who, numbers, strict=True)]
        question = f"{who[0]}、{who[1]}、{who[2]}分别住在几号房间？按这个顺序只回答一个JSON数组，例如[1, 2, 3]。"
    else:
        lines = [f"{name} lives in room {number}." for name, number in zip(who, numbers, strict=True)]
        asked = f"{who[0]}, {who[1]} and {who[2]}"
        question = f"In which rooms do {asked} live? Reply only with a JSON list in this order, such as [1, 2, 3]."
    return Task(tuple(zip(depths, lines, strict=True)), question, numbers[:3])


def _sum(r: random.Random, lang: str, copy: int) -> Task:
    """Four deliveries to be added up, among three of another kind."""
    wanted, others = [r.randint(11, 49) for _ in range(4)], [r.randint(11, 49) for _ in range(3)]
    depths = r.sample([0.05 + 0.9 * step / 11 for step in range(12)], 7)
    if lang == "zh":
        lines = [f"磨坊收到了{n}袋大麦。" for n in wanted] + [f"磨坊收到了{n}袋黑麦。" for n in others]
        question = "文中磨坊收到的大麦一共有多少袋？把每次收到的都加起来，只回答一个数字。"
    else:
        lines = [f"The mill received {n} sacks of barley." for n in wanted]
        lines += [f"The mill received {n} sacks of rye." for n in others]
        question = "How many sacks of barley did the mill receive in all? Add up every delivery; reply with one number."
    return Task(tuple(zip(depths, lines, strict=True)), question, sum(wanted))


_KINDS = {"needle": _needle, "several": _several, "sum": _sum}
