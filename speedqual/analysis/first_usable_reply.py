"""Reading one reply: its first usable part and the first sign of a wrong way, as characters that had come."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice

from speedqual.analysis.first_usable_code import BRACED, Piece, closed_pieces
from speedqual.analysis.first_usable_html import first_element
from speedqual.analysis.first_usable_json import scan_json
from speedqual.analysis.first_usable_signs import Sign, json_sign, name_sign, piece_sign, refusal_sign
from speedqual.grading.base import Grader, grader_for
from speedqual.grading.code.cases import spec_of
from speedqual.grading.code.found import canonical_language
from speedqual.records import EvalSet, Item

__all__ = ["Found", "ReplyReader"]


@dataclass(frozen=True)
class Found:
    """The first usable part as characters that had come, or why there is none; and the first sign of a wrong way."""

    end: int | None = None
    reason: str = ""
    sign: Sign | None = None


class ReplyReader:
    """Reads replies to one eval set; its front ends stay warm."""

    def __init__(self, evalset: EvalSet, tries: int) -> None:
        self.grader: Grader | None = None
        self.name, self.evalset, self.tries = evalset.grader.name, evalset, tries

    def part(self, item: Item) -> str | None:
        """What of a reply is usable by itself; None when nothing of this task is."""
        if self.name == "extraction":
            return "field"
        language = self.language(item)
        if self.name != "code":
            return None
        named = {"json": "field", "html": "element", "python": "function"}
        return named.get(language) or ("function" if language in BRACED else None)

    def language(self, item: Item) -> str:
        word = item.row.get("language") or self.evalset.grader.options.get("language") or "python"
        return canonical_language(str(word))

    def find(self, text: str, item: Item, *, ended: bool, wrong: bool) -> Found:
        """``wrong``: the answer turned out wrong, so that signs of it are looked for."""
        refuses = refusal_sign(text) if wrong else None
        part = self.part(item)
        if part == "field":
            return self.field(text, item, refuses, wrong=wrong)
        if part == "element":
            shown = first_element(text)
            return Found(shown[1] if shown else None, "" if shown else "no element that can be shown", refuses)
        pieces = list(islice(closed_pieces(text, self.language(item), ended=ended), self.limit(item)))
        compiles = partial(self.compiles, self.language(item))
        usable = next((piece for piece in pieces if compiles(piece.source)), None)
        reason = "" if usable else "no function that compiles" if pieces else "no closed function"
        sign = _first(refuses, self.wrong_way(pieces, item, compiles)) if wrong else None
        return Found(usable.end if usable else None, reason, sign)

    def limit(self, item: Item) -> int:
        return self.tries if self.language(item) == "python" else min(4, self.tries)

    def field(self, text: str, item: Item, refuses: Sign | None, *, wrong: bool) -> Found:
        keys = item.target if isinstance(item.target, Mapping) else ()
        scan = scan_json(text, frozenset(map(str, keys)))
        reason = "" if scan.fields else "no complete field" if scan.begun else "no JSON"
        sign = json_sign(scan, item.target, self.own_grader) if wrong else None
        return Found(scan.fields[0].end if scan.fields else None, reason, _first(refuses, sign))

    @property
    def own_grader(self) -> Grader:
        self.grader = self.grader or grader_for(self.evalset)
        return self.grader

    def wrong_way(self, pieces: list[Piece], item: Item, compiles: Callable[[str], bool | None]) -> Sign | None:
        named = name_sign(pieces, spec_of(item.row, f"item {item.id}").entry_point)
        return _first(named, piece_sign(pieces, compiles))

    def compiles(self, language: str, source: str) -> bool | None:
        compiles = getattr(self.own_grader, "compiles", None)
        known: bool | None = compiles(source, language) if compiles is not None else None
        return known


def _first(*signs: Sign | None) -> Sign | None:
    return min((sign for sign in signs if sign is not None), key=lambda sign: sign.end, default=None)
