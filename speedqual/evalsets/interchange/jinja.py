"""Templates of other tools, in a sandbox: fields of the row, conditions, loops over a field, and text filters.

``ImmutableSandboxedEnvironment`` keeps a template from reaching Python objects; it doesn't keep it from filling the
memory. So a template is first read as a tree, in which only the plain parts may stand: nothing is assigned, multiplied,
imported or called apart from a few methods of text and tables, and what those make is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from speedqual.errors import EvalSetError, RefusedError
from speedqual.evalsets.template import show

__all__ = ["plain_prompt", "render"]

MAX_CHARS = 2_000_000
_MAX_TEMPLATE = 64 * 1024
_MAX_LOOPS = 1  # one inside another over a long column would take for ever

_NODES = frozenset(
    """Template Output TemplateData Name Const Getattr Getitem Filter Test If CondExpr Compare Operand And Or Not For
    Add Sub Concat Neg Call Slice List Tuple Dict Pair Keyword""".split()  # noqa: SIM905
)
_FILTERS = frozenset(
    """trim upper lower title capitalize replace join length first last string int float default d tojson list sort
    unique reverse items round abs safe e escape""".split()  # noqa: SIM905
)
_METHODS = frozenset(
    """strip lstrip rstrip upper lower title capitalize replace split splitlines startswith endswith removeprefix
    removesuffix get items keys values index count find""".split()  # noqa: SIM905
)


def render(template: str, row: Mapping[str, Any], where: str) -> str:
    """The template filled with the columns of ``row``.

    Raises RefusedError for a template that is more than plain fields, EvalSetError when it fails on this row.
    """
    from jinja2.exceptions import TemplateError

    compiled = _compiled(template, where)
    try:
        text: str = compiled.render(row)
    except RefusedError:
        raise
    except (TemplateError, TypeError, ValueError, KeyError, ArithmeticError, LookupError) as fault:
        what = f"the template cannot be filled: {fault}"[:300]
        raise EvalSetError(what, where=where, fix="Check that every row has the columns it names") from None
    if len(text) > MAX_CHARS:
        raise RefusedError("a filled template is too long", where=where, fix="Shorten the template")
    return text


def plain_prompt(template: str, columns: set[str]) -> str | None:
    """The same template with ``{column}`` where it only names columns; None where it does more than that."""
    parts: list[str] = []
    at = 0
    for match in re.finditer(r"\{\{\s*(\w+)\s*\}\}", template):
        literal = template[at : match.start()]
        if match[1] not in columns or not _is_literal(literal):
            return None
        parts += [literal, f"{{{match[1]}}}"]
        at = match.end()
    rest = template[at:].removesuffix("\n")
    return "".join(parts) + rest if _is_literal(rest) else None


def _is_literal(text: str) -> bool:
    """Whether neither Jinja nor our own prompts see anything in it."""
    return "{" not in text and "}" not in text


@lru_cache(maxsize=64)
def _compiled(template: str, where: str) -> Any:
    from jinja2.exceptions import TemplateError

    if len(template) > _MAX_TEMPLATE:
        raise RefusedError(f"the template is longer than {_MAX_TEMPLATE // 1024} KiB", where=where)
    environment = _environment()
    try:
        _check(environment.parse(template), where, 0)
        return environment.from_string(template)
    except TemplateError as fault:
        raise EvalSetError(f"the template is wrong: {fault}"[:300], where=where, fix="Mend it") from None
    except RecursionError:
        raise RefusedError("the template is nested too deeply", where=where) from None


def _check(node: Any, where: str, loops: int) -> None:
    kind = type(node).__name__
    refused = kind not in _NODES and kind
    if kind == "Filter" and node.name not in _FILTERS:
        refused = f"the filter {node.name}"
    elif kind == "Call":
        method = getattr(node.node, "attr", None)
        refused = False if method in _METHODS else f"a call of {method or 'a function'}"
    elif kind == "For":
        loops += 1
        is_field = type(node.iter).__name__ in {"Name", "Getattr", "Getitem", "Filter", "Call"}
        refused = f"{loops} loops inside each other" if loops > _MAX_LOOPS or not is_field else False
    if refused:
        raise RefusedError(
            f"{refused} stands in a template; only plain fields, conditions and text filters are filled",
            where=f"{where}:{getattr(node, 'lineno', 1)}",
            fix="Write the filled text into the data as a column, and name that column",
        )
    for below in node.iter_child_nodes():
        _check(below, where, loops)


def _environment() -> Any:
    from jinja2 import StrictUndefined
    from jinja2.exceptions import SecurityError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Environment(ImmutableSandboxedEnvironment):
        """Calls of ``replace`` are measured before they are made."""

        def call(self, context: Any, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
            owner = getattr(obj, "__self__", None)
            if getattr(obj, "__name__", "") == "replace" and isinstance(owner, str):
                return _replace(owner, *args)
            return super().call(context, obj, *args, **kwargs)

    def _replace(value: Any, old: str, new: str, count: int = -1) -> str:
        text: str = str(value)
        if len(text) + text.count(old) * len(new) > MAX_CHARS:
            raise SecurityError("replace makes too long a text")
        return text.replace(old, new, count)

    environment = Environment(undefined=StrictUndefined, autoescape=False, finalize=_shown)
    environment.filters["replace"] = _replace
    environment.globals.clear()
    return environment


def _shown(value: Any) -> Any:
    """None as nothing, tables and lists as JSON, as in our own prompts; all else as Jinja has it."""
    return show(value) if value is None or isinstance(value, (dict, list)) else value
