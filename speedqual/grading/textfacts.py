"""Concluding from the names and words of a reply: is the value named, affirmed, and nothing offered beside it?"""

from __future__ import annotations

import re
from functools import lru_cache

from speedqual.grading.clocks import clock_names
from speedqual.grading.findings import NUMERIC, Finding, Place, ValueFact
from speedqual.grading.numberfacts import hedges
from speedqual.grading.polarity import was_corrected
from speedqual.grading.text import fold

__all__ = ["judge_text", "names_of", "pattern_of"]


@lru_cache(maxsize=16_384)
def pattern_of(values: tuple[str, ...]) -> re.Pattern[str]:
    """Any of the values, folded; Latin words whole, white space of any length."""
    alternatives = []
    for value in sorted(values, key=len, reverse=True):
        body = r"\s*".join(re.escape(word) for word in fold(value).split())
        left = r"(?<![A-Za-z0-9])" if body[:1].isascii() and value.strip()[:1].isalnum() else ""
        right = r"(?![A-Za-z0-9])" if value.strip()[-1:].isascii() and value.strip()[-1:].isalnum() else ""
        alternatives.append(left + body + right)
    return re.compile("|".join(filter(None, alternatives)) or r"(?!)")


def names_of(fact: ValueFact) -> tuple[str, ...]:
    """The texts that name the value: of numbers and dates the aliases alone."""
    clock = clock_names(str(fact.value)) if fact.kind == "string" else ()
    return (
        (str(fact.value), *fact.aliases, *clock)
        if fact.kind not in NUMERIC and fact.kind not in ("date", "datetime")
        else fact.aliases
    )


_ALTERNATIVE_AFTER = re.compile(
    r"^[\s\"'”’）)]*[,，]?\s*(?:\(|（)?\s*(?:or\b(?! so\b)|and/or\b|/\s*\w|或者?|还是|抑或|(?:maybe|"
    r"perhaps|possibly|alternatively|也可能是?|也许是?)\s*\w)",
    re.IGNORECASE,
)
_ALTERNATIVE_BEFORE = re.compile(
    r"(?:\w[\s,，]*(?:\bor(?: (?:maybe|perhaps|possibly))?|and/or|/|或者?|还是))\s*(?:the |a |an |在|是)?[\"'“‘]?$",
    re.IGNORECASE,
)
SHORT_WORDS = 12
SHORT_HAN = 24


def judge_text(fact: ValueFact, parts: tuple[str, ...], places: list[Place], known: str) -> Finding:
    """Conclude from the ``places`` where the value is named. ``known``: the folded source and question."""
    kept = []
    for place in places:
        following = parts[place.sentence + 1] if place.sentence + 1 < len(parts) else ""
        rest = parts[place.sentence][place.end :] + " " + following
        if was_corrected(parts[place.sentence], place.end, following) and len(rest.strip()) > 4:
            later = [p for p in places if (p.sentence, p.start) > (place.sentence, place.start)]
            if not later:
                return Finding("contradicted", f"{place.text} is taken back", place.text)
            continue
        kept.append(place)
    affirmed = [p for p in kept if p.stance == "affirmed"]
    if affirmed:
        if all(_is_alternative(fact, parts[p.sentence], p) for p in affirmed) or _is_bare_list(fact, parts, known):
            return Finding("ambiguous", f"{affirmed[0].text} is offered beside another", affirmed[0].text)
        if other := _said_elsewhere(fact, parts, affirmed, known) or _listed_beside(fact, parts, affirmed, known):
            return Finding("ambiguous", f"{affirmed[0].text} and {other} are both offered", affirmed[0].text)
        if any(p.stance == "denied" for p in kept) and len(affirmed) <= sum(p.stance == "denied" for p in kept):
            return Finding("ambiguous", f"{affirmed[0].text} is both affirmed and denied", affirmed[0].text)
        return Finding("supported", "", affirmed[0].text, hedges(parts, affirmed))
    if kept and any(p.stance == "denied" for p in kept):
        return Finding("contradicted", f"{kept[0].text} is denied", kept[0].text)
    if kept:
        return Finding("unverifiable", "the value is only asked about", kept[0].text)
    return _absent_text(fact, parts, known)


def _said_elsewhere(fact: ValueFact, parts: tuple[str, ...], affirmed: list[Place], known: str) -> str:
    """Another thing of the source behind the same words: ``在操场的东边`` and ``在操场的西边`` ("" = none)."""
    whole = [fold(part) for part in parts]
    for place in affirmed:
        lead = fold(parts[place.sentence][: place.start])[-8:]
        if len(lead) < 4 or not _HAN.search(lead[-1:]) or not lead.strip():
            continue
        size = len(fold(place.text))
        for i, part in enumerate(whole):
            at = part.find(lead)
            other = part[at + len(lead) : at + len(lead) + size] if at >= 0 else ""
            is_other = i != place.sentence and len(other) == size and not pattern_of(names_of(fact)).match(other)
            if is_other and all(map(_HAN.match, other)) and other in known:
                return other
    return ""


_HAN = re.compile(r"[\u3400-\u9fff]")


def _listed_beside(fact: ValueFact, parts: tuple[str, ...], affirmed: list[Place], known: str) -> str:
    """A neighbouring line that is nothing but another name of the source, where the value has only such a line too."""
    pattern = pattern_of(names_of(fact))
    bare = {p.sentence for p in affirmed if pattern.fullmatch(parts[p.sentence].lower().strip(" .。,，"))}
    if len(bare) < len({p.sentence for p in affirmed}):
        return ""
    for at in bare:
        for near in (at - 1, at + 1):
            line = parts[near].strip(" .。,，") if 0 <= near < len(parts) else ""
            short = 0 < len(line.split()) <= 3 and len(line) <= 24
            if short and not pattern.search(line.lower()) and fold(line) in known:
                return line
    return ""


def _absent_text(fact: ValueFact, parts: tuple[str, ...], known: str) -> Finding:
    reply = " ".join(parts)
    words = set(re.findall(r"\w+", fold(reply)))
    value = set(re.findall(r"\w+", fold(str(fact.value))))
    if fact.kind in ("name", "string") and words and words < value and len(value) > 1:
        return Finding("unverifiable", "only a part of the name is given", reply)
    if fact.kind == "name" and len(value) > 1 and words & value and re.search(r"[A-Z]\w+ [A-Z]\w+", reply):
        return Finding("contradicted", "another name is given", reply[:80])
    han = sum("\u4e00" <= c <= "\u9fff" for c in reply)
    is_short = len(reply.split()) <= SHORT_WORDS and han <= SHORT_HAN
    if fact.alone and reply and is_short:
        return Finding("contradicted", f"{reply[:60]!r} is given instead", reply[:80])
    return Finding("missing", "the value is not named")


def _is_alternative(fact: ValueFact, sentence: str, place: Place) -> bool:
    if _ALTERNATIVE_AFTER.match(sentence[place.end :]):
        behind = _ALTERNATIVE_AFTER.sub("", sentence[place.end :], count=1).strip()
        match = pattern_of(names_of(fact)).match(behind.lower())
        return match is None
    before = sentence[: place.start]
    found = _ALTERNATIVE_BEFORE.search(before)
    if not found:
        return False
    return not pattern_of(names_of(fact)).search(before.lower()[-40:])


_QUALIFIES = re.compile(
    r"(?:in|at|on|by|from|of|for|near|who|which|not|since|during|as|with)\b|在|于|不", re.IGNORECASE
)
_LIST = re.compile(r"\s*(?:,|，|、|;|；|&|\band\b|和|与|及|/|\n)\s*", re.IGNORECASE)


def _is_bare_list(fact: ValueFact, parts: tuple[str, ...], known: str) -> bool:
    """A reply that is nothing but a list of things that the source names, the value among them."""
    if not fact.alone or len(parts) > 3:
        return False
    members = [m for part in parts for m in _LIST.split(part.strip(" .。!！")) if m.strip()]
    if len(members) < 2 or any(
        len(m.split()) > 3 or len(m) > (8 if _HAN.search(m) else 24) or _QUALIFIES.match(m) for m in members
    ):
        return False
    pattern = pattern_of(names_of(fact))
    others = [m for m in members if not pattern.search(m.lower())]
    if not others or len(others) == len(members):
        return False
    stripped = [re.sub(r"^(?:the|a|an) ", "", fold(m)) for m in others]
    return any(m in known for m in stripped) or (len(members) == 2 and bool(re.search(r"\band\b|&|和|、", parts[0])))
