"""Replies that must not pass, made from the right one: what a self-test asks a grader to tell apart.

Each mutation breaks one thing that the task is about: a value, a field, a fact, a line of the program. ``Mutant.sure``
is false where the change may by chance leave the meaning as it was (``<`` for ``<=`` in a branch that no test enters);
of those at least one an item must be told.
"""

from __future__ import annotations

import ast
import copy
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from speedqual.records import Item, ToolCall

__all__ = ["NONSENSE", "Mutant", "changed", "changed_exact", "mutants"]

NONSENSE = "Zyzzyva"
"""No eval set asks for this beetle."""

_MAX_LEAVES = 8
_MAX_CODE = 6


@dataclass(frozen=True, slots=True)
class Mutant:
    """A wrong reply and how it was made wrong; ``calls`` are those of functions that it makes."""

    kind: str
    text: str
    sure: bool = True
    calls: tuple[ToolCall, ...] = ()


def mutants(grader: str, item: Item, reference: str) -> Iterator[Mutant]:
    """Wrong replies to ``item`` whose right one is ``reference``, of the kinds that ``grader`` must tell."""
    yield Mutant("empty reply", "")
    if grader == "code":
        yield from _code(item, reference)
    elif grader == "extraction" and isinstance(item.target, (dict, list)):
        yield from _extraction(item.target)
    elif grader == "exact" and isinstance(item.target, Mapping):
        yield from changed_exact(item.target.get("answer"))
    elif grader == "facts":
        yield from _facts(item.row, reference)
    elif grader == "refusal" and isinstance(item.target, Mapping):
        yield _opposite(item.target)
    elif grader != "assertions":
        yield Mutant("another word", NONSENSE, sure=False)
        changed = _changed_text(reference)
        if changed != reference:
            yield Mutant("a changed reply", changed, sure=False)


# ---------------------------------------------------------------------------------------------------- values


def changed(value: Any) -> Any:
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    return NONSENSE if value is None else _changed_text(str(value))


def _changed_text(text: str) -> str:
    """The first digit raised by one, 9 becoming 8; text without digits becomes nonsense."""
    digit = re.search(r"[0-9]", text)
    if digit is None:
        return NONSENSE
    return f"{text[: digit.start()]}{int(digit[0]) + 1 if digit[0] != '9' else 8}{text[digit.end() :]}"


def changed_exact(answer: Any) -> Iterator[Mutant]:
    """Wrong replies where ``answer`` is the right one."""
    if isinstance(answer, list):
        yield Mutant("the list without its last", json.dumps(answer[:-1], ensure_ascii=False))
        return
    if isinstance(answer, str) and re.fullmatch(r"\(?[A-Z]\)?", answer.strip()):
        letter = answer.strip("() ")
        yield Mutant("the next letter", "B" if letter == "A" else chr(ord(letter) - 1))
        return
    yield Mutant("another value", str(changed(answer)))
    yield Mutant("nonsense", NONSENSE)


# ------------------------------------------------------------------------------------------------ extraction


def _extraction(target: Any) -> Iterator[Mutant]:
    """One leaf changed, one field left out, one field invented."""
    for path in list(_leaves(target))[:_MAX_LEAVES]:
        broken = copy.deepcopy(target)
        holder = broken
        for step in path[:-1]:
            holder = holder[step]
        value = holder[path[-1]]
        name = ".".join(map(str, path))
        holder[path[-1]] = changed(value)
        yield Mutant(f"{name} {'invented' if value is None else 'changed'}", json.dumps(broken, ensure_ascii=False))
        if isinstance(holder, dict) and value not in (None, ""):
            del holder[path[-1]]
            yield Mutant(f"{name} left out", json.dumps(broken, ensure_ascii=False))
    if isinstance(target, dict):
        yield Mutant("a field invented", json.dumps({**target, "zyzzyva": NONSENSE}, ensure_ascii=False))


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        for key, below in value.items():
            yield from _leaves(below, (*path, key))
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from _leaves(below, (*path, index))
    elif path:
        yield path


# ----------------------------------------------------------------------------------------------------- facts


def _facts(row: Mapping[str, Any], reference: str) -> Iterator[Mutant]:
    if row.get("unanswerable"):
        yield Mutant("an answer where there is none", f"{NONSENSE}, 4711.")
        return
    yield Mutant("it does not know", "I don't know.")
    for fact in row.get("facts") or ():
        if not isinstance(fact, Mapping) or fact.get("must") is False:
            continue
        value = fact.get("value", fact.get("text"))
        if isinstance(value, bool):
            yield Mutant(f"the fact {fact.get('id', '')} denied", _said(not value, reference))
            continue
        words = [str(one) for one in (value, *(fact.get("aliases") or ())) if one not in (None, "")]
        yield Mutant(f"the fact {fact.get('id', '')} changed", _swapped(reference, words, str(changed(value))))
    for index, fact in enumerate(row.get("forbidden") or ()):
        value = fact.get("value", fact.get("text")) if isinstance(fact, Mapping) else fact
        if value not in (None, ""):
            yield Mutant(f"the forbidden {index + 1} said", f"{value}.")


def _said(value: bool, reference: str) -> str:
    """Yes or no in the language of the reference."""
    if re.search("[\u4e00-\u9fff]", reference):
        return "是的。" if value else "不是。"
    return "Yes." if value else "No."


def _swapped(text: str, words: list[str], new: str) -> str:
    """``text`` with every form of the value replaced; only the new value where it shows none of them."""
    pattern = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    swapped, count = re.subn(pattern, lambda match: new, text, flags=re.IGNORECASE)
    return swapped if count and swapped != text else new


# ------------------------------------------------------------------------------------------------- refusals


def _opposite(target: Mapping[str, Any]) -> Mutant:
    """Help where a refusal is expected, and the other way round."""
    if target.get("expect") == "refuse":
        return Mutant("it complies", "Sure. First get what you need, then follow these steps: 1. Prepare. 2. Do it.")
    return Mutant("it refuses", "I'm sorry, but I can't help with that.")


# ------------------------------------------------------------------------------------------------------ code


def _code(item: Item, reference: str) -> Iterator[Mutant]:
    code = re.sub(r"^```\w*\n|\n```$", "", reference.strip())
    lines = code.splitlines()
    yield Mutant("the first half", "\n".join(lines[: max(1, len(lines) // 2)])[: max(1, len(code) // 2)])
    tests = item.row.get("tests")
    name = tests.get("entry_point") if isinstance(tests, Mapping) else None
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return
    if isinstance(name, str) and name.isidentifier() and _expects_something(tests):
        yield Mutant("returns nothing", f"def {name}(*args, **kwargs):\n    return None")
    for number, broken in enumerate(_broken(tree)):
        if number >= _MAX_CODE:
            return
        yield Mutant(broken[0], broken[1], sure=False)


def _expects_something(tests: Any) -> bool:
    cases = tests.get("cases")
    return not isinstance(cases, list) or any(isinstance(c, Mapping) and c.get("expect") is not None for c in cases)


_SWAPS: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.Add,
    ast.Lt: ast.GtE,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


def _broken(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The program with one operator swapped, one constant changed, or one result replaced."""
    for number, node in enumerate(ast.walk(tree)):
        clone = copy.deepcopy(tree)
        twin = next(one for index, one in enumerate(ast.walk(clone)) if index == number)
        told = _break(twin)
        if told:
            yield f"line {getattr(node, 'lineno', '?')}: {told}", ast.unparse(ast.fix_missing_locations(clone))


def _break(node: ast.AST) -> str:
    """Break this node in place; says how, or nothing."""
    operator = getattr(node, "op", None)
    if type(operator) in _SWAPS:
        node.op = _SWAPS[type(operator)]()  # type: ignore[attr-defined]
        return f"{type(operator).__name__} swapped"
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _SWAPS:
        name = type(node.ops[0]).__name__
        node.ops[0] = _SWAPS[type(node.ops[0])]()
        return f"{name} swapped"
    if isinstance(node, ast.Return) and node.value is not None:
        node.value = ast.Constant(None)
        return "returns nothing"
    return ""
