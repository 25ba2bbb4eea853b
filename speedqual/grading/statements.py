"""Does a reply say what one statement says? Rules that know when they do not know.

A clause is about the statement when it shares at least half of the content words. Then its numbers (with unit), names,
direction and negation decide: all there = ``supported``; one of them exchanged, swapped or denied = ``contradicted``;
not said = ``missing``; said in words that the rules cannot match = ``unverifiable``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from speedqual.grading.findings import Finding
from speedqual.grading.mentions import MONTHS, NumberMention, numbers_in
from speedqual.grading.normalise import Settings
from speedqual.grading.polarity import HEDGE, negations, stance_at
from speedqual.grading.statements_zh import judge_chinese
from speedqual.grading.text import fold
from speedqual.grading.wordforms import COMMON, STOPWORDS, are_opposite, stem

__all__ = ["exchanged_in", "judge_statement"]

_EN = Settings(locale="en")
_HAN = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"[A-Za-zÀ-ÿ][\w'’-]*")
_CLAUSE = re.compile(r"[,;:()—]\s+|\s+[-–—]\s+|\s+(?:and|but|while|whereas|which|who|that)\s+(?!true\b|is not true)")
_OR_NUMBER = re.compile(r"\d[^.;,]{0,20}\b(?:or|maybe|perhaps)\b[^.;,]{0,20}\d")
MAX_CHARS, MAX_CLAUSES = 1000, 300
ABOUT = 0.5
SAID = 0.75


@dataclass(frozen=True, slots=True)
class Profile:
    """What a clause consists of."""

    text: str
    words: frozenset[str]
    names: tuple[str, ...]
    numbers: tuple[NumberMention, ...]
    negative: bool
    relations: frozenset[tuple[str, str, str]]


def judge_statement(statement: str, aliases: tuple[str, ...], parts: tuple[str, ...], known: str) -> Finding:
    """The best that the reply says of the statement or one of its aliases."""
    findings = [_judge_one(text, parts, known) for text in (statement, *aliases)]
    supported = [f for f in findings if f.status == "supported"]
    return supported[0] if supported else findings[0]


def _judge_one(statement: str, parts: tuple[str, ...], known: str) -> Finding:
    if _HAN.search(statement):
        return judge_chinese(statement, parts)
    fact = _profile(statement)
    pairs = ((clause[:MAX_CHARS], sentence[:MAX_CHARS]) for sentence in parts for clause in _clauses(sentence))
    found = [_judge_clause(fact, clause, sentence, known) for clause, sentence in islice(pairs, MAX_CLAUSES)]
    denied = [f for f in found if f.status == "contradicted" and f.flags == _FIRM]
    for wanted in (denied, *([f for f in found if f.status == s] for s in _ORDER)):
        if wanted:
            return wanted[0]._replace(flags=tuple(flag for flag in wanted[0].flags if flag != "firm"))
    return _named_otherwise(fact, parts) or Finding("missing", "nothing is said about it")


_FIRM = ("firm",)
_ORDER = ("ambiguous", "supported", "contradicted", "unverifiable")


def _clauses(sentence: str) -> list[str]:
    pieces = [piece for piece in _CLAUSE.split(sentence) if piece and piece.strip()]
    return pieces if len(pieces) < 2 else [*pieces, sentence] if len(sentence) < 80 and len(pieces) == 2 else pieces


@lru_cache(maxsize=8192)
def _profile(text: str) -> Profile:
    words, names = set(), []
    for i, match in enumerate(_WORD.finditer(text)):
        word = match.group()
        if word[0].isupper() and word.lower() not in MONTHS and (i > 0 or not _is_common(text, match)):
            names.append(fold(word).removesuffix("'s"))
        elif word.lower() not in STOPWORDS and not word.lower().startswith(("percent", "per")):
            words.add(stem(word))
    words = {w for w in words if len(w) > 1}
    numbers = tuple(m for m in numbers_in(text, _EN) if m.text.lower() not in ("a", "one"))
    words -= {stem(m.text) for m in numbers if m.text.isalpha()}
    return Profile(text, frozenset(words), tuple(names), numbers, negations(text) % 2 == 1, _relations(text[:300]))


_PLURAL_VERB = re.compile(r" (?:were|are|have|rose|fell|grew|increased|decreased|dropped|declined)\b")


def _is_common(text: str, first: re.Match[str]) -> bool:
    """Whether the word that opens a sentence is no name: ``Sales were``, ``It does``."""
    word = first.group().lower()
    if word in STOPWORDS or stem(word) in COMMON:
        return True
    return word.endswith("s") and not word.endswith("ss") and bool(_PLURAL_VERB.match(text, first.end()))


_NAME = r"(?:[A-Z][\w'’-]*(?: (?:[A-Z][\w'’-]*|of|de|van|von|&))*)"
_PASSIVE = re.compile(
    rf"(?P<patient>{_NAME}),? (?:(?:is|was|were|are|been|being|has been|had been) )?(?:\w+ly "
    rf")?(?P<verb>[a-z]+(?:ed|en|t|ld|nd|wn|de))\b[^.;]*? by (?P<agent>{_NAME})"
)
_ACTIVE = re.compile(
    rf"(?P<agent>{_NAME}) (?:has |had |have )?(?:\w+ly )?(?P<verb>[a-z]{{3,}}) (?:the |a |an )?(?P<patient>{_NAME})"
)


def _relations(text: str) -> frozenset[tuple[str, str, str]]:
    """Who did what to whom, between names: (agent, verb, patient)."""
    found = set()
    for pattern in (_PASSIVE, _ACTIVE):
        for m in pattern.finditer(text):
            if m["verb"] not in STOPWORDS:
                found.add((fold(m["agent"]), stem(m["verb"]), fold(m["patient"])))
    return frozenset(found)


def _judge_clause(fact: Profile, clause: str, sentence: str, known: str) -> Finding:
    said = _profile(clause)
    whole = _profile(sentence) if sentence != clause else said
    if _is_swapped(fact, whole):
        return Finding("contradicted", "the roles are swapped", clause, _FIRM)
    shared = fact.words & said.words
    share = len(shared) / len(fact.words) if fact.words else _share_of_names(fact, whole)
    own = len(shared) / len(said.words) if said.words else 0.0
    if max(share, own if shared else 0.0) < ABOUT:
        return _of_other_words(fact, whole, clause)
    if _OR_NUMBER.search(clause) and fact.numbers:
        return Finding("ambiguous", "alternatives are offered", clause)
    if sentence.rstrip().endswith("?"):
        return Finding("unverifiable", "it is only asked", clause)
    return _compare(fact, said, whole, share, known)


def _compare(fact: Profile, said: Profile, whole: Profile, share: float, known: str) -> Finding:
    numbers = [_number(n, fact, said, whole) for n in fact.numbers]
    names = _names(fact, said, whole, known)
    results = [*numbers, *names]
    opposite = any(are_opposite(a, b) for a in fact.words - said.words for b in said.words - fact.words)
    exchanged = "exchanged" in results or opposite
    negative = said.negative or (whole.text != said.text and _outer_negative(said, whole))
    if negative != fact.negative:
        return _denied(fact, said, results, exchanged=exchanged, share=share)
    if exchanged:
        if fact.negative or (len(results) > 1 and set(results) == {"exchanged"}):
            return Finding("missing", "it speaks of another case", said.text)
        return Finding("contradicted", "a value in it is another", said.text)
    if "bounded" in results:
        return Finding("unverifiable", "only a bound is given", said.text)
    if "missing" in results:
        return Finding("missing", "a part of it is not said", said.text)
    own = len(fact.words & said.words) / len(said.words) if said.words else 0.0
    if share >= SAID or (own >= SAID and fact.numbers):
        return Finding("supported", "", said.text, ("hedged",) if HEDGE.search(said.text) else ())
    return Finding("unverifiable", "the wording differs", said.text)


def _denied(fact: Profile, said: Profile, results: list[str], *, exchanged: bool, share: float) -> Finding:
    """One side denies what the other affirms: a contradiction when they speak of the same thing."""
    if exchanged or (not results and share < SAID) or (fact.negative and "missing" in results):
        return Finding("missing", "another thing is denied", said.text)
    told = results[1:] if fact.names and results[len(fact.numbers) :][:1] == ["there"] else results
    if "missing" in results and "there" not in told:
        return Finding("unverifiable", "a part of it is denied", said.text)
    return Finding("contradicted", "it is denied", said.text, _FIRM)


def _outer_negative(said: Profile, whole: Profile) -> bool:
    """``It is false that A, which …``: a denial at the head of the sentence reaches its first clause."""
    return (
        bool(
            re.match(
                r"(?:it is|it's) (?:not true|false|untrue|not the case|incorrect|wrong)", whole.text, re.IGNORECASE
            )
        )
        and said.text in whole.text
    )


def _share_of_names(fact: Profile, whole: Profile) -> float:
    if not fact.names:
        return 0.0
    return sum(name in whole.names for name in fact.names) / len(fact.names)


def _of_other_words(fact: Profile, whole: Profile, clause: str) -> Finding:
    """Names and numbers of the statement, in words that are not its own: no verdict."""
    named = bool(fact.names or fact.numbers) and all(n in whole.names for n in fact.names)
    numbers = all(any(_same(n, m) for m in whole.numbers) for n in fact.numbers)
    if named and numbers and (fact.numbers or len(fact.names) > 1):
        return Finding("unverifiable", "the wording differs", clause)
    return Finding("missing")


def _is_swapped(fact: Profile, whole: Profile) -> bool:
    return any(
        verb == said_verb and agent == said_patient and patient == said_agent
        for agent, verb, patient in fact.relations
        for said_agent, said_verb, said_patient in whole.relations
    )


def _class(mention: NumberMention) -> str:
    if mention.is_year:
        return "year"
    return mention.unit if mention.unit in ("%", "pp") else "count"


def _same(a: NumberMention, b: NumberMention) -> bool:
    return a.value == b.value and (_class(a) == _class(b) or {_class(a), _class(b)} == {"year", "count"})


def _number(number: NumberMention, fact: Profile, said: Profile, whole: Profile) -> str:
    hits = [m for m in said.numbers if _same(number, m)]
    if hits:
        stance = stance_at(said.text, hits[0].start, hits[0].end, exact=True)
        return "bounded" if stance == "bounded" else "there"
    others = [m for m in said.numbers if not any(_same(n, m) for n in fact.numbers)]
    if any(_class(m) == _class(number) and _units_agree(m, number) for m in others):
        return "exchanged"
    if any(m.value == number.value and _class(m) != _class(number) for m in said.numbers):
        return "exchanged"
    outer = [m for m in whole.numbers if _same(number, m)]
    return "there" if any(_stands_apart(whole.text, m) for m in outer) else "missing"


def _units_agree(a: NumberMention, b: NumberMention) -> bool:
    return not a.unit or not b.unit or stem(a.unit) == stem(b.unit)


_APART = re.compile(r"(?:^|[,;(] ?)(?:in|during|by|at|on|as of|for|from|since)(?: the)?(?: year)? ?$", re.IGNORECASE)


def _stands_apart(sentence: str, mention: NumberMention) -> bool:
    """``In 2023, Acme sold …``: the number stands in a clause of its own."""
    return bool(_APART.search(sentence[: mention.start])) and bool(
        re.match(r"[,;).]|$", sentence[mention.end :].lstrip())
    )


def _names(fact: Profile, said: Profile, whole: Profile, known: str) -> list[str]:
    """Each name of the statement: there, exchanged for another, or missing. The subject may be left out."""
    results = []
    strange = [n for n in said.names if n not in fact.names]
    for i, name in enumerate(fact.names):
        if name in said.names or name in fold(said.text):
            results.append("there")
        elif i == 0 and _is_subject(fact, name):
            results.append(_subject(name, fact, said, whole, known))
        elif any(not _is_subject(said, n) or n not in known for n in strange):
            results.append("exchanged")
        elif name in whole.names:
            results.append("there")
        else:
            results.append("missing")
    return results


def _is_subject(profile: Profile, name: str) -> bool:
    return fold(profile.text).startswith((name, f"the {name}"))


def _subject(name: str, fact: Profile, said: Profile, whole: Profile, known: str) -> str:
    if name in whole.names:
        return "there"
    own = [n for n in whole.names if _is_subject(whole, n) and n not in fact.names]
    if not own:
        return "there"
    return "missing" if own[0] in known else "exchanged"


def _named_otherwise(fact: Profile, parts: tuple[str, ...]) -> Finding | None:
    """``Luis Ruiz`` for Ana Ruiz, as a bare reply: one part of the name is another."""
    names = _full_names(fact.text)
    for sentence in parts:
        for given in _full_names(sentence[:MAX_CHARS]):
            for name in names:
                if len(given) == len(name) and given != name and set(given) & set(name):
                    return Finding("contradicted", "another name is given", " ".join(given))
    return None


def _full_names(text: str) -> list[tuple[str, ...]]:
    return [tuple(fold(m.group()).split()) for m in re.finditer(r"[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)+", text)]


def exchanged_in(value: str, source: str, parts: tuple[str, ...], known: str) -> str:
    """A name that the reply has where the source has ``value`` ("" = none): Paris in ``founded in 1998 in Paris``."""
    wanted = fold(value)
    for sentence in re.split(r"(?<=[.!?])\s+|\n", source):
        for clause in _clauses(sentence):
            if wanted not in fold(clause) or _HAN.search(clause):
                continue
            there = _profile(clause)
            for part in parts:
                for said in map(_profile, _clauses(part)):
                    strange = [n for n in said.names if n not in known]
                    if strange and there.words and len(there.words & said.words) >= ABOUT * len(there.words):
                        return strange[0]
    return ""
