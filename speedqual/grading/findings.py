"""What is looked for in a reply, where it was found, and what was concluded: the words that fact graders share."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

from speedqual.grading.normalise import Settings

__all__ = ["MAX_PLACES", "NUMERIC", "Finding", "Place", "ValueFact"]

MAX_PLACES = 60
"""Mentions of one fact that are looked at."""
NUMERIC = frozenset(("number", "integer", "money", "percent", "ratio", "quantity"))


@dataclass(frozen=True, slots=True)
class ValueFact:
    """A value to be found. ``asked``: the question; ``alone``: the item has no other fact; ``others``: the values of
    those, folded."""

    id: str
    value: Any
    kind: str
    aliases: tuple[str, ...] = ()
    settings: Settings = field(default_factory=lambda: Settings(locale="en"))
    asked: str = ""
    alone: bool = True
    others: tuple[str, ...] = ()


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
    value: Decimal | None = None
