"""Grade whether a reply keeps rules of form that a program can check: counts, JSON, language, words, layout.

The column ``rules`` holds a list of ``{"rule": NAME, …}``; ``formatrules`` and ``formatjson`` hold the rules. A name or
a parameter that is not known is an error when the set is loaded, never a silent pass. ``score`` (strict) is 1 when the
reply as it is keeps every rule, else 0. ``score_lenient`` looks also at the reply without a fence around it, without
its first line if that announces it, and without emphasis, and gives the largest share of rules kept. ``parts`` says
which were.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from speedqual.errors import EvalSetError
from speedqual.grading.formatrules import read_rule
from speedqual.grading.options import options_of
from speedqual.grading.reply import Reply, look, nothing_given
from speedqual.records import Answer, EvalSet, Failure, Grade, Item

__all__ = ["VERSION", "FormatGrader", "make"]

VERSION = "1"
Check = Callable[[str], str]
"""What a reply breaks, as one short sentence; empty when it keeps the rule."""


def make(evalset: EvalSet) -> FormatGrader:
    """The grader that the card declares. Every rule of every item is read here."""
    options_of(evalset, frozenset())
    for item in (*evalset.items, *evalset.fewshot):
        _rules(item, f"eval set {evalset.name}, item {item.id}")
    return FormatGrader()


def _rules(item: Item, where: str = "") -> list[tuple[str, Check]]:
    """Name and check of each rule; a name that stands twice is numbered."""
    rows: Any = item.row.get("rules")
    if not isinstance(rows, list) or not rows:
        fix = 'Write "rules": [{"rule": "words", "max": 50}]'
        raise EvalSetError("there are no rules", where=f"{where}, rules", fix=fix)
    made: list[tuple[str, Check]] = []
    for index, row in enumerate(rows):
        name, check = read_rule(row, f"{where}, rules[{index}]")
        twice = sum(known.partition(" ")[0] == name for known, _ in made)
        made.append((f"{name} {twice + 1}" if twice else name, check))
    return made


@dataclass(frozen=True, slots=True)
class FormatGrader:
    """``(answer, item) -> Grade``."""

    name: str = "format"

    def __call__(self, answer: Answer, item: Item) -> Grade:
        """Judge one reply."""
        rules = _rules(item)
        reply = look(answer)
        silent = nothing_given(reply, answer, version=VERSION)
        if silent is not None:
            return silent
        broken = {name: check(reply.text) for name, check in rules}
        kept = [name for name, slip in broken.items() if not slip]
        if len(kept) == len(rules) and not reply.unfinished:
            return _grade(1.0, 1.0, broken, reply)
        return _grade(0.0, _best_share(reply.text, rules, len(kept)), broken, reply)


def _best_share(text: str, rules: list[tuple[str, Check]], kept: int) -> float:
    counts = [sum(not check(variant) for _, check in rules) for variant in _variants(text)]
    return max([kept, *counts]) / len(rules)


_OPENS, _CLOSES = re.compile(r"\s*(?:`{3,}|~{3,})"), re.compile(r"[ \t]*(?:`{3,}|~{3,})[ \t]*")
_ANNOUNCES = re.compile(r"\A[^\n]{1,120}[:：]\s*\n+")


def _unfenced(text: str) -> str:
    """What stands in the fence, when the whole text is one."""
    lines = text.strip().split("\n")
    fenced = len(lines) > 1 and _OPENS.match(lines[0]) and _CLOSES.fullmatch(lines[-1])
    return "\n".join(lines[1:-1]) if fenced else text


def _variants(text: str) -> list[str]:
    """The reply without a fence around it, without its announcing first line, without emphasis; never empty."""
    bare = text[:100_000]
    announced = _ANNOUNCES.sub("", bare, count=1)
    made = [_unfenced(one) for one in (bare, announced)]
    made += [announced, bare.replace("*", ""), announced.replace("*", "")]
    return [one for one in dict.fromkeys(made) if one.strip() and one != text]


def _grade(score: float, lenient: float, broken: dict[str, str], reply: Reply) -> Grade:
    slips = [slip for slip in broken.values() if slip]
    parts = {"rules": {name: not slip for name, slip in broken.items()}, "kept": len(broken) - len(slips)}
    failure: Failure = "none" if score else "truncated" if reply.unfinished else "wrong_format"
    return Grade(
        score=score,
        verdict="pass" if score else "fail",
        failure=failure,
        score_lenient=lenient,
        why="every rule is kept" if score else "; ".join(slips)[:300] or "the token limit cut the reply",
        how="rules",
        extracted=reply.text[:200],
        flags=reply.flags,
        parts=parts,
        version=VERSION,
    )
