"""Does a reply give one known value? Required facts of closed questions: typed, with aliases, tolerance and negation.

``supported``: affirmed once, and nothing else is offered in its place. ``contradicted``: denied, or another value of
the kind is given. ``ambiguous``: several are offered. ``missing``: nothing of the kind is said. ``unverifiable``: the
rules do not reach ("at least 1,200", a part of a name), and it is not guessed.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from itertools import islice
from typing import Any

from speedqual.grading.askedunits import has_other_unit
from speedqual.grading.booleans import judge_boolean
from speedqual.grading.findings import MAX_PLACES, NUMERIC, Finding, Place, ValueFact
from speedqual.grading.mentions import DateMention, NumberMention, dates_in, numbers_in
from speedqual.grading.normalise import KINDS, compare, read
from speedqual.grading.numberfacts import SHARES, asks_share, judge_numeric
from speedqual.grading.polarity import stance_at
from speedqual.grading.textfacts import judge_text, names_of, pattern_of
from speedqual.grading.wordforms import stem

__all__ = ["Finding", "Place", "ValueFact", "find_value", "judge_value", "kind_of_value"]


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
        return judge_numeric(fact, parts, places, known)
    return judge_text(fact, parts, places, known)


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
    return _with_bare(found[:MAX_PLACES]) if fact.kind in ("quantity", "money") else found[:MAX_PLACES]


def _with_bare(places: list[Place]) -> list[Place]:
    """A number that was right with its unit is right when it is said again without one."""
    right = {place.value for place in places if place.right}
    return [p._replace(right=True) if not p.unit and p.value in right else p for p in places]


def _date_place(fact: ValueFact, i: int, sentence: str, mention: DateMention) -> Place:
    want = read("date", fact.value, fact.settings).value
    same = mention.day == want or (mention.day.year == 0 and want is not None and mention.day[1:] == want[1:])
    return Place(
        i, mention.start, mention.end, same, stance_at(sentence, mention.start, mention.end, exact=True), mention.text
    )


def _number_place(fact: ValueFact, i: int, sentence: str, mention: NumberMention) -> Place:
    stance = stance_at(sentence, mention.start, mention.end, exact=True)
    right = _is_value(fact, sentence, mention)
    own = (mention.unit, mention.is_year, mention.value)
    return Place(i, mention.start, mention.end, right, stance, mention.text, *own)


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
        plain = mention.unit not in SHARES and not has_other_unit(fact.asked, mention.unit)
        return (plain and _same_number(fact, mention)) or _same_share(fact, mention)
    if fact.kind == "percent":
        text = f"{mention.value} {mention.unit}" if mention.unit in SHARES else str(mention.value)
        return compare("percent", text, fact.value, fact.settings).equal and (
            mention.unit != "" or "%" not in str(fact.value) or asks_share(fact)
        )
    around = sentence[max(0, mention.start - 4) : mention.start].split(" ")[-1] if fact.kind == "money" else ""
    number = mention.text if any(map(str.isdigit, mention.text)) else _json(mention.value)
    unit = _unit_text(sentence, mention.end, fact.kind)
    for text in (f"{around.strip('(')}{number}{unit}", number + unit, mention.text):
        reading = read(fact.kind, text, fact.settings)
        if not reading.fault:
            return compare(fact.kind, text, fact.value, fact.settings).equal or (
                fact.kind == "quantity" and text == mention.text and _same_magnitude(fact, mention)
            )
    return False


def _same_share(fact: ValueFact, mention: NumberMention) -> bool:
    return (
        mention.unit == "%"
        and asks_share(fact)
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


def _text_places(fact: ValueFact, i: int, sentence: str) -> list[Place]:
    lowered = sentence.lower()
    if len(lowered) != len(sentence):
        lowered = sentence
    return [
        Place(i, m.start(), m.end(), True, _text_stance(fact, sentence, m.start(), m.end()), m.group())
        for m in islice(pattern_of(names_of(fact)).finditer(lowered), MAX_PLACES)
        if m.end() > m.start()
    ]
