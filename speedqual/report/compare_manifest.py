"""What two runs were told to do and where: the facts of their manifests that differ, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from speedqual.report.private import without_addresses
from speedqual.report.tables import Head, Row, Table, text
from speedqual.report.words import Words

__all__ = ["manifest_table", "unlike"]

_ROOMS = ("candidates", "evalsets", "settings", "seed", "prices", "speedqual", "versions", "machine", "clock", "load")
_BY_NAME = ("candidates", "evalsets")
_LEFT_OUT = ("base_url", "api_key_env", "headers", "id")
"""Where a candidate is reached is no part of what was asked; its id says no more than the fields it is made of."""
_TEXTS = ("system",)

Fact = tuple[str, str, str]
"""Where it stands, what the base run has, what the new run has; empty = nothing."""


def manifest_table(base: Mapping[str, Any], new: Mapping[str, Any], words: Words, *, redact: bool) -> Table | None:
    """None when the two say the same."""
    facts = unlike(base, new)
    rows = [
        Row(where, tuple(text(_shown(where, value, redact=redact)) for value in values)) for where, *values in facts
    ]
    heads = [Head(words(f"compare.{name}"), is_text=True) for name in ("base", "new")]
    label = words("compare.manifest_heading")
    return Table(label, heads, rows, words("compare.manifest_caption"), first=words("compare.what")) if rows else None


def unlike(base: Mapping[str, Any], new: Mapping[str, Any]) -> list[Fact]:
    """The facts that differ, in the order of the base run's manifest.

    >>> unlike({"seed": 1, "machine": {"cores": 2}}, {"seed": 1, "machine": {"cores": 4}})
    [('machine.cores', '2', '4')]
    """
    before, after = dict(_facts(base)), dict(_facts(new))
    both = dict.fromkeys([*before, *after])
    return [(key, before.get(key, ""), after.get(key, "")) for key in both if before.get(key, "") != after.get(key, "")]


def _facts(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for room in _ROOMS:
        value = manifest.get(room)
        if room in _BY_NAME and isinstance(value, list):
            value = {entry["name"]: entry for entry in value}
        yield from _flat(room, value)


def _flat(where: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, one in value.items():
            if key not in _LEFT_OUT and (where, key) != ("settings", "seed"):
                yield from _flat(f"{where}.{key}", one)
    elif value not in (None, "", [], ()):
        yield where, str(value).lower() if isinstance(value, bool) else str(value)


def _shown(where: str, value: str, *, redact: bool) -> str:
    hidden = redact and where.rpartition(".")[2] in _TEXTS
    return "…" if hidden and value else without_addresses(value)
