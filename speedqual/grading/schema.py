"""The part of JSON Schema that extraction needs, checked by hand. A keyword that is not known here is an error."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from speedqual.errors import EvalSetError

__all__ = ["check_schema", "violations"]

_ANNOTATIONS = {"$schema", "$id", "$comment", "title", "description", "default", "examples", "x-type", "format"}
_KEYWORDS = {
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
    "anyOf",
    "nullable",
}
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}


def check_schema(schema: Any, where: str) -> None:
    """Raise EvalSetError when the schema uses what ``violations`` cannot check."""
    if not isinstance(schema, Mapping):
        raise EvalSetError("a schema is an object", where=where, fix="Give a JSON schema")
    unknown = sorted(set(schema) - _KEYWORDS - _ANNOTATIONS)
    if unknown:
        raise EvalSetError(
            f"the schema keyword {unknown[0]!r} is not supported",
            where=where,
            fix="Leave it out, or use a custom grader",
        )
    kinds = schema.get("type", [])
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        if kind not in _TYPES:
            raise EvalSetError(f"unknown type {kind!r}", where=where, fix=f"Use one of: {', '.join(_TYPES)}")
    for name, inner in schema.get("properties", {}).items():
        check_schema(inner, f"{where}.{name}")
    for inner in [schema[k] for k in ("items", "additionalProperties") if isinstance(schema.get(k), Mapping)] + list(
        schema.get("anyOf", [])
    ):
        check_schema(inner, f"{where}[]")


def violations(value: Any, schema: Mapping[str, Any], path: str = "$") -> list[str]:
    """What of ``value`` breaks the schema, one line each; empty = valid."""
    if value is None and schema.get("nullable"):
        return []
    kinds = schema.get("type")
    if kinds is not None and not any(_is(value, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds)):
        return [f"{path} is not of type {kinds}"]
    if "anyOf" in schema and all(violations(value, arm, path) for arm in schema["anyOf"]):
        return [f"{path} fits none of anyOf"]
    found = _value_violations(value, schema, path)
    if isinstance(value, dict):
        found += _object_violations(value, schema, path)
    if isinstance(value, list):
        found += _list_violations(value, schema, path)
    return found


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[kind])


def _value_violations(value: Any, schema: Mapping[str, Any], path: str) -> list[str]:
    found = []
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{path} is not in enum")
    if "const" in schema and value != schema["const"]:
        found.append(f"{path} is not the constant")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        found += _bounds(value, schema, path)
    if isinstance(value, str):
        if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
            found.append(f"{path} has a wrong length")
        if "pattern" in schema and not re.search(schema["pattern"], value):
            found.append(f"{path} does not match the pattern")
    return found


def _bounds(value: float, schema: Mapping[str, Any], path: str) -> list[str]:
    too_low = value < schema.get("minimum", value) or (
        "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]
    )
    too_high = value > schema.get("maximum", value) or (
        "exclusiveMaximum" in schema and value >= schema["exclusiveMaximum"]
    )
    return [f"{path} is out of bounds"] if too_low or too_high else []


def _object_violations(value: dict[str, Any], schema: Mapping[str, Any], path: str) -> list[str]:
    found = [f"{path}.{name} is missing" for name in schema.get("required", []) if name not in value]
    properties, extra = schema.get("properties", {}), schema.get("additionalProperties", True)
    for name, inner in value.items():
        if name in properties:
            found += violations(inner, properties[name], f"{path}.{name}")
        elif isinstance(extra, Mapping):
            found += violations(inner, extra, f"{path}.{name}")
        elif not extra:
            found.append(f"{path}.{name} is not allowed")
    return found


def _list_violations(value: list[Any], schema: Mapping[str, Any], path: str) -> list[str]:
    found = []
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        found.append(f"{path} has a wrong number of items")
    if schema.get("uniqueItems") and any(item in value[:i] for i, item in enumerate(value)):
        found.append(f"{path} repeats an item")
    if isinstance(schema.get("items"), Mapping):
        for i, item in enumerate(value):
            found += violations(item, schema["items"], f"{path}[{i}]")
    return found
