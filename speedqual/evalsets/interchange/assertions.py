"""Assertions of promptfoo in the form that our grader ``assertions`` reads: ``{type, value, weight}``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from speedqual.evalsets.interchange.jinja import render

__all__ = ["LITERAL", "assertion_of", "from_cell", "to_cell"]

LITERAL = frozenset(
    """equals contains icontains contains-all icontains-all contains-any icontains-any starts-with regex is-json
    contains-json is-refusal""".split()  # noqa: SIM905
)
"""What can be judged from the text of a reply alone, without a model and without running anything."""

_LISTS = {"contains-all", "icontains-all", "contains-any", "icontains-any"}
_CODE = {"fn": "javascript", "eval": "javascript", "grade": "llm-rubric"}


def assertion_of(given: Any, variables: Mapping[str, Any], where: str) -> tuple[dict[str, Any] | None, str]:
    """The assertion in our form, or None and what is lost."""
    if not isinstance(given, dict) or not isinstance(given.get("type"), str):
        return None, f"{where}: an assertion without a type"
    kind, value = given["type"], given.get("value")
    if kind == "assert-set":
        return None, f"{where}: assert-set (groups of assertions)"
    if kind.removeprefix("not-") not in LITERAL:
        return None, f"assertions of the type {kind}: they need a model, code or a measurement"
    if isinstance(value, str) and value.startswith("file://"):
        return None, f"{where}: {kind} with a value from a file"
    if given.get("transform"):
        return None, f"{where}: {kind} with a transform, which is code"
    if isinstance(value, str) and "{{" in value:
        value = render(value, variables, f"{where}, assert")
    if isinstance(value, list):
        value = [render(one, variables, where) if isinstance(one, str) and "{{" in one else one for one in value]
    one: dict[str, Any] = {"type": kind}
    if value is not None:
        one["value"] = value
    if isinstance(given.get("weight"), (int, float)):
        one["weight"] = given["weight"]
    return one, ""


def from_cell(cell: str) -> dict[str, Any]:
    """``contains: Paris`` of a CSV cell as a table; a cell without a type must be the whole reply."""
    text = cell.strip()
    head, colon, rest = text.partition(":")
    kind = re.sub(r"\(.*\)$", "", head.strip())
    kind = _CODE.get(kind, kind)
    bare = kind.removeprefix("not-")
    if not colon and bare in ("is-json", "contains-json", "is-refusal"):
        return {"type": kind}
    if not colon or not re.fullmatch(r"[a-z]+(-[a-z]+)*", kind) or not _is_type(bare):
        return {"type": "equals", "value": text}
    if bare in _LISTS:
        return {"type": kind, "value": [part.strip() for part in rest.split(",") if part.strip()]}
    if bare in ("is-json", "contains-json"):
        return {"type": kind} | _schema(rest)
    return {"type": kind, "value": rest.strip()}


def _schema(text: str) -> dict[str, Any]:
    try:
        schema = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return {"value": schema} if isinstance(schema, dict) else {}


def _is_type(name: str) -> bool:
    others = "javascript python llm-rubric similar factuality g-eval model-graded levenshtein latency cost webhook"
    return name in LITERAL or name in others.split() or name.startswith(("model-graded", "context-", "is-", "rouge"))


def to_cell(one: Mapping[str, Any]) -> str:
    """The other way round."""
    value = one.get("value")
    if value is None:
        return str(one["type"])
    if isinstance(value, list):
        return f"{one['type']}: {', '.join(map(str, value))}"
    return f"{one['type']}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
