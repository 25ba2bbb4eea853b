"""Compare the arguments of a function call with the right ones, by the types that the function declares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from speedqual.errors import EvalSetError
from speedqual.grading.normalise import Settings, read
from speedqual.grading.text import fold
from speedqual.records import Failure

__all__ = ["Slips", "Wanted", "differences", "wanted_of"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A right call: values by argument, other right values, the declared parameters."""

    name: str
    arguments: Mapping[str, Any]
    accept: Mapping[str, tuple[Any, ...]]
    declared: Mapping[str, Mapping[str, Any]]


class Slips(NamedTuple):
    """What differs, as (failure, why). Soft ones are of type or spelling alone."""

    hard: list[tuple[Failure, str]]
    soft: list[tuple[Failure, str]]


def wanted_of(call: Any, tools: Any, where: str) -> Wanted:
    """The right call of a target, checked against the functions that the item offers. Raises EvalSetError."""
    if not isinstance(call, Mapping) or not isinstance(call.get("arguments"), Mapping):
        raise EvalSetError("a call has no name or arguments", where=where, fix='Write {"name": "f", "arguments": {}}')
    offered = _offered(tools)
    if call.get("name") not in offered:
        fix = f"Use one of: {', '.join(offered)}" if offered else "Add a column tools"
        raise EvalSetError(f"no function {call.get('name')!r} is offered", where=where, fix=fix)
    parameters = offered[call["name"]]
    properties, required = parameters.get("properties", {}), parameters.get("required", [])
    accept = call.get("accept") or {}
    for argument in (*call["arguments"], *accept):
        if argument not in properties:
            fix = f"Use one of: {', '.join(properties)}"
            raise EvalSetError(f"{call['name']} has no argument {argument!r}", where=where, fix=fix)
    for argument in required:
        if argument not in call["arguments"]:
            raise EvalSetError(f"{call['name']} lacks its required argument {argument!r}", where=where, fix="Add it")
    others = {name: tuple(values) for name, values in accept.items()}
    return Wanted(str(call["name"]), call["arguments"], others, properties)


def _offered(tools: Any) -> dict[str, Mapping[str, Any]]:
    rows = tools if isinstance(tools, list) else []
    functions = [row.get("function") for row in rows if isinstance(row, Mapping)]
    return {str(f["name"]): f.get("parameters") or {} for f in functions if isinstance(f, Mapping) and "name" in f}


def differences(wanted: Wanted, given: Mapping[str, Any] | None) -> Slips:
    """What of the arguments is missing, wrong, invented, or only written in another type."""
    slips = Slips([], [])
    if given is None:
        slips.hard.append(("wrong_format", f"the arguments of {wanted.name} are no JSON object"))
        return slips
    for name, value in wanted.arguments.items():
        schema = wanted.declared.get(name, {})
        if name not in given:
            if not ("default" in schema and schema["default"] == value):
                slips.hard.append(("omission", f"{name} is missing"))
            continue
        right = (value, *wanted.accept.get(name, ()))
        if any(_same(given[name], one) for one in right):
            continue
        kind = slips.soft if any(_alike(given[name], one) for one in right) else slips.hard
        kind.append(("wrong_field", f"{name} is {given[name]!r}, not {value!r}"[:160]))
    for name in given.keys() - wanted.arguments.keys():
        if name not in wanted.declared:
            slips.hard.append(("invented_field", f"{wanted.name} has no argument {name!r}"[:160]))
        elif given[name] is not None and not _is_allowed(name, given[name], wanted):
            slips.hard.append(("invented_field", f"nobody asked for {name} = {given[name]!r}"[:160]))
    return slips


def _is_allowed(name: str, value: Any, wanted: Wanted) -> bool:
    schema = wanted.declared[name]
    is_default = "default" in schema and _same(value, schema["default"])
    return is_default or any(_same(value, one) for one in wanted.accept.get(name, ()))


def _same(got: Any, want: Any) -> bool:
    """Equal, of the same JSON type (1 and 1.0 are one number); text without regard to case, width and outer spaces."""
    if isinstance(want, bool) or isinstance(got, bool):
        return got is want
    if isinstance(want, str) or isinstance(got, str):
        return isinstance(want, str) and isinstance(got, str) and fold(got) == fold(want)
    if isinstance(want, list):
        return isinstance(got, list) and len(got) == len(want) and all(map(_same, got, want))
    if isinstance(want, Mapping):
        alike = isinstance(got, Mapping) and got.keys() == want.keys()
        return alike and all(_same(got[key], want[key]) for key in want)
    return bool(got == want)


def _alike(got: Any, want: Any) -> bool:
    """The same value in another JSON type: a number or truth value as text, one thing instead of a list of one."""
    if isinstance(want, list) and len(want) == 1 and not isinstance(got, list):
        return _same(got, want[0])
    if isinstance(want, bool):
        return isinstance(got, str) and fold(got) == str(want).lower()
    if isinstance(want, (int, float)) and isinstance(got, str):
        one, other = read("number", got, Settings(locale="en")), read("number", str(want), Settings(locale="en"))
        return not one.fault and not other.fault and bool(one.value == other.value)
    return isinstance(want, str) and isinstance(got, (int, float)) and not isinstance(got, bool) and str(got) == want
