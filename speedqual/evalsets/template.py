"""Fill a prompt: only ``{column}`` is replaced, in one pass. Attributes, indexes, formats and all other braces stay.

Nothing is evaluated, so a hostile card or row can reach nothing; a value that itself contains ``{column}`` is not
looked at again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["fill", "show", "slots"]

_SLOT = re.compile(r"\{([^{}\[\].\r\n]+)\}")
_NAME = re.compile(r"[^\W\d]\w*")


def fill(template: str, row: Mapping[str, Any]) -> str:
    """``template`` with every ``{column}`` of ``row`` replaced by its value."""
    return _SLOT.sub(lambda match: show(row[match[1]]) if match[1] in row else match[0], template)


def show(value: Any) -> str:
    """A value as prompt text: strings as they are, null as nothing, all else as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def slots(template: str, columns: Mapping[str, Any] | set[str]) -> Iterator[str]:
    """The names that stand in braces: known columns, and unknown words that can only be meant as columns."""
    for match in _SLOT.finditer(template):
        if match[1] in columns or _NAME.fullmatch(match[1]):
            yield match[1]
