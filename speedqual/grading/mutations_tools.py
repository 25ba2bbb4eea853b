"""Right and wrong replies of items whose answer is a function call."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from speedqual.grading.mutations import NONSENSE, Mutant, changed, changed_exact
from speedqual.records import Item, ToolCall

__all__ = ["right_reply", "tool_mutants"]


def right_reply(item: Item, text: str) -> Mutant:
    """The reference as a reply: calls where the target wants calls, else ``text``."""
    calls = _wanted(item)
    made = tuple(_call(call["name"], call["arguments"]) for call in calls)
    return Mutant("the reference", "" if made else text, calls=made)


def tool_mutants(item: Item, text: str) -> Iterator[Mutant]:
    """Replies that call otherwise than the target says, or call where an answer or nothing is wanted."""
    target, calls = item.target, _wanted(item)
    if isinstance(target, Mapping) and "answer" in target:
        yield from changed_exact(target["answer"])
        yield Mutant("a call instead of the answer", "", calls=(_call(*_first_offered(item)),))
        return
    if not calls:
        yield Mutant("a call where none fits", "", calls=(_call(*_first_offered(item)),))
        return
    right = right_reply(item, text).calls
    yield Mutant("no call", f"{NONSENSE}.")
    yield Mutant("the call written into the text", json.dumps(calls, ensure_ascii=False))
    yield Mutant("a call left out", NONSENSE if len(right) == 1 else "", calls=right[1:])
    yield Mutant("a call made twice", "", calls=(*right, right[0]))
    yield Mutant("another function", "", calls=(_call(NONSENSE.lower(), calls[0]["arguments"]), *right[1:]))
    first, rest = calls[0], right[1:]
    for name, value in first["arguments"].items():
        others = {key: one for key, one in first["arguments"].items() if key != name}
        wrong = changed(value) if not isinstance(value, (list, dict)) else NONSENSE
        yield Mutant(f"{name} changed", "", calls=(_call(first["name"], {**others, name: wrong}), *rest))
        if not _is_default(item, first["name"], name, value):
            yield Mutant(f"{name} left out", "", calls=(_call(first["name"], others), *rest))
    invented = {**first["arguments"], NONSENSE.lower(): 1}
    yield Mutant("an argument invented", "", calls=(_call(first["name"], invented), *rest))


def _wanted(item: Item) -> list[Mapping[str, Any]]:
    calls = item.target.get("calls") if isinstance(item.target, Mapping) else None
    return list(calls) if isinstance(calls, list) else []


def _call(name: str, arguments: Any) -> ToolCall:
    return ToolCall(name, json.dumps(arguments, ensure_ascii=False))


def _functions(item: Item) -> list[Mapping[str, Any]]:
    tools = item.row.get("tools")
    return [one["function"] for one in tools if isinstance(one, Mapping)] if isinstance(tools, list) else []


def _first_offered(item: Item) -> tuple[str, dict[str, Any]]:
    functions = _functions(item)
    return (str(functions[0]["name"]) if functions else NONSENSE.lower()), {}


def _is_default(item: Item, function: str, argument: str, value: Any) -> bool:
    """Whether the argument may as well be left out."""
    for one in _functions(item):
        if one.get("name") == function:
            schema = one.get("parameters", {}).get("properties", {}).get(argument, {})
            return "default" in schema and schema["default"] == value
    return False
