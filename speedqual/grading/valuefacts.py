"""Does a reply give one known value? Required facts of closed questions: typed, with aliases, tolerance and negation.

``supported``: affirmed once, and nothing else is offered in its place. ``contradicted``: denied, or another value of
the kind is given. ``ambiguous``: several are offered. ``missing``: nothing of the kind is said. ``unverifiable``: the
rules do not reach ("at least 1,200", a part of a name), and it is not guessed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from speedqual.grading.booleans import judge_boolean
from speedqual.grading.mentions import DateMention, NumberMention, dates_in, numbers_in
from speedqual.grading.normalise import KINDS, Settings, compare, read
from speedqual.grading.polarity import HEDGE, stance_at, was_corrected
from speedqual.grading.text import fold
from speedqual.grading.wordforms import stem

__all__ = ["Finding", "Place", "ValueFact", "find_value", "judge_value", "kind_of_value"]

MAX_PLACES = 60
"""Mentions of one fact that are looked at."""
NUMERIC = frozenset(("number", "integer", "money", "percent", "ratio", "quantity"))


@dataclass(frozen=True, slots=True)
class ValueFact:
    """A value to be found. ``asked``: the question; ``alone``: the item has no other fact."""

    id: str
    value: Any
    kind: str
    aliases: tuple[str, ...] = ()
    settings: Settings = field(default_factory=lambda: Settings(locale="en"))
    asked: str = ""
    alone: bool = True


class Finding(NamedTuple):
    """What the reply says of one fact, and the words it was read from."""

    status: str
    why: str = ""
    at: str = ""
    flags: tuple[str, ...] = ()


class Place(NamedTuple):
    """One mention: which sentence, where, whether it is the value, and how the sentence stands to it."""

    sentence: int
    start: int
    end: int
    right: bool
    stance: str
    text: str
    unit: str = ""
    is_year: bool = False


def kind_of_value(value: Any, declared: str | None) -> str:
    """The declared kind, or what the value looks like."""
    if declared in KINDS:
        return str(declared)
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float, Decimal)):
        return "number"
    text = str(value)
    if re.search(r"%|百分之|percent", text):
        return "percent"
    day = read("date", text).value
    return "date" if day is not None and day.day is not None else "string"


def judge_value(fact: ValueFact, parts: tuple[str, ...], known: str) -> Finding:
    """Judge ``parts``, the sentences of a reply. ``known``: the folded source and question."""
    if fact.kind == "boolean":
        return Finding(*judge_boolean(fact.value, fact.aliases, fact.asked, parts))
    places = find_value(fact, parts)
    if fact.kind in NUMERIC or fact.kind in ("date", "datetime"):
        return _judge_numeric(fact, parts, places, known)
    return _judge_text(fact, parts, places, known)


def find_value(fact: ValueFact, parts: tuple[str, ...]) -> list[Place]:
    """Every mention of the fact's kind (for texts: of the value itself)."""
    found: list[Place] = []
    for i, sentence in enumerate(parts):
        if fact.kind in ("date", "datetime"):
            found += [_date_place(fact, i, sentence, m) for m in dates_in(sentence, fact.settings)]
        elif fact.kind in NUMERIC:
            found += [_number_place(fact, i, sentence, m) for m in numbers_in(sentence, fact.settings)]
        if fact.kind not in NUMERIC or fact.aliases:
            found += _text_places(fact, i, sentence)
        if len(found) >= MAX_PLACES:
            break
    return found[:MAX_PLACES]


def _date_place(fact: ValueFact, i: int, sentence: str, mention: DateMention) -> Place:
    want = read("date", fact.value, fact.settings).value
    same = mention.day == want or (mention.day.year == 0 and want is not None and mention.day[1:] == want[1:])
    return Place(
        i, mention.start, mention.end, same, stance_at(sentence, mention.start, mention.end, exact=True), mention.text
    )


def _number_place(fact: ValueFact, i: int, sentence: str, mention: NumberMention) -> Place:
    stance = stance_at(sentence, mention.start, mention.end, exact=True)
    right = _is_value(fact, sentence, mention)
    return Place(i, mention.start, mention.end, right, stance, mention.text, mention.unit, mention.is_year)


_DENIED_DEED = re.compile(
    r"\s*(?:\w+n't|\w+ (?:not|never)|never)\s+(?:\w+ly )?(?P<verb>[a-z]+)|\s*(?:并没有|并未|没有|从未|"
    r"没|未|不)(?P<deed>..)",
    re.IGNORECASE,
)


def _text_stance(fact: ValueFact, sentence: str, start: int, end: int) -> str:
    """As the clause says; ``X did not found it`` denies X when the question asks for who founded it."""
    stance = stance_at(sentence, start, end)
    match = _DENIED_DEED.match(sentence, end)
    if not match or stance != "affirmed" or not fact.asked:
        return stance
    if match["deed"]:
        return "denied" if match["deed"] in fact.asked else stance
    asked = {stem(word) for word in re.findall(r"[A-Za-z]+", fact.asked)}
    return "denied" if stem(match["verb"]) in asked else stance


def _is_value(fact: ValueFact, sentence: str, mention: NumberMention) -> bool:
    if fact.kind in ("number", "integer"):
        return (mention.unit not in _SHARES and _same_number(fact, mention)) or _same_share(fact, mention)
    if fact.kind == "percent":
        text = f"{mention.value} {mention.unit}" if mention.unit in _SHARES else str(mention.value)
        return compare("percent", text, fact.value, fact.settings).equal and (
            mention.unit != "" or "%" not in str(fact.value) or _asks_share(fact)
        )
    around = sentence[max(0, mention.start - 4) : mention.start].split(" ")[-1] if fact.kind == "money" else ""
    written = f"{around.strip('(')}{mention.text}{_unit_text(sentence, mention.end, fact.kind)}"
    for text in (written, mention.text + _unit_text(sentence, mention.end, fact.kind), mention.text):
        reading = read(fact.kind, text, fact.settings)
        if not reading.fault:
            return compare(fact.kind, text, fact.value, fact.settings).equal or (
                fact.kind == "quantity" and text == mention.text and _same_magnitude(fact, mention)
            )
    return False


_SHARES = frozenset(("%", "pp"))


def _asks_share(fact: ValueFact) -> bool:
    return bool(re.search(r"percent|per cent|%|share|百分|比例", fact.asked, re.IGNORECASE))


def _same_share(fact: ValueFact, mention: NumberMention) -> bool:
    return (
        mention.unit == "%"
        and _asks_share(fact)
        and compare("number", str(mention.value), fact.value, fact.settings).equal
    )


_ASKED_IN = re.compile(
    r"(?:几|多少)(?:个)?(万亿|千万|百万|万|亿|千|百)|\bin (thousands|millions|billions)\b", re.IGNORECASE
)
_SCALE = {
    "百": 2,
    "千": 3,
    "万": 4,
    "百万": 6,
    "千万": 7,
    "亿": 8,
    "万亿": 12,
    "thousands": 3,
    "millions": 6,
    "billions": 9,
}


def _same_number(fact: ValueFact, mention: NumberMention) -> bool:
    """Equal, also in the multiple that the question asks for (多少万元: 9000万 and 0.9亿 are 9000)."""
    if compare("number", _json(mention.value), fact.value, fact.settings).equal:
        return True
    asked = _ASKED_IN.search(fact.asked)
    if not asked:
        return False
    scaled = mention.value.scaleb(-_SCALE[(asked[1] or asked[2]).lower()])
    return compare("number", _json(scaled), fact.value, fact.settings).equal


def _json(value: Decimal) -> str:
    return format(value, "f")


def _same_magnitude(fact: ValueFact, mention: NumberMention) -> bool:
    """A bare number for a quantity, when the question names the unit."""
    match = re.search(r"[^\d\s.,].*$", str(fact.value))
    unit = match.group().strip().lower() if match else ""
    return mention.unit == "" and bool(unit) and unit in fact.asked.lower() and str(fact.value).startswith(mention.text)


_AFTER_UNIT = re.compile(r" ?(?:[°℃℉%]?[A-Za-zµ²³/°]+|[\u4e00-\u9fff]{1,4}|[€£¥₩₹%])")


def _unit_text(sentence: str, end: int, kind: str) -> str:
    """The longest following text that reads as the unit of this kind."""
    match = _AFTER_UNIT.match(sentence, end)
    if not match:
        return ""
    text = match.group()
    while text.strip():
        if not read(kind, "1" + text).fault and (kind != "quantity" or _is_known_unit(text)):
            return text
        text = text[:-1] if not text.isascii() else ""
    return match.group() if kind == "quantity" and match.group().isascii() else ""


@lru_cache(maxsize=4096)
def _is_known_unit(text: str) -> bool:
    from speedqual.grading.normalise.units import is_unit

    return is_unit(text)


@lru_cache(maxsize=16_384)
def _pattern(values: tuple[str, ...]) -> re.Pattern[str]:
    """Any of the values, folded; Latin words whole, white space of any length."""
    alternatives = []
    for value in sorted(values, key=len, reverse=True):
        body = r"\s*".join(re.escape(word) for word in fold(value).split())
        left = r"(?<![A-Za-z0-9])" if body[:1].isascii() and value.strip()[:1].isalnum() else ""
        right = r"(?![A-Za-z0-9])" if value.strip()[-1:].isascii() and value.strip()[-1:].isalnum() else ""
        alternatives.append(left + body + right)
    return re.compile("|".join(filter(None, alternatives)) or r"(?!)")


def _names(fact: ValueFact) -> tuple[str, ...]:
    return (
        (str(fact.value), *fact.aliases)
        if fact.kind not in NUMERIC and fact.kind not in ("date", "datetime")
        else fact.aliases
    )


def _text_places(fact: ValueFact, i: int, sentence: str) -> list[Place]:
    lowered = sentence.lower()
    if len(lowered) != len(sentence):
        lowered = sentence
    return [
        Place(i, m.start(), m.end(), True, _text_stance(fact, sentence, m.start(), m.end()), m.group())
        for m in islice(_pattern(_names(fact)).finditer(lowered), MAX_PLACES)
        if m.end() > m.start()
    ]


# ------------------------------------------------------------------------------------------------- judging

_ANSWER_MARK = re.compile(
    r"(?:\b(?:final )?answer(?: is|:)|\bin (?:short|total|summary)\b|\btherefore\b|\bthus\b|\bhence\b|"
    r"^so\b|\bin conclusion\b|答案(?:是|为|：|:)?|因此|所以|综上|总之|最终|故)",
    re.IGNORECASE,
)
_OR = re.compile(
    r"^[\s,，;；(（]*(?:or|and/or|/|\||to|-|–|until|或者?|还是|抑或|要么|也?可能(?:是)?|maybe|perhaps|"
    r"possibly|alternatively|another(?: one)?(?: (?:answer|value|number|figure))?(?: is)?|if not|至|到|~)"
    r"(?:[\s,，]*(?:maybe|perhaps|possibly|even|else|rather|about|around|also|it could be|it might be|"
    r"是|可能是?|也许是?))*[\s,，(（:：]*[$€£¥]?$",
    re.IGNORECASE,
)
_BARE = re.compile(r"^[\s,，;；、&+]*(?:and|和|与|及)?[\s,，;；、&+]*$", re.IGNORECASE)


def _judge_numeric(fact: ValueFact, parts: tuple[str, ...], places: list[Place], known: str) -> Finding:
    places = _without_corrected(parts, places)
    right = [p for p in places if p.right]
    affirmed = [p for p in right if p.stance == "affirmed"]
    rivals = [p for p in places if not p.right and p.stance == "affirmed" and _is_rival(fact, p, parts)]
    final = _final(parts, [p for p in places if p.stance == "affirmed"])
    if affirmed:
        if final is not None and not final.right and final in rivals:
            return Finding("contradicted", f"the answer given is {final.text}", final.text)
        later = [p for p in rivals if final is None or not final.right or p[:2] > final[:2]]
        rival = _in_its_place(fact, parts, affirmed, later)
        if rival is not None:
            return Finding("ambiguous", f"{affirmed[0].text} and {rival.text} are both offered", affirmed[0].text)
        if wrong_year := _other_year(fact, parts, affirmed):
            return Finding("contradicted", f"{affirmed[0].text} is said of {wrong_year}", affirmed[0].text)
        return Finding("supported", "", affirmed[0].text, _hedges(parts, affirmed))
    if any(p.stance == "bounded" for p in right):
        return Finding("unverifiable", "only a bound is given", right[0].text)
    if right and all(p.stance == "denied" for p in right):
        return Finding("contradicted", f"{right[0].text} is denied", right[0].text)
    if right:
        return Finding("unverifiable", "the value is only asked about", right[0].text)
    strange = [p for p in rivals if fact.alone or not _is_known(p.text, known)]
    if strange:
        return Finding("contradicted", f"{strange[-1].text} is given instead", strange[-1].text)
    return Finding("missing", "no such value is given")


def _without_corrected(parts: tuple[str, ...], places: list[Place]) -> list[Place]:
    """Drop what is taken back, when something of the kind follows."""
    kept = []
    for n, place in enumerate(places):
        following = parts[place.sentence + 1] if place.sentence + 1 < len(parts) else ""
        taken_back = n + 1 < len(places) and was_corrected(parts[place.sentence], place.end, following)
        if not taken_back:
            kept.append(place)
    return kept


def _is_rival(fact: ValueFact, place: Place, parts: tuple[str, ...]) -> bool:
    """Whether a mention could stand in the value's place: of its kind, not a year for a count, not asked about."""
    if fact.kind in ("date", "datetime"):
        return True
    if (place.unit in _SHARES) != (fact.kind == "percent" or (fact.kind == "number" and _asks_share(fact))):
        return (
            fact.kind == "percent" and place.unit == "" and not place.is_year and len(parts) == 1 and len(parts[0]) < 12
        )
    if place.is_year and not _wants_year(fact):
        return False
    return not (fact.asked and _is_known(place.text, fold(fact.asked)) and not _is_bare_reply(parts))


def _is_bare_reply(parts: tuple[str, ...]) -> bool:
    return len(parts) == 1 and len(parts[0]) <= 16


def _is_known(text: str, known: str) -> bool:
    return bool(re.search(rf"(?<![\d.]){re.escape(fold(text))}(?![\d])", known))


def _final(parts: tuple[str, ...], places: list[Place]) -> Place | None:
    """The first mention behind the last "the answer is" (or behind the last "=" after it), None without one."""
    for i in range(len(parts) - 1, -1, -1):
        marks = list(_ANSWER_MARK.finditer(parts[i]))
        if marks:
            start = max(marks[-1].end(), parts[i].rfind("=", marks[-1].end()))
            behind = [p for p in places if (p.sentence, p.start) >= (i, start)]
            return behind[0] if behind else None
    return None


def _in_its_place(fact: ValueFact, parts: tuple[str, ...], affirmed: list[Place], rivals: list[Place]) -> Place | None:
    """A rival that is offered as an alternative to the value, None when the others say other things."""
    for rival in rivals:
        for place in affirmed:
            first, second = sorted((place, rival))
            gap = _between(parts, first, second)
            if gap is not None and (_OR.match(gap) or (_BARE.match(gap) and _nothing_else(parts))):
                return rival
            if gap is None and _nothing_else(parts):
                return rival
            if _same_words_around(parts, place, rival):
                return rival
    return None


def _between(parts: tuple[str, ...], first: Place, second: Place) -> str | None:
    """The words between two mentions without the first one's unit; None when a sentence lies between."""
    if first.sentence == second.sentence:
        gap = parts[first.sentence][first.end : second.start]
    elif second.sentence == first.sentence + 1:
        gap = parts[first.sentence][first.end :].rstrip(" .。!！") + " " + parts[second.sentence][: second.start]
    else:
        return None
    unit = first.unit
    if unit.isascii():
        return gap.strip()[len(unit) :] if unit and gap.strip().lower().startswith(unit) else gap
    return _HAN_UNIT.sub("", gap.strip(), count=1)


_HAN_UNIT = re.compile(r"^[^\s,，。或还可也至到]{0,2}?(?:左右|上下)?(?=[\s,，。或还可也至到]|$)")


_WORDS = re.compile(r"[A-Za-z]{3,}|[\u4e00-\u9fff]{2,}")


def _nothing_else(parts: tuple[str, ...]) -> bool:
    """A reply of numbers and their units only."""
    return sum(len(_WORDS.findall(part)) for part in parts) <= 2


def _same_words_around(parts: tuple[str, ...], a: Place, b: Place) -> bool:
    """The same noun and the same year, in two sentences or clauses that differ in the number."""
    if a.sentence == b.sentence or not a.unit or a.unit != b.unit:
        return False
    skeletons = [parts[p.sentence][: p.start] + "#" + parts[p.sentence][p.end :] for p in (a, b)]
    return fold(skeletons[0]) == fold(skeletons[1])


_ASKS_YEAR = re.compile(r"\byear\b|\bwhen\b|哪一?年|年份|何时|什么时候|几年", re.IGNORECASE)


def _wants_year(fact: ValueFact) -> bool:
    """Whether the value is a year: it looks like one, and the question does not ask for something else."""
    is_int = isinstance(fact.value, int) and not isinstance(fact.value, bool)
    return is_int and 1000 <= fact.value <= 2999 and (not fact.asked or bool(_ASKS_YEAR.search(fact.asked)))


_YEAR = re.compile(
    r"(?<!\d)(?:1\d{3}|20\d{2})(?=年)|(?<=\bin )(?:1\d{3}|20\d{2})(?!\d)|(?<=[fo][orfn] )20\d{2}(?!\d)", re.IGNORECASE
)
"""Years by how they are written: a bare number may be a count."""


def _other_year(fact: ValueFact, parts: tuple[str, ...], affirmed: list[Place]) -> str:
    """The year a value is given for, when the question asks for another and the clause names only that one."""
    asked = set(_YEAR.findall(fact.asked))
    if not asked or _wants_year(fact) or fact.kind in ("date", "datetime"):
        return ""
    for place in affirmed:
        sentence = parts[place.sentence]
        near = re.split(r"[;；]|,\s|，", sentence[place.end :])[0]
        years = set(_YEAR.findall(near)) or set(_YEAR.findall(sentence.replace(place.text, "")))
        if not years or years & asked:
            return ""
    return ", ".join(sorted(years))


def _hedges(parts: tuple[str, ...], affirmed: list[Place]) -> tuple[str, ...]:
    return ("hedged",) if any(HEDGE.search(parts[p.sentence]) for p in affirmed) else ()


# --------------------------------------------------------------------------------------------- texts and names

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


def _judge_text(fact: ValueFact, parts: tuple[str, ...], places: list[Place], known: str) -> Finding:
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
        if any(p.stance == "denied" for p in kept) and len(affirmed) <= sum(p.stance == "denied" for p in kept):
            return Finding("ambiguous", f"{affirmed[0].text} is both affirmed and denied", affirmed[0].text)
        return Finding("supported", "", affirmed[0].text, _hedges(parts, affirmed))
    if kept and any(p.stance == "denied" for p in kept):
        return Finding("contradicted", f"{kept[0].text} is denied", kept[0].text)
    if kept:
        return Finding("unverifiable", "the value is only asked about", kept[0].text)
    return _absent_text(fact, parts, known)


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
        match = _pattern(_names(fact)).match(behind.lower())
        return match is None
    before = sentence[: place.start]
    found = _ALTERNATIVE_BEFORE.search(before)
    if not found:
        return False
    return not _pattern(_names(fact)).search(before.lower()[-40:])


_QUALIFIES = re.compile(
    r"(?:in|at|on|by|from|of|for|near|who|which|not|since|during|as|with)\b|在|于|不", re.IGNORECASE
)
_LIST = re.compile(r"\s*(?:,|，|、|;|；|&|\band\b|和|与|及|/|\n)\s*", re.IGNORECASE)


def _is_bare_list(fact: ValueFact, parts: tuple[str, ...], known: str) -> bool:
    """A reply that is nothing but a list of things that the source names, the value among them."""
    if not fact.alone or len(parts) > 3:
        return False
    members = [m for part in parts for m in _LIST.split(part.strip(" .。!！")) if m.strip()]
    if len(members) < 2 or any(len(m.split()) > 3 or len(m) > 24 or _QUALIFIES.match(m) for m in members):
        return False
    pattern = _pattern(_names(fact))
    others = [m for m in members if not pattern.search(m.lower())]
    if not others or len(others) == len(members):
        return False
    stripped = [re.sub(r"^(?:the|a|an) ", "", fold(m)) for m in others]
    return any(m in known for m in stripped) or (len(members) == 2 and bool(re.search(r"\band\b|&|和|、", parts[0])))
