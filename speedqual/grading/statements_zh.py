"""Chinese statements: characters are aligned, so that what is exchanged, denied or left out shows."""

from __future__ import annotations

import re
from collections import Counter
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from speedqual.grading.findings import Finding
from speedqual.grading.mentions import NumberMention, numbers_in
from speedqual.grading.normalise import Settings
from speedqual.grading.polarity import negations

__all__ = ["judge_chinese"]

_SETTINGS = Settings(locale="en")
_FUNCTION = re.compile(
    r"[%的了在于是由和与被为有也就都而且并其该这那着过吧呢啊把将从到给让对向及\s，,。.！!？?：:；;、（）()“”\"'《》]"
)
_NEGATORS = re.compile(r"并不是|并非|不是|从不|从未|没有|并未|不|没|未|非|无")
_CLAUSE = re.compile(r"[，,；;：:]|但是?|而且?|并且")
ABOUT = 0.5
SAID = 0.85


class _Clause(NamedTuple):
    letters: str
    numbers: tuple[NumberMention, ...]
    negative: bool
    text: str


@lru_cache(maxsize=4096)
def _read(text: str) -> _Clause:
    numbers = tuple(numbers_in(text, _SETTINGS))
    kept, at = [], 0
    for n in numbers:
        kept.append(text[at : n.start])
        at = n.end
    kept.append(text[at:])
    letters = _NEGATORS.sub("", _FUNCTION.sub("", "#".join(kept))).replace("#", "")
    return _Clause(letters.lower(), numbers, negations(text) % 2 == 1, text)


def judge_chinese(statement: str, parts: tuple[str, ...]) -> Finding:
    """The best that any clause or sentence says of the statement."""
    fact = _read(statement)
    pieces = [piece for s in parts for piece in {s, *_CLAUSE.split(s)} if piece.strip()]
    found = [_judge(fact, _read(piece)) for piece in sorted(pieces, key=len)]
    for status in ("supported", "contradicted", "unverifiable"):
        for finding in found:
            if finding.status == status:
                return finding
    return Finding("missing", "nothing is said about it")


def _judge(fact: _Clause, said: _Clause) -> Finding:
    blocks = SequenceMatcher(None, fact.letters, said.letters, autojunk=False).get_opcodes()
    in_order = sum(i2 - i1 for tag, i1, i2, _, _ in blocks if tag == "equal") / max(1, len(fact.letters))
    present = sum((Counter(fact.letters) & Counter(said.letters)).values()) / max(1, len(fact.letters))
    if max(in_order, present) < ABOUT:
        return Finding("missing")
    exchanged = any(
        tag == "replace" and fact.letters[i1:i2] not in said.letters and j2 - j1 <= 8 for tag, i1, i2, j1, j2 in blocks
    )
    missing_number = False
    for number in fact.numbers:
        same_kind = [m for m in said.numbers if _kind(m) == _kind(number)]
        if not any(m.value == number.value for m in same_kind):
            exchanged = exchanged or bool(
                [m for m in said.numbers if _kind(m) == _kind(number) or m.value == number.value]
            )
            missing_number = True
    if fact.negative != said.negative:
        return Finding("missing") if exchanged or present < SAID else Finding("contradicted", "it is denied", said.text)
    if exchanged:
        return Finding("missing") if fact.negative else Finding("contradicted", "a value in it is another", said.text)
    if missing_number or present < SAID:
        return Finding("missing", "a part of it is not said", said.text)
    if in_order < ABOUT + 0.1:
        return Finding("unverifiable", "the order of the words differs", said.text)
    return Finding("supported", "", said.text)


def _kind(mention: NumberMention) -> str:
    return "year" if mention.is_year else mention.unit if mention.unit in ("%", "pp") else "count"
