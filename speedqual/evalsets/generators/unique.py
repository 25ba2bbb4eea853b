"""Prompts that no cache of prefixes has seen: a line of its own at the very beginning, which asks nothing.

What stands before the first message in a model's template (its opening marks, and the list of tools) stays shared.
"""

from __future__ import annotations

import re
from dataclasses import replace

from speedqual.evalsets.generators.words import rng
from speedqual.records import Item, Message, Prompt

__all__ = ["made_unique", "unique_line"]

_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
_LINES = {"en": "Reference {letters}, not part of the task.\n\n", "zh": "编号 {letters}，与任务无关。\n\n"}
_CHINESE = re.compile(r"[\u4e00-\u9fff]")


def made_unique(prompt: Prompt, item: Item, number: int, *key: object) -> Prompt:
    """The prompt of the ``number``-th request with a line of its own before all else, in whatever message comes first.

    ``key`` (run, candidate, layer, level) makes it new to a cache that an earlier run has filled. Items with one and
    the same value in their column ``prefix`` share their line, as those that are meant to hit the cache.
    """
    first, *rest = prompt.messages
    lang = item.language or ("zh" if _CHINESE.search(str(prompt.messages[-1].content)) else "en")
    line = unique_line(lang, *key, item.row.get("prefix", number))
    begun = line + first.content if isinstance(first.content, str) else [{"type": "text", "text": line}, *first.content]
    return replace(prompt, messages=(Message(first.role, begun), *rest))


def unique_line(lang: str, *key: object) -> str:
    """The line for this key, the same in every process: one of 20¹².

    Letters alone, so that no grader takes it for a number of the answer.
    """
    drawn = "".join(rng("unique", *key).choices(_LETTERS, k=12))
    return _LINES["zh" if lang == "zh" else "en"].format(letters=f"{drawn[:4]}-{drawn[4:8]}-{drawn[8:]}")
