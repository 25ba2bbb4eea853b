"""The declared shape of an extraction: a tree of objects, lists and typed leaves, from ``fields:`` or a JSON schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from speedqual.errors import EvalSetError
from speedqual.grading.normalise import DEFAULT, KINDS, Settings
from speedqual.grading.options import one_of, tolerance_of

__all__ = ["Leaf", "Many", "Node", "Record", "fields_from_schema", "fields_from_spec"]


@dataclass(frozen=True, slots=True)
class Leaf:
    """One value. ``kind`` "" = by the JSON type of the gold."""

    kind: str = ""
    settings: Settings = DEFAULT


@dataclass(frozen=True, slots=True)
class Record:
    """An object; a key that is not declared is read by its gold."""

    fields: Mapping[str, Node] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Many:
    """A list. ``key``: fields that tell its rows apart; ``ordered``: the order counts (default: it does not)."""

    element: Node
    key: tuple[str, ...] = ()
    ordered: bool = False


Node = Leaf | Record | Many
_LEAF_OPTIONS = {"type", "locale", "date_order", "order", "tolerance", "values", "ordered", "key", "items"}


def fields_from_spec(spec: Any, settings: Settings, where: str) -> Node:
    """A type's name, a list with one element, or a mapping: of fields, or of a type and its options."""
    if isinstance(spec, str):
        return Leaf(_known(spec, where), settings)
    if isinstance(spec, list) and len(spec) == 1:
        return Many(fields_from_spec(spec[0], settings, f"{where}[]"))
    if isinstance(spec, Mapping) and _is_options(spec):
        return _with_options(spec, settings, where)
    if isinstance(spec, Mapping):
        return Record({str(k): fields_from_spec(v, settings, f"{where}.{k}") for k, v in spec.items()})
    raise EvalSetError(
        f"{spec!r} is no type",
        where=where,
        fix=f"Give a type ({', '.join(KINDS)}), a mapping of fields, or a list with one of them",
    )


def _known(kind: str, where: str) -> str:
    if kind not in KINDS:
        raise EvalSetError(f"unknown type {kind!r}", where=where, fix=f"Use one of: {', '.join(KINDS)}")
    return kind


def _is_options(spec: Mapping[str, Any]) -> bool:
    if isinstance(spec.get("items"), (Mapping, list)) and set(spec) <= {"items", "key", "ordered"} and len(spec) > 1:
        return True
    return (
        isinstance(spec.get("type"), str)
        and set(spec) <= _LEAF_OPTIONS
        and (spec["type"] in (*KINDS, "list") or len(spec) == 1)
    )


def _with_options(spec: Mapping[str, Any], settings: Settings, where: str) -> Node:
    if "items" in spec:
        inner = spec["items"][0] if isinstance(spec["items"], list) and len(spec["items"]) == 1 else spec["items"]
        key = spec.get("key", ())
        names = (key,) if isinstance(key, str) else tuple(key)
        return Many(
            fields_from_spec(inner, settings, f"{where}[]"), key=names, ordered=bool(spec.get("ordered", False))
        )
    order = {"date_order": spec.get("date_order", spec.get("order", settings.date_order))}
    own = replace(
        settings,
        locale=str(spec.get("locale", settings.locale)),
        date_order=one_of(order, "date_order", ("", "dmy", "mdy", "ymd"), where),
        tolerance=tolerance_of(spec["tolerance"], where) if "tolerance" in spec else settings.tolerance,
        values=tuple(str(v) for v in spec.get("values", ())),
    )
    return Leaf(_known(spec["type"], where), own)


_SCHEMA_KINDS = {"string": "string", "number": "number", "integer": "integer", "boolean": "boolean"}
_FORMATS = {"date": "date", "date-time": "datetime", "phone": "phone"}


def fields_from_schema(schema: Mapping[str, Any], settings: Settings) -> Node:
    """The types that a JSON schema declares. What it leaves open is read by its gold."""
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((k for k in kind if k != "null"), None)
    if kind == "object" or "properties" in schema:
        return Record({k: fields_from_schema(v, settings) for k, v in schema.get("properties", {}).items()})
    if kind == "array":
        return Many(fields_from_schema(schema.get("items", {}), settings))
    if "enum" in schema and all(isinstance(v, str) for v in schema["enum"] if v is not None):
        return Leaf("enum", replace(settings, values=tuple(v for v in schema["enum"] if v is not None)))
    declared = schema.get("x-type") or _FORMATS.get(schema.get("format", "")) or _SCHEMA_KINDS.get(str(kind), "")
    return Leaf(declared, settings)
