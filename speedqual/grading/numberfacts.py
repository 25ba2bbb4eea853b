"""Concluding from the numbers and dates of a reply: is the value the one that is given, and nothing in its place?"""

from __future__ import annotations

import re

from speedqual.grading.findings import Finding, Place, ValueFact
from speedqual.grading.polarity import HEDGE, was_corrected
from speedqual.grading.text import fold

__all__ = ["SHARES", "asks_share", "hedges", "judge_numeric"]

SHARES = frozenset(("%", "pp"))


_ASKS_SHARE = re.compile(
    r"\b(?:what|which|how many|in|as an?) (?:per ?cent|percentage|share|%)|\bpercentage\b|\bshare of\b|%\s*[?？]"
    r"|百分之[几多]|百分比|比例|几成",
    re.IGNORECASE,
)
"""A question that only tells of a percentage does not ask for one."""


def asks_share(fact: ValueFact) -> bool:
    """Whether the question wants a share of something."""
    return bool(_ASKS_SHARE.search(fact.asked))


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


def judge_numeric(fact: ValueFact, parts: tuple[str, ...], places: list[Place], known: str) -> Finding:
    """Conclude from every number (or date) of the reply. ``known``: the folded source and question."""
    places = _without_corrected(parts, places)
    right = [p for p in places if p.right]
    affirmed = [p for p in right if p.stance == "affirmed"]
    rivals = [p for p in places if not p.right and p.stance == "affirmed" and _is_rival(fact, p, parts, known)]
    final = _final(parts, [p for p in places if p.stance == "affirmed"])
    if affirmed:
        if final is not None and not final.right and final in rivals:
            return Finding("contradicted", f"the answer given is {final.text}", final.text)
        later = [p for p in rivals if final is None or not final.right or p[:2] > final[:2]]
        rival = _in_its_place(fact, parts, affirmed, later)
        rival = rival or _said_of_it(parts, affirmed, rivals)
        if rival is not None:
            return Finding("ambiguous", f"{affirmed[0].text} and {rival.text} are both offered", affirmed[0].text)
        if wrong_year := _other_year(fact, parts, affirmed):
            return Finding("contradicted", f"{affirmed[0].text} is said of {wrong_year}", affirmed[0].text)
        return Finding("supported", "", affirmed[0].text, hedges(parts, affirmed))
    if any(p.stance == "bounded" for p in right):
        return Finding("unverifiable", "only a bound is given", right[0].text)
    if right and all(p.stance == "denied" for p in right):
        return Finding("contradicted", f"{right[0].text} is denied", right[0].text)
    if right:
        return Finding("unverifiable", "the value is only asked about", right[0].text)
    own = [p for p in rivals if _wants_year(fact) and p.is_year and fold(p.text) not in fact.others]
    strange = [p for p in rivals if fact.alone or not _is_known(p.text, known)] or own
    strange = strange or ([p for p in places if _ends_reply(fact, parts, p)] if fact.alone else [])
    if strange:
        return Finding("contradicted", f"{strange[-1].text} is given instead", strange[-1].text)
    return Finding("missing", "no such value is given")


def _ends_reply(fact: ValueFact, parts: tuple[str, ...], place: Place) -> bool:
    """A number that the last sentence affirms at its end is given, also when the question names it."""
    last = place.sentence == len(parts) - 1 and bool(_ENDS.match(parts[place.sentence][place.end :]))
    last = last and not _is_article(fact, place, parts)
    return last and not place.right and place.stance == "affirmed" and place.is_year == _wants_year(fact)


def _without_corrected(parts: tuple[str, ...], places: list[Place]) -> list[Place]:
    """Drop what is taken back, when something of the kind follows."""
    kept = []
    for n, place in enumerate(places):
        following = parts[place.sentence + 1] if place.sentence + 1 < len(parts) else ""
        taken_back = n + 1 < len(places) and was_corrected(parts[place.sentence], place.end, following)
        if not taken_back:
            kept.append(place)
    return kept


def _is_rival(fact: ValueFact, place: Place, parts: tuple[str, ...], known: str) -> bool:
    """Whether a mention could stand in the value's place: of its kind, not a year for a count, not asked about."""
    if fact.kind in ("date", "datetime"):
        return True
    if (place.unit in SHARES) != (fact.kind == "percent" or (fact.kind == "number" and asks_share(fact))):
        return (
            fact.kind == "percent" and place.unit == "" and not place.is_year and len(parts) == 1 and len(parts[0]) < 12
        )
    if (
        _wants_year(fact)
        and not place.is_year
        and not _is_bare_reply(parts)
        and not re.fullmatch(r"[12]\d{3}", place.text)
    ):
        return False
    if place.is_year and not _wants_year(fact):
        return False
    if _is_article(fact, place, parts) or _is_quoted(parts[place.sentence], known):
        return False
    return not (fact.asked and _is_known(place.text, fold(fact.asked)) and not _is_bare_reply(parts))


def _is_article(fact: ValueFact, place: Place, parts: tuple[str, ...]) -> bool:
    """``一个``, ``one of them``: no count, unless the question counts in this measure or there is nothing else."""
    letters = sum(map(str.isalnum, "".join(parts)))
    if place.text.lower() not in ("一", "one", "a") or _nothing_else(parts) or letters <= 6:
        return False
    measure = place.unit[:1]
    return not (measure and re.search(rf"(?:几|多少){re.escape(measure)}|how many {re.escape(place.unit)}", fact.asked))


def _is_quoted(sentence: str, known: str) -> bool:
    """A whole sentence of the source: it gives nothing in the place of the value, it says the source again."""
    said = fold(sentence).strip(" .。!！")
    return len(said) > 20 and said in known


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
            if _same_words_around(parts, place, rival) or _same_deed(fact, parts, place, rival):
                return rival
            if place.value != rival.value and _key_of(parts, place) and _key_of(parts, place) == _key_of(parts, rival):
                return rival
    return None


_SAYS = re.compile(
    r"^[^,;:.()，；。（）]*?\b(?:is|was|are|were|equals?|totall?ed|numbered|makes?)(?: (?:only|just|about))?\s*$"
    r"|^[^,;:.()，；。（）]*?(?:是|为|共|有|等于)\s*$",
    re.IGNORECASE,
)
_ENDS = re.compile(r"^\s*(?:[A-Za-z°%€$£]+|[\u4e00-\u9fff]{1,3})?\s*[.!。！]?\s*$")


def _said_of_it(parts: tuple[str, ...], affirmed: list[Place], rivals: list[Place]) -> Place | None:
    """``The four who voted against were 3.``: another number is said of what the value counts, and that is all."""
    for rival in rivals:
        sentence = parts[rival.sentence]
        if _ENDS.match(sentence[rival.end :]):
            for place in affirmed:
                before = place.sentence == rival.sentence and place.end <= rival.start
                if before and _SAYS.match(sentence[place.end : rival.start]):
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


_WORDS = re.compile(r"[A-Za-z]{3,}|[\u4e00-\u9fff]{2}")


def _nothing_else(parts: tuple[str, ...]) -> bool:
    """A reply of numbers and their units only."""
    return sum(len(_WORDS.findall(part)) for part in parts) <= 2


def _same_words_around(parts: tuple[str, ...], a: Place, b: Place) -> bool:
    """The same noun and the same year, in two sentences or clauses that differ in the number."""
    if a.sentence == b.sentence or not a.unit or a.unit != b.unit:
        return False
    skeletons = [parts[p.sentence][: p.start] + "#" + parts[p.sentence][p.end :] for p in (a, b)]
    return fold(skeletons[0]) == fold(skeletons[1])


def _same_deed(fact: ValueFact, parts: tuple[str, ...], a: Place, b: Place) -> bool:
    """Two dates for the one thing that the question asks about: ``3月1日通车……3月3日通车``."""
    behind = [parts[p.sentence][p.end : p.end + 2] for p in (a, b)]
    is_date = fact.kind in ("date", "datetime")
    return is_date and behind[0] == behind[1] and bool(_HAN.fullmatch(behind[0])) and behind[0] in fact.asked


_HAN = re.compile(r"[\u4e00-\u9fff]{2}")
_KEY = re.compile(r"[\"“](?P<key>[^\"“”]{1,40})[\"”]\s*[:：]\s*[\"“]?$")


def _key_of(parts: tuple[str, ...], place: Place) -> str:
    """The key of a piece of JSON whose value the mention is: values of one key are a copied list, no answer."""
    found = _KEY.search(parts[place.sentence], 0, place.start)
    return found["key"] if found else ""


_ASKS_YEAR = re.compile(r"\byear\b|\bwhen\b|哪一?年|年份|何时|什么时候|几年", re.IGNORECASE)


def _wants_year(fact: ValueFact) -> bool:
    """Whether the value is a year: it looks like one, and the question does not ask for something else."""
    is_int = isinstance(fact.value, int) and not isinstance(fact.value, bool)
    return is_int and 1000 <= fact.value <= 2999 and (not fact.asked or bool(_ASKS_YEAR.search(fact.asked)))


_YEAR = re.compile(
    r"(?<!\d)(?:1\d{3}|20\d{2})(?=年)|(?<=\bin )(?:1\d{3}|20\d{2})(?!\d)"
    r"|(?:(?<=for )|(?<=of ))20\d{2}(?!\d)",
    re.IGNORECASE,
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


def hedges(parts: tuple[str, ...], affirmed: list[Place]) -> tuple[str, ...]:
    """``("hedged",)`` when the value is softened."""
    return ("hedged",) if any(HEDGE.search(parts[p.sentence]) for p in affirmed) else ()
