"""Tables as sections build them: cells that know their text and the number to sort them by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from speedqual.display import numbers

__all__ = ["Cell", "Head", "Row", "Table", "between", "text", "value"]


@dataclass(frozen=True, slots=True)
class Cell:
    """``small``: lines in small print beneath; ``order``: what sorting goes by, None = the text; ``bar``: mean, lower
    and upper end and floor of a quality, to be drawn; ``link``: an anchor of this page."""

    text: str
    small: tuple[str, ...] = ()
    order: float | None = None
    is_text: bool = False
    bar: tuple[float, float, float, float | None] | None = None
    link: str = ""


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a column, with small print; ``is_text``: of a column of words."""

    text: str
    small: str = ""
    is_text: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A named row; ``marked``: it is on the frontier; ``note``: what to know of it before its figures."""

    name: str
    cells: tuple[Cell, ...]
    marked: bool = False
    candidate: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """``label`` says what it is to those who cannot see it."""

    label: str
    head: Sequence[Head]
    rows: Sequence[Row] = field(default_factory=tuple)
    caption: str = ""
    first: str = ""


def text(words: str, *small: str, link: str = "") -> Cell:
    """A cell of words."""
    return Cell(words, tuple(line for line in small if line), is_text=True, link=link)


def value(shown: str, order: Any, *small: str) -> Cell:
    """A number as it is shown, and as it is sorted."""
    known = None if order is None or numbers.missing(order) else float(order)
    return Cell(shown, tuple(line for line in small if line), known)


def between(lo: str, hi: str) -> str:
    """An interval; empty where there is none."""
    return "" if lo == hi == numbers.DASH else f"[{lo}, {hi}]"
