"""The rule that a reply is JSON and nothing else, and keeps a schema."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from speedqual.errors import EvalSetError
from speedqual.grading.jsontext import loads
from speedqual.grading.schema import check_schema, violations

__all__ = ["json_check"]

_FENCED = re.compile(r"\A\s*```(?:json)?[ \t]*\n(.*)\n[ \t]*```\s*\Z", re.DOTALL | re.IGNORECASE)


def json_check(schema: Any, fence: Any) -> Callable[[str], str]:
    """Strict JSON as the whole reply; with ``fence``, one code fence around it is allowed."""
    if not isinstance(fence, bool):
        raise EvalSetError("fence must be true or false")
    if schema is not None:
        check_schema(schema, "schema")

    def check(text: str) -> str:
        fenced = _FENCED.match(text) if fence else None
        try:
            value = loads(fenced[1] if fenced else text)
        except ValueError:
            return "is not JSON alone"
        found = violations(value, schema) if schema is not None else []
        return f"breaks the schema: {found[0]}" if found else ""

    return check
