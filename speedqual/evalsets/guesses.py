"""What the columns say when the card does not: which grader, which prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["guess_grader", "guess_prompt"]

Rows = Iterable[Mapping[str, Any]]

FACT_COLUMNS = ("facts", "forbidden", "unanswerable")


def guess_grader(rows: Rows) -> str:
    """The grader that the columns choose; empty when they choose none.

    tests → code; facts, forbidden or unanswerable → facts; a target with only ``answer`` → exact; else extraction.
    """
    targets = []
    for row in rows:
        if row.get("tests") is not None:
            return "code"
        if any(row.get(column) is not None for column in FACT_COLUMNS):
            return "facts"
        if row.get("target") is not None:
            targets.append(row["target"])
    if not targets:
        return ""
    return "exact" if all(isinstance(t, dict) and set(t) == {"answer"} for t in targets) else "extraction"


def guess_prompt(rows: list[Mapping[str, Any]], grader: str) -> str:
    """A prompt from the columns ``prompt``, ``question``, ``text``, ``context``; empty when there are none of them.

    Extraction over bare text needs an instruction; it names the keys of all targets, so that it gives nothing away.
    """
    columns = {column for row in rows for column, value in row.items() if value is not None}
    if "prompt" in columns:
        return "{prompt}"
    if "question" in columns:
        source = next((f"{{{column}}}\n\n" for column in ("context", "text") if column in columns), "")
        return source + "{question}"
    if "text" not in columns:
        return ""
    if grader != "extraction":
        return "{text}"
    keys = dict.fromkeys(key for row in rows if isinstance(row.get("target"), dict) for key in row["target"])
    named = f" with the keys {', '.join(keys)}" if keys else ""
    return f"Return only JSON{named}. Use null for what the text does not say.\n\n{{text}}"
