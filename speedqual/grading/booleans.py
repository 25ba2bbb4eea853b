"""Does a reply say yes or no? A leading word decides; else an alias; else how it stands to the question's own words."""

from __future__ import annotations

import re
from typing import Any

from speedqual.grading.normalise import read
from speedqual.grading.polarity import negations, stance_at
from speedqual.grading.refusals import is_no_answer, is_refusal, says_not_stated
from speedqual.grading.text import fold

__all__ = ["judge_boolean"]

_YES = re.compile(
    r"^\W*(?:yes|yeah|yep|yup|true|correct|right|indeed|certainly|of course|affirmative|it (?:is|was|"
    r"does|did|has|can|will)$|是的?|对的?|没错|正确|可以|需要|要|会|能|有|是|都|应该|当然)",
    re.IGNORECASE,
)
_NO = re.compile(
    r"^\W*(?:no\b|nope|false|incorrect|wrong|not\b|never|negative|it (?:isn't|is not|wasn't|doesn't|"
    r"didn't|hasn't|can't|won't)\b|不|没|否|未|并不|并非|并没|错|无(?!疑|论))",
    re.IGNORECASE,
)
_ANSWERED = re.compile(r"\W*(?:yes|no|true|false|是的?|不|否|会|对)\b\W", re.IGNORECASE)
_WORD = re.compile(r"[a-z]{3,}|[\u4e00-\u9fff]")
_STOP = frozenset(
    [
        "the",
        "and",
        "are",
        "was",
        "were",
        "has",
        "have",
        "had",
        "does",
        "did",
        "this",
        "that",
        "with",
        "for",
        "from",
        "ever",
        "yet",
        "there",
        "any",
        "can",
        "will",
        "would",
        "should",
        "could",
        "its",
        "his",
        "her",
        "their",
        "who",
        "what",
        "when",
        "which",
        "into",
        "too",
    ]
) | frozenset("吗呢的了是在有会要能都也和与就")
_OR = re.compile(r"^\W*(?:yes|no) (?:and|or) (?:yes|no)\b|\byes or no\b|是也不是", re.IGNORECASE)


_UNDECIDED = re.compile(
    r"\beither\b.{1,80}\bor\b.{0,40}\bnot\b"
    r"|\b(?:cannot|can't|neither can|could not) be (?:confirmed|determined|known|told)\b"
    r"|可能.{1,20}也可能(?:不|没)|是否.{0,20}(?:无法|不能)(?:确定|判断)",
    re.IGNORECASE,
)
"""A reply that keeps both sides open."""


def judge_boolean(value: Any, aliases: tuple[str, ...], asked: str, parts: tuple[str, ...]) -> tuple[str, str, str]:
    """Status, reason and the words that decided."""
    want = read("boolean", value).value
    if not parts:
        return "missing", "nothing is said", ""
    reply = " ".join(parts)
    if is_no_answer(reply) or is_refusal(reply) or (says_not_stated(reply) and not _ANSWERED.match(reply)):
        return "missing", "neither yes nor no is said", ""
    said, words = _said(parts, aliases, asked, bool(want))
    if said is None:
        return "unverifiable", "neither yes nor no can be read", parts[0][:60]
    return ("supported" if said == want else "contradicted"), f"the reply says {'yes' if said else 'no'}", words


def _said(parts: tuple[str, ...], aliases: tuple[str, ...], asked: str, want: bool) -> tuple[bool | None, str]:
    for part in (parts[0], parts[-1]):
        body = re.sub(r"^.{0,30}?(?:answer(?: is|:)|答案(?:是|为|：|:)?)\s*", "", part, flags=re.IGNORECASE)
        if _OR.search(body):
            return None, part
        for pattern, meaning in ((_NO, False), (_YES, True)):
            if (match := pattern.match(body)) and not _goes_on_otherwise(body, match, meaning):
                return meaning, match.group().strip()
        if part is parts[0] and len(parts) > 1 and asked and (stance := _stance(parts, asked)) is not None:
            return stance, part
    if any(map(_UNDECIDED.search, parts)):
        return None, parts[-1]
    parts = tuple(part for part in parts if not _is_question(part)) or parts[:1]
    folded = fold(" ".join(parts))
    for alias in aliases:
        at = folded.find(fold(alias))
        if at >= 0:
            said = stance_at(folded, at, at + len(fold(alias)))
            return (None if said == "asked" else (said == "affirmed") is want), alias
    stance = _stance(parts, asked) if asked else None
    return stance, parts[0][:60]


def _is_question(part: str) -> bool:
    return part.rstrip(" \"'”）)").endswith(("?", "？"))


def _goes_on_otherwise(body: str, match: re.Match[str], meaning: bool) -> bool:
    """Chinese 会…吗 answered 会不会…, or 不是不会: a bare prefix that is not the whole verdict."""
    rest = body[match.end() : match.end() + 4]
    if meaning:
        return bool(re.match(r"[不没]", rest)) and match.group()[-1:] > "\u4e00"
    return (
        body[match.start() : match.end() + 3]
        .strip()
        .startswith(
            ("不错", "不是不", "没错", "不仅", "not only", "no doubt", "没有不", "没有一个不", "没人不", "没有人不")
        )
    )


def _stance(parts: tuple[str, ...], asked: str) -> bool | None:
    """Whether the reply affirms the question's words or denies them; None when it does not repeat enough of them."""
    question = _words(asked)
    for part in parts:
        if _is_question(part):
            continue
        if question and len(question & _words(part)) * 2 >= len(question):
            return (negations(part) + negations(asked)) % 2 == 0
    return None


def _words(text: str) -> frozenset[str]:
    """Content words, cut to five letters so that forms of one word agree; single characters in Chinese."""
    return frozenset(w[:5].rstrip("s") for w in _WORD.findall(fold(text)) if w not in _STOP)
