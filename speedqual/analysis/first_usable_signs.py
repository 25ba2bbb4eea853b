"""How early a wrong direction of an answer could have been seen, from its text and what was asked.

Called for answers that turned out wrong only: each sign is one that a watcher of the stream could have acted on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from speedqual.analysis.first_usable_code import Piece
from speedqual.analysis.first_usable_json import JsonField, JsonScan
from speedqual.grading.base import Grader
from speedqual.grading.fields import Leaf, Node, Record
from speedqual.grading.normalise import compare, kind_of
from speedqual.grading.text import is_refusal

__all__ = ["Sign", "SignKind", "json_sign", "name_sign", "piece_sign", "refusal_sign"]

SignKind = Literal["refusal", "grammar", "wrong_field", "wrong_name", "does_not_compile"]
_SENTENCE = re.compile(r"[.!?]+(?=\s|\Z)|[。！？\n]")
_SENTENCES = 6


class Sign(NamedTuple):
    """``end``: characters of the answer after which it was there."""

    kind: SignKind
    end: int
    why: str


def refusal_sign(text: str) -> Sign | None:
    """The first sentence after which the text reads as a refusal."""
    for _, found in zip(range(_SENTENCES), _SENTENCE.finditer(text), strict=False):
        if is_refusal(text[: found.end()]):
            return Sign("refusal", found.end(), "it refuses")
    return None


def json_sign(scan: JsonScan, target: Any, grader: Grader) -> Sign | None:
    """The first break of strict JSON or the first closed field that differs from the gold, whichever came first."""
    wrong = next((one for one in scan.fields if _is_wrong(one, target, grader)), None)
    breaks = Sign("grammar", scan.broken, "no strict JSON from here on") if scan.broken is not None else None
    if wrong is not None and (breaks is None or wrong.end <= breaks.end):
        return Sign("wrong_field", wrong.end, f"{wrong.path} is wrong")
    return breaks


def _is_wrong(one: JsonField, target: Any, grader: Grader) -> bool:
    """A leaf outside of lists, which may stand in any order, whose value is another one by its declared type."""
    if not one.is_leaf or "[" in one.path or not isinstance(target, Mapping):
        return False
    node: Node = getattr(grader, "node", Record())
    want: Any = target
    for name in one.path.split("."):
        if not isinstance(want, Mapping) or name not in want:
            return False
        want = want[name]
        node = node.fields.get(name, Leaf()) if isinstance(node, Record) else Leaf()
    if want is None or one.value is None or isinstance(want, (dict, list)):
        return want is None and one.value is not None
    leaf = node if isinstance(node, Leaf) else Leaf()
    return not compare(leaf.kind or kind_of(want), one.value, want, leaf.settings).equal


def name_sign(pieces: list[Piece], entry_point: str) -> Sign | None:
    """The first function, when none of them has the name that was asked for."""
    wanted = entry_point.partition(".")[0]
    if not pieces or not wanted or any(piece.name == wanted for piece in pieces):
        return None
    return Sign("wrong_name", pieces[0].named, f"{pieces[0].name or 'a function'} where {wanted} was asked for")


def piece_sign(pieces: list[Piece], compiles: Callable[[str], bool | None]) -> Sign | None:
    """The first closed function, when the program up to its end does not compile."""
    if pieces and compiles(pieces[0].source) is False:
        return Sign("does_not_compile", pieces[0].end, f"{pieces[0].name} does not compile")
    return None
