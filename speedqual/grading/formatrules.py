"""The rules of form that a reply can be held to, by name. Each is read once from its row and gives a check.

Numbers come as ``min``, ``max`` or ``exactly``. Words are runs of letters and digits, and each Chinese or Japanese
character counts as one; characters are all that are no white space. A list item is a line that begins with a bullet or
a number.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

from speedqual.errors import EvalSetError
from speedqual.grading.formatjson import json_check
from speedqual.grading.languages import LANGUAGES, share_of
from speedqual.grading.text import fold

__all__ = ["RULES", "read_rule"]

Check = Callable[[str], str]


class Slip(ValueError):
    """A parameter that a rule cannot have."""


def read_rule(row: Any, where: str) -> tuple[str, Check]:
    """Name and check of one rule. Raises EvalSetError for a name or a parameter that is not known."""
    name = row.get("rule") if isinstance(row, Mapping) else None
    if not isinstance(name, str) or name not in RULES:
        fix = f"Use one of: {', '.join(RULES)}"
        raise EvalSetError(f"unknown rule {name!r}", where=where, fix=fix)
    read, allowed = RULES[name]
    given = {key: value for key, value in row.items() if key != "rule" and value is not None}
    unknown = sorted(set(given) - set(allowed))
    if unknown:
        fix = f"Use one of: {', '.join(allowed)}" if allowed else "Remove it"
        raise EvalSetError(f"the rule {name} has no parameter {unknown[0]!r}", where=where, fix=fix)
    try:
        return name, read(given)
    except Slip as slip:
        raise EvalSetError(f"the rule {name}: {slip}", where=where, fix=f"It takes: {', '.join(allowed)}") from None


# ------------------------------------------------------------------------------------------------------ parameters


def _count_range(given: Mapping[str, Any]) -> tuple[int, int | None]:
    """Least and most; None = no limit."""
    for key in ("min", "max", "exactly"):
        value = given.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
            raise Slip(f"{key} is {value!r}, no whole number")
    if "exactly" in given:
        return given["exactly"], given["exactly"]
    if "min" not in given and "max" not in given:
        raise Slip("it needs min, max or exactly")
    low, high = given.get("min", 0), given.get("max")
    if high is not None and high < low:
        raise Slip("max is below min")
    return low, high


def _texts(given: Mapping[str, Any]) -> tuple[str, ...]:
    """``text`` or ``texts``, none empty."""
    value = given.get("texts", given.get("text"))
    values = value if isinstance(value, list) else [value]
    if not values or not all(isinstance(one, str) and one.strip() for one in values):
        raise Slip("text must be a text, texts a list of texts")
    return tuple(values)


def _counted(what: str, count: Callable[[str], int]) -> Callable[[Mapping[str, Any]], Check]:
    """A rule that counts one thing."""

    def read(given: Mapping[str, Any]) -> Check:
        low, high = _count_range(given)

        def check(text: str) -> str:
            n = count(text)
            return "" if n >= low and (high is None or n <= high) else f"{n} {what}, not {_range(low, high)}"

        return check

    return read


def _range(low: int, high: int | None) -> str:
    if high is None:
        return f"at least {low}"
    return str(low) if low == high else f"{low} to {high}" if low else f"at most {high}"


# --------------------------------------------------------------------------------------------------------- counts

_CJK = r"\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+(?:['’\-][^\W_{_CJK}]+)*")
_ITEM = re.compile(
    r"^[ \t]*(?:(?P<bullet>[-*+](?=[ \t])|[•·])|(?P<number>\d{1,3}(?:[.)](?=[ \t])|[、．）])))[ \t]*(?P<text>\S.*)$",
    re.MULTILINE,
)
_MARKER = re.compile(r"^[ \t]*(?:[-*+•·]|\d{1,3}[.)、])[ \t]+", re.MULTILINE)
_SENTENCE_END = re.compile(r"[.!?]+[\"'”’)\]]*(?=\s|$)|[。！？]+[”’」』）]*|[:：](?=[ \t]*\n)")


def words(text: str) -> list[str]:
    """Words in order; a Chinese or Japanese character is one."""
    return _WORD.findall(text)


def _sentences(text: str) -> int:
    """Ends of sentences, and a rest without one. A line that announces the next one with a colon counts."""
    text = _MARKER.sub("", text)
    ends = list(_SENTENCE_END.finditer(text))
    rest = text[ends[-1].end() :] if ends else text
    return len(ends) + bool(words(rest))


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _paragraphs(text: str) -> int:
    return len([part for part in re.split(r"\n[ \t]*\n", text) if part.strip()])


def _items(text: str, kind: str) -> list[str]:
    return [match["text"].strip() for match in _ITEM.finditer(text) if match[kind]]


def _characters(text: str) -> int:
    return sum(not character.isspace() for character in text)


# ---------------------------------------------------------------------------------------------------------- words


def _contains(given: Mapping[str, Any]) -> Check:
    wanted = [(one, fold(one)) for one in _texts(given)]

    def check(text: str) -> str:
        folded = fold(text)
        lacking = [one for one, key in wanted if key not in folded]
        return f"does not contain {lacking[0]!r}" if lacking else ""

    return check


def _avoids(given: Mapping[str, Any]) -> Check:
    banned = [(one, fold(one)) for one in _texts(given)]

    def check(text: str) -> str:
        folded = fold(text)
        found = [one for one, key in banned if key in folded]
        return f"contains {found[0]!r}" if found else ""

    return check


def _avoids_words(given: Mapping[str, Any]) -> Check:
    banned = {fold(one): one for one in _texts(given)}

    def check(text: str) -> str:
        found = banned.keys() & set(words(fold(text)))
        return f"has the word {banned[min(found)]!r}" if found else ""

    return check


def _times(given: Mapping[str, Any]) -> Check:
    (wanted,) = _texts({"text": given.get("text")})
    low, high = _count_range(given)

    def check(text: str) -> str:
        n = fold(text).count(fold(wanted))
        return "" if n >= low and (high is None or n <= high) else f"{wanted!r} stands there {n} times"

    return check


def _starts(given: Mapping[str, Any]) -> Check:
    (wanted,) = _texts(given)
    return lambda text: "" if text.strip().startswith(wanted) else f"does not begin with {wanted!r}"


def _ends(given: Mapping[str, Any]) -> Check:
    (wanted,) = _texts(given)
    return lambda text: "" if text.strip().endswith(wanted) else f"does not end with {wanted!r}"


def _one_of(given: Mapping[str, Any]) -> Check:
    allowed = {one.strip() for one in _texts(given)}
    return lambda text: "" if text.strip() in allowed else f"is none of {', '.join(sorted(allowed))}"


# --------------------------------------------------------------------------------------------------------- layout


def _case(given: Mapping[str, Any]) -> Check:
    kind = given.get("is")
    if kind not in ("upper", "lower"):
        raise Slip("is must be upper or lower")

    def check(text: str) -> str:
        letters = [one for one in text if one.isalpha() and one.lower() != one.upper()]
        wrong = [one for one in letters if (one.islower() if kind == "upper" else one.isupper())]
        return "" if letters and not wrong else f"is not all in {kind} case"

    return check


def _language(given: Mapping[str, Any]) -> Check:
    wanted = given.get("is")
    if not isinstance(wanted, str) or wanted not in LANGUAGES:
        raise Slip(f"is must be one of {', '.join(LANGUAGES)}")
    least, most = (given.get(name, default) for name, default in (("min", 0.7), ("max", 1)))
    if not all(isinstance(share, (int, float)) and 0 <= share <= 1 for share in (least, most)):
        raise Slip("min and max are shares from 0 to 1")
    least = 0 if "max" in given and "min" not in given else least

    def check(text: str) -> str:
        share = share_of(wanted, text)
        if share < least:
            return f"is not in the language {wanted}"
        return f"has too much of the language {wanted}" if share > most else ""

    return check


def _line_length(given: Mapping[str, Any]) -> Check:
    """Characters of each line without spaces."""
    exactly = given.get("exactly")
    if isinstance(exactly, bool) or not isinstance(exactly, int) or exactly < 1:
        raise Slip("exactly must be a whole number above 0")

    def check(text: str) -> str:
        wrong = [line for line in _lines(text) if _characters(line) != exactly]
        return f"{len(wrong)} lines have not {exactly} characters" if wrong else ""

    return check


def _table(given: Mapping[str, Any]) -> Check:
    """A Markdown table with so many columns and rows under its head."""
    wanted = {key: given.get(key) for key in ("columns", "rows")}
    if not all(isinstance(n, int) and not isinstance(n, bool) and n > 0 for n in wanted.values()):
        raise Slip("columns and rows must be whole numbers above 0")

    def check(text: str) -> str:
        lines = [line for line in _lines(text) if line.startswith("|") and line.endswith("|")]
        cells = [len(line.strip("|").split("|")) for line in lines]
        if len(lines) < 3 or not re.fullmatch(r"[\s|:\-]+", lines[1]):
            return "has no Markdown table"
        if set(cells) != {wanted["columns"]}:
            return f"the table has not {wanted['columns']} columns everywhere"
        return "" if len(lines) - 2 == wanted["rows"] else f"the table has {len(lines) - 2} rows"

    return check


def _sorted(given: Mapping[str, Any]) -> Check:
    def check(text: str) -> str:
        found = [fold(one) for one in (_items(text, "bullet") or _items(text, "number") or _lines(text))]
        return "" if len(found) > 1 and found == sorted(found) else "the lines are not in alphabetical order"

    return check


def _acrostic(given: Mapping[str, Any]) -> Check:
    (wanted,) = _texts(given)

    def check(text: str) -> str:
        first = "".join(line.lstrip("-*# ")[:1] for line in _lines(text))
        return "" if fold(first) == fold(wanted) else f"the lines begin with {first[:40]!r}"

    return check


def _no_fence(given: Mapping[str, Any]) -> Check:
    return lambda text: "has a code fence" if "```" in text or "~~~" in text else ""


def _quoted(given: Mapping[str, Any]) -> Check:
    pairs = {'"': '"', "“": "”", "「": "」"}

    def check(text: str) -> str:
        bare = text.strip()
        return "" if len(bare) > 2 and pairs.get(bare[0]) == bare[-1] else "is not in quotation marks"

    return check


def _is_symbol(character: str) -> bool:
    return unicodedata.category(character) == "So"


def _json(given: Mapping[str, Any]) -> Check:
    try:
        return json_check(given.get("schema"), given.get("fence", False))
    except EvalSetError as fault:
        raise Slip(str(fault)) from None


_N = ("min", "max", "exactly")
RULES: dict[str, tuple[Callable[[Mapping[str, Any]], Check], tuple[str, ...]]] = {
    "words": (_counted("words", lambda text: len(words(text))), _N),
    "characters": (_counted("characters", _characters), _N),
    "sentences": (_counted("sentences", _sentences), _N),
    "paragraphs": (_counted("paragraphs", _paragraphs), _N),
    "lines": (_counted("lines", lambda text: len(_lines(text))), _N),
    "bullets": (_counted("bullets", lambda text: len(_items(text, "bullet"))), _N),
    "numbered": (_counted("numbered points", lambda text: len(_items(text, "number"))), _N),
    "headings": (_counted("headings", lambda text: len(re.findall(r"^#{1,6} \S", text, re.MULTILINE))), _N),
    "emoji": (_counted("emoji", lambda text: sum(map(_is_symbol, text))), _N),
    "digits": (_counted("digits", lambda text: sum(map(str.isdigit, text))), _N),
    "commas": (_counted("commas", lambda text: len(re.findall("[,，]", text))), _N),
    "contains": (_contains, ("text", "texts")),
    "avoids": (_avoids, ("text", "texts")),
    "avoids_words": (_avoids_words, ("text", "texts")),
    "times": (_times, ("text", *_N)),
    "starts_with": (_starts, ("text",)),
    "ends_with": (_ends, ("text",)),
    "one_of": (_one_of, ("texts",)),
    "case": (_case, ("is",)),
    "language": (_language, ("is", "min", "max")),
    "line_characters": (_line_length, ("exactly",)),
    "table": (_table, ("columns", "rows")),
    "sorted": (_sorted, ()),
    "acrostic": (_acrostic, ("text",)),
    "no_fence": (_no_fence, ()),
    "quoted": (_quoted, ()),
    "json": (_json, ("schema", "fence")),
}
"""Every rule: how it is read, and its parameters."""
