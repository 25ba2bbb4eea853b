"""Finding the JSON value that a reply gives, in prose, fences and drafts.

A real decoder is tried at every ``{`` and ``[``; complete values are kept, and the last one that has an expected key
is the answer. What was mended is told, so that the strict score can refuse it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from speedqual.grading.lenientjson import CutOff, NotJson, mend
from speedqual.grading.normalise.numbers import ExactFloat

__all__ = ["Found", "find_json", "is_bare_json", "loads"]

MAX_CHARS = 2_000_000
MAX_FAILURES = 30
"""Broken values that are tried before the search stops: keeps a reply of a million brackets cheap."""


class _Repeated(ValueError):
    """One object gives a key twice."""


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _Repeated
    return made


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_float=ExactFloat, parse_constant=_refuse)


def loads(text: str) -> Any:
    """Strict JSON: no NaN, no key twice; fractions keep their digits. Raises ValueError."""
    try:
        value, end = _DECODER.raw_decode(text, len(text) - len(text.lstrip()))
    except RecursionError:
        raise ValueError("nested too deep") from None
    if text[end:].strip():
        raise ValueError("text after the value")
    return value


def is_bare_json(text: str) -> bool:
    """Whether the whole reply is one JSON object or list and nothing else."""
    if text.lstrip()[:1] not in {"{", "["}:
        return False
    try:
        loads(text)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Found:
    """The chosen value. ``how``: bare, fence, prose or "" when nothing was found.

    ``repairs`` maps the kind of repair to its count; ``cut``: the value has no end, ``value`` is what could be saved.
    """

    value: Any = None
    how: str = ""
    start: int = -1
    end: int = -1
    repairs: Mapping[str, int] = field(default_factory=dict)
    cut: bool = False
    broken: bool = False  # something begins like JSON and is none
    candidates: int = 0

    @property
    def exists(self) -> bool:
        """Whether a complete value was found."""
        return bool(self.how) and not self.cut


def find_json(text: str, keys: Collection[str] = (), *, want_list: bool = False) -> Found:
    """The value that ``text`` answers with. ``keys``: at the top of the object (or of the list's objects)."""
    text = text[:MAX_CHARS]
    if text.lstrip()[:1] in {"{", "["}:
        try:
            return Found(loads(text), "bare", 0, len(text), candidates=1)
        except ValueError:
            pass
    if inner := _quoted(text):
        found = find_json(inner, keys, want_list=want_list)
        return replace(found, repairs={**found.repairs, "quoted": 1}) if found.exists else found
    values = _scan(text)
    return _choose(text, values, frozenset(keys), want_list=want_list)


def _quoted(text: str) -> str:
    """The JSON that a JSON string holds, when the whole reply is one, else ""."""
    if text.lstrip()[:1] != '"' or '{\\"' not in text:
        return ""
    try:
        inner = loads(text)
    except ValueError:
        return ""
    return inner if isinstance(inner, str) and inner.lstrip()[:1] in {"{", "["} else ""


_LOOKS_LIKE_JSON = re.compile(
    r"\{\s{0,200}(?:[\"'“”`}]|//|/\*|#|[A-Za-z_]\w{0,60}\s{0,20}[:：])"
    r"|\[\s{0,200}(?:[\"'“{\[\]]|-?\d+(?:\.\d+)?\s*[,\]]|(?:true|false|null)\b)"
)


def _scan(text: str) -> list[Found]:
    """Every outermost value in order, complete or cut; what begins like JSON and is broken is kept as broken.

    A broken value may hold smaller whole ones: they are not the answer, so the scan goes on behind it.
    """
    found: list[Found] = []
    at = failures = 0
    while (opening := _LOOKS_LIKE_JSON.search(text, at)) and failures < MAX_FAILURES:
        start = opening.start()
        value = _value_at(text, start)
        if value is not None:
            found.append(value)
            at = value.end
            continue
        failures += 1
        end = _balanced_end(text, start)
        if text[start] == "{" or failures == 1:
            found.append(Found(start=start, end=end or len(text), broken=True))
        at = end or start + 1
    return found


def _value_at(text: str, start: int) -> Found | None:
    try:
        value, end = _DECODER.raw_decode(text, start)
        return Found(value, "prose", start, end)
    except (ValueError, RecursionError):
        pass
    try:
        mended = mend(text, start)
    except NotJson:
        return None
    except CutOff as cut:
        return Found(cut.recovered, "prose", start, len(text), cut=True)
    return Found(mended.value, "prose", start, mended.end, mended.repairs)


_BRACKET = re.compile(r"[{}\[\]]")


def _balanced_end(text: str, start: int) -> int | None:
    """Where the brackets that open at ``start`` balance, strings not looked at; None if never."""
    depth = 0
    for match in _BRACKET.finditer(text, start, start + 50_000):
        depth += 1 if match.group() in "{[" else -1
        if depth == 0:
            return match.end()
    return None


def _choose(text: str, values: list[Found], keys: frozenset[str], *, want_list: bool) -> Found:
    """The last complete value that fits; else one that was cut; else what is broken; else nothing."""
    fences = _fences(text)
    placed = [(v, _fence_of(v.start, fences)) for v in values]
    fitting = [(v, tag) for v, tag in placed if not v.broken and _fits(v.value, keys, want_list)]
    affirmed = [(v, tag) for v, tag in fitting if not _is_denied(text, v.start)] or fitting
    answers = [v for v, tag in affirmed if tag in _JSON_TAGS] or [v for v, _ in affirmed]
    broken = [v for v in values if v.broken]
    if answers and not any(b.start > answers[-1].end and _names(text[b.start : b.end], keys) for b in broken):
        return _placed(answers[-1], fences, len(values))
    if broken:
        return Found(broken=True, candidates=len(values))
    others = [v for v, tag in placed if tag in _JSON_TAGS and isinstance(v.value, (dict, list))]
    if others and _covers(text, others[-1], fences):
        return _placed(others[-1], fences, len(values))
    return Found(candidates=len(values))


def _names(text: str, keys: frozenset[str]) -> bool:
    """Whether a broken value was meant as the answer: it names an expected key."""
    return any(f'"{key}"' in text or f"'{key}'" in text for key in keys)


def _placed(value: Found, fences: list[tuple[int, int, str]], count: int) -> Found:
    how = "fence" if any(a <= value.start < b for a, b, _ in fences) else "prose"
    return Found(value.value, how, value.start, value.end, value.repairs, value.cut, candidates=count)


def _fits(value: Any, keys: frozenset[str], want_list: bool) -> bool:
    """Whether the value has an expected key, itself or in its rows. A list of anything fits when a list is wanted."""
    if isinstance(value, dict):
        return bool(keys & value.keys()) if keys else bool(value)
    if isinstance(value, list):
        rows = [row for row in value if isinstance(row, dict)]
        return any(keys & row.keys() for row in rows) if keys else want_list and bool(value)
    return False


_DENIED = re.compile(
    r"(?:\bnot|n't(?: \w+)?|\binstead of|\brather than|\bunlike|\bwrong|\bincorrect|\bnever|\bavoid|"
    r"\bexample|\binstance|\be\.g\.|\bdraft|不是|而非|错误|不要|并非|例如|比如|草稿)"
    r"[ ,，::：`'\"]*(?:[a-z]+ ?){0,2}[ ::：`'\"]*$",
    re.IGNORECASE,
)


def _is_denied(text: str, start: int) -> bool:
    """``not {"total": 13}``: the value is named to say what the answer is not."""
    return bool(_DENIED.search(text[max(0, start - 40) : start]))


def _covers(text: str, value: Found, fences: list[tuple[int, int, str]]) -> bool:
    """Whether the value is the body of the reply, or fenced, rather than something quoted in a text."""
    return _fence_of(value.start, fences) is not None or (value.end - value.start) * 2 >= len(text.strip())


_FENCE = re.compile(r"^[ \t]{0,3}(?P<marks>`{3,20}|~{3,20})[ \t]*(?P<tag>[^\n`]*)$", re.MULTILINE)
_JSON_TAGS = frozenset(
    {"", "json", "json5", "jsonc", "javascript", "js", "text", "txt", "plaintext", "output", "jsonl", None}
)


def _fences(text: str) -> list[tuple[int, int, str]]:
    """Start, end and tag of each fenced block; an unclosed one runs to the end."""
    blocks: list[tuple[int, int, str]] = []
    opening: re.Match[str] | None = None
    for mark in _FENCE.finditer(text):
        if opening is None:
            opening = mark
        elif (
            mark["marks"][0] == opening["marks"][0]
            and len(mark["marks"]) >= len(opening["marks"])
            and not mark["tag"].strip()
        ):
            blocks.append((opening.end(), mark.start(), _tag(opening)))
            opening = None
    if opening is not None:
        blocks.append((opening.end(), len(text), _tag(opening)))
    return blocks


def _tag(opening: re.Match[str]) -> str:
    words = re.split(r"[\s{.:,]+", opening["tag"].strip(" {.}").lower())
    return words[0] if words else ""


def _fence_of(start: int, fences: list[tuple[int, int, str]]) -> str | None:
    """The tag of the block around ``start``, None outside all."""
    return next((tag for a, b, tag in fences if a <= start < b), None)
