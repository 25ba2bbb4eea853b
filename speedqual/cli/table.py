"""A plain table for a terminal: aligned by display width, so that Chinese names line up; hostile text made visible."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from speedqual.display.safe import visible

__all__ = ["text_table", "width"]


def width(text: str) -> int:
    """Columns that ``text`` takes in a terminal: two for wide characters, none for combining ones."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The rows under their heads; the first column to the left, all others to the right."""
    cells = [[visible(cell, 60).replace("\n", " ") for cell in row] for row in (head, *rows)]
    widths = [max(width(row[column]) for row in cells) for column in range(len(head))]
    lines = [_line(row, widths) for row in cells]
    return "\n".join([lines[0], "  ".join("─" * size for size in widths), *lines[1:]])


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = (" " * (size - width(cell)) for cell, size in zip(row, widths, strict=True))
    return "  ".join([row[0] + first, *(pad + cell for pad, cell in zip(others, row[1:], strict=True))]).rstrip()
