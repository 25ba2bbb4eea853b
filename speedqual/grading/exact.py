"""Grade one answer that is known exactly: a number, a string or a choice, found in whatever words surround it.

``item.target`` is ``{"answer": …}`` (also a list of numbers), ``grader: {type: number | string | choice}``; without a
type it is told from the gold. A marked answer (``\\boxed{29}``, "the answer is 29", "####") wins; otherwise the rules
of the facts grader apply: what is denied is not the answer, and two that are offered are ambiguous. The last number of
a reply is not taken just for being last.

With ``final: true`` an answer that is not marked counts only in the last sentence: for questions whose own words hold
the answer among others, so that repeating them is none. ``score_lenient`` still takes the whole reply.

Options: ``type``, ``tolerance`` (default 1e-6 relative for a fraction, none for an integer), ``locale``, ``choices``,
``final``, ``aliases`` (column, ``aliases``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from speedqual.errors import EvalSetError
from speedqual.grading.jsontext import find_json
from speedqual.grading.mentions import numbers_in, prepare
from speedqual.grading.normalise import KINDS, Settings, Tolerance, compare, kind_of, read
from speedqual.grading.options import one_of, options_of, settings_of
from speedqual.grading.refusals import sentences
from speedqual.grading.reply import Reply, failed, look, nothing_given
from speedqual.grading.text import fold, plain
from speedqual.grading.valuefacts import Finding, ValueFact, judge_value
from speedqual.records import Answer, EvalSet, Failure, Grade, Item

__all__ = ["VERSION", "ExactGrader", "make"]

VERSION = "1"
OPTIONS = frozenset(["type", "tolerance", "locale", "date_order", "choices", "final"])
TYPES = ("", "choice", *KINDS)
FLOAT_TOLERANCE = Tolerance(absolute=Decimal("1e-12"), relative=Decimal("1e-6"))
_FAILURES: dict[str, Failure] = {
    "contradicted": "wrong_result",
    "ambiguous": "ambiguous",
    "missing": "no_answer",
    "unverifiable": "unverifiable",
}


def make(evalset: EvalSet) -> ExactGrader:
    """The grader that the card declares. Raises EvalSetError for an unknown option, or a target without answer."""
    options = options_of(evalset, OPTIONS)
    where = f"eval set {evalset.name}"
    kind = one_of(options, "type", TYPES, where)
    settings = settings_of(options, where)
    choices = tuple(str(c) for c in options.get("choices") or ())
    for item in evalset.items:
        _gold(item, where)
    final = options.get("final", False)
    if not isinstance(final, bool):
        raise EvalSetError(f"final is {final!r}", where=f"{where}, grader.final", fix="Write true or false")
    return ExactGrader(kind, settings if settings.locale else replace(settings, locale="en"), choices, final)


def _gold(item: Item, where: str = "") -> Any:
    target = item.target
    if isinstance(target, Mapping) and "answer" in target:
        return target["answer"]
    raise EvalSetError("the target has no answer", where=f"{where}, item {item.id}, target", fix='Write {"answer": …}')


@dataclass(frozen=True, slots=True)
class ExactGrader:
    """``(answer, item) -> Grade`` for one card."""

    kind: str
    settings: Settings
    choices: tuple[str, ...]
    final: bool = False
    name: str = "exact"

    def __call__(self, answer: Answer, item: Item) -> Grade:
        """Judge one reply."""
        gold, reply = _gold(item), look(answer)
        marked, how = _marked(reply.text)
        kind = self.kind or (
            "choice" if _is_letter(gold) else kind_of(gold) if not isinstance(gold, list) else "number"
        )
        if isinstance(gold, list):
            return self._list(gold, kind, answer, reply, item)
        finding = self._find(gold, kind, marked, item)
        if finding.status != "supported" and marked != reply.text and finding.status in ("missing", "unverifiable"):
            finding, how = self._find(gold, kind, reply.text, item), "whole reply"
        if self.final and how == "whole reply" and kind != "choice":
            finding, how, whole = self._find(gold, kind, _last(reply.text), item), "last sentence", finding
            if finding.status != "supported" and whole.status == "supported":
                return replace(_grade(0.0, finding, how, reply), score_lenient=1.0)
        if finding.status == "supported":
            return _grade(1.0, finding, how, reply)
        silent = (
            nothing_given(reply, answer, version=VERSION)
            if finding.status != "contradicted" or not finding.at
            else None
        )
        if silent is not None and not (kind == "string" and compare("string", reply.text, gold).equal):
            return silent
        if reply.unfinished and finding.status in ("missing", "unverifiable"):
            return failed("truncated", "the token limit came before the answer", version=VERSION, flags=reply.flags)
        return _grade(0.0, finding, how, reply)

    def _find(self, gold: Any, kind: str, text: str, item: Item) -> Finding:
        if kind == "choice":
            return _choice(str(gold), text, self.choices or _row_choices(item))
        aliases = tuple(str(a) for a in item.row.get("aliases") or ())
        tolerance = self.settings.tolerance or (FLOAT_TOLERANCE if _is_fraction(gold, kind) else None)
        settings = replace(self.settings, tolerance=tolerance)
        fact = ValueFact("answer", gold, kind, aliases, settings, str(item.row.get("question") or ""))
        return judge_value(fact, prepare(text), "")

    def _list(self, gold: list[Any], kind: str, answer: Answer, reply: Reply, item: Item) -> Grade:
        """A list of values in the order of the gold, as JSON or as numbers in the text."""
        found = find_json(reply.text, want_list=True)
        given: list[Any] = found.value if found.exists and isinstance(found.value, list) else []
        if not given and kind == "number":
            given = [str(m.value) for p in prepare(_marked(reply.text)[0]) for m in numbers_in(p, self.settings)]
        if not given:
            silent = nothing_given(reply, answer, version=VERSION)
            return silent or failed("wrong_format", "there is no list in the reply", version=VERSION, flags=reply.flags)
        right = len(given) == len(gold) and all(map(self._same, given, gold))
        finding = Finding(
            "supported" if right else "contradicted", "" if right else "the list differs", str(given)[:200]
        )
        return _grade(float(right), finding, found.how or "numbers in order", reply)

    def _same(self, got: Any, want: Any) -> bool:
        kind = kind_of(want)
        tolerance = self.settings.tolerance or (FLOAT_TOLERANCE if _is_fraction(want, kind) else None)
        return (
            not isinstance(got, (dict, list))
            and compare(kind, got, want, replace(self.settings, tolerance=tolerance)).equal
        )


def _last(text: str) -> str:
    """The last sentence of the reply."""
    parts = sentences(plain(text))
    return parts[-1] if parts else text


def _is_fraction(gold: Any, kind: str) -> bool:
    if kind not in ("number", "percent", "quantity", "ratio", "money"):
        return False
    reading = read("number", gold, Settings(locale="en"))
    return not reading.fault and reading.value != reading.value.to_integral_value()


def _is_letter(gold: Any) -> bool:
    return isinstance(gold, str) and bool(re.fullmatch(r"\(?[A-Z]\)?", gold.strip()))


def _row_choices(item: Item) -> tuple[str, ...]:
    value = item.row.get("choices") or item.row.get("options") or ()
    return (
        tuple(str(v) for v in (value.values() if isinstance(value, Mapping) else value))
        if not isinstance(value, str)
        else ()
    )


def _grade(score: float, finding: Finding, how: str, reply: Reply) -> Grade:
    return Grade(
        score=score,
        verdict="pass" if score else "fail",
        failure="none" if score else _FAILURES[finding.status],
        score_lenient=score,
        why=finding.why or f"the answer is {finding.at}",
        how=how,
        extracted=finding.at or None,
        flags=tuple(sorted({*reply.flags, *finding.flags})),
        parts={},
        version=VERSION,
    )


_BOXED = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_HASHES = re.compile(r"^####[ \t]*(.+)$", re.MULTILINE)
_SAYS = re.compile(
    r"(?:\b(?:final |correct |right )?(?:answer|solution)(?:\s+is)?\s*(?::|is\b)|\banswer\s*=|(?:最终)?答案(?:是|"
    r"为|：|:))[ \t]*\n?[ \t]*(?P<rest>[^\n]+)",
    re.IGNORECASE,
)


_AGAIN = re.compile(r"\b(?:answer|solution)(?:\s+is)?\s*(?::|is\b)(?=\s*\S)\s*", re.IGNORECASE)
"""The last of several marks on one line holds."""


def _marked(text: str) -> tuple[str, str]:
    """The marked answer and how it was marked; the whole text when nothing is."""
    for pattern, how in ((_BOXED, "boxed"), (_HASHES, "####")):
        hits = pattern.findall(text)
        if hits:
            return str(hits[-1]), how
    said = list(_SAYS.finditer(text))
    if said and not re.match(r"\W*(?:not|n't|不是)\b", said[-1]["rest"], re.IGNORECASE):
        return _AGAIN.split(said[-1]["rest"])[-1], "the answer is"
    return text, "whole reply"


_LETTER = re.compile(r"(?<![A-Za-z0-9'])[(\[（]?([A-Z])[)\]）]?(?![A-Za-z0-9'])")
_DENIED_LETTER = re.compile(
    r"(?:\bnot|n't(?: be)?|\brather than|\binstead of|\bruled? out|\beliminate|不是|并非|排除|"
    r"而非)\s*(?:option |choice |选项?)?[(（]?$",
    re.IGNORECASE,
)


def _choice(gold: str, text: str, choices: tuple[str, ...]) -> Finding:
    """A letter, or the text of the choice. A letter that is denied, or "A" as an article, is none."""
    letter = gold.strip().strip("()").upper()
    cleaned = plain(text).strip()
    letters = [
        m[1]
        for m in _LETTER.finditer(cleaned)
        if not _DENIED_LETTER.search(cleaned[max(0, m.start() - 24) : m.start()]) and not _is_word(cleaned, m)
    ]
    given = list(dict.fromkeys(letters))
    if not given and len(cleaned) == 1 and cleaned.isascii() and cleaned.isalpha():
        given = [cleaned.upper()]
    if len(given) > 1:
        last = _concluding(cleaned)
        given = [last] if last else given
    if len(given) == 1:
        right = given[0] == letter or _text_of(given[0], choices) == fold(gold)
        return Finding("supported" if right else "contradicted", "" if right else f"{given[0]} is chosen", given[0])
    if given:
        return Finding("ambiguous", f"{', '.join(given)} are all named", ", ".join(given))
    return _choice_text(letter, gold, cleaned, choices)


def _is_word(text: str, match: re.Match[str]) -> bool:
    """``A`` the article and ``I`` the pronoun: a bare capital followed by a lower-case word."""
    bare = match.group() == match[1] and match[1] in "AI"
    return bare and bool(
        re.match(r" (?!(?:or|and|is|was|because|since|seems|looks|would|isn't)\b)[a-z]", text[match.end() :])
        or re.match(r"['’]", text[match.end() :])
    )


_CONCLUDES = re.compile(
    r"(?:\b(?:therefore|thus|so|hence|choose|chose|pick|select|correct (?:answer|option|choice) is|"
    r"answer:?)\b|所以|因此|故选|应选|选择?|正确的是)[^A-Za-z\n]{0,3}(?:the answer is |option |choice "
    r"|is )?[(（]?([A-Z])(?![A-Za-z])",
    re.IGNORECASE,
)


def _concluding(text: str) -> str:
    hits = [m[1].upper() for m in _CONCLUDES.finditer(text) if m[1].isupper()]
    return hits[-1] if hits else ""


def _text_of(letter: str, choices: tuple[str, ...]) -> str:
    index = ord(letter) - ord("A")
    return fold(choices[index]) if index < len(choices) else ""


def _choice_text(letter: str, gold: str, text: str, choices: tuple[str, ...]) -> Finding:
    """No letter: the reply names the text of exactly one choice."""
    if not choices:
        same = fold(text).strip(" .。") == fold(gold)
        return Finding("supported", "", text) if same else Finding("missing", "no choice is named")
    folded = fold(text)
    named = [c for c in choices if re.search(rf"(?<!\w){re.escape(fold(c))}(?!\w)", folded)]
    named = [c for c in named if not any(c != o and fold(c) in fold(o) for o in named)]
    named = [c for c in named if len(c) > 1 or len(folded) <= 30 or re.search(f"[\"“'「]{re.escape(c)}[\"”'」]", text)]
    if len(named) != 1:
        return Finding("ambiguous" if named else "missing", "no single choice is named", ", ".join(named))
    want = _text_of(letter, choices) if len(letter) == 1 else fold(gold)
    right = fold(named[0]) in (want, fold(gold))
    return Finding("supported" if right else "contradicted", "" if right else f"{named[0]} is chosen", named[0])
