"""The full table: quality with its interval drawn, speeds with their tails, failures, cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from speedqual.display import numbers
from speedqual.report.context import Context
from speedqual.report.page import Part, fill

__all__ = ["section"]


def section(context: Context) -> Part | None:
    """Absent when no trial was finished."""
    if not len(context.board):
        return None
    front = set(context.frontier.front) if context.frontier is not None else set()
    dates = {name: (price or {}).get("as_of") or "" for name, price in context.manifest["prices"].items()}
    rows = [_row(row, front) | {"priced": dates.get(row["candidate"], "")} for row in context.board.to_dict("records")]
    body = fill("candidates.html.j2", context.words, rows=rows, floor=context.floor, local=context.local, n=numbers)
    return Part("candidates", context.words("table.heading"), body)


def _row(row: Mapping[Any, Any], front: set[str]) -> dict[str, Any]:
    return {str(key): None if numbers.missing(value) else value for key, value in row.items()} | {
        "on_front": row["candidate"] in front
    }
