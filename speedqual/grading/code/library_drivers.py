"""Front ends that are Python libraries.

These functions run inside the sandbox; each returns ``{"ok": …, "error": …}``.
"""

from __future__ import annotations

import json
import sqlite3
import tomllib
from typing import Any

try:
    import yaml
except ImportError:  # the host says "not checked" and never calls
    yaml = None  # type: ignore[assignment]
try:
    import html5lib
    from html5lib.constants import E as HTML_ERRORS

    html5lib.HTMLParser().parseFragment("")  # it imports parts of itself at first use, which a confined child cannot
except ImportError:
    html5lib = None

__all__ = ["html_", "json_", "sql_", "toml_", "yaml_"]

MAX_EXPANDED = 200_000
_GOOD: dict[str, Any] = {"ok": True}


def _bad(error: object) -> dict[str, Any]:
    return {"ok": False, "error": str(error)[:300]}


def _gave_up(fault: BaseException) -> dict[str, Any]:
    return {"ok": None, "error": f"the checker raised {type(fault).__name__}"}


def json_(payload: dict[str, Any]) -> dict[str, Any]:
    """RFC 8259: no NaN, no infinity, no key twice."""
    try:
        json.loads(payload["source"], parse_constant=_no_constant, object_pairs_hook=_unique)
    except (RecursionError, MemoryError) as fault:
        return _gave_up(fault)
    except ValueError as fault:
        return _bad(fault)
    return _GOOD


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def toml_(payload: dict[str, Any]) -> dict[str, Any]:
    """TOML 1.0."""
    try:
        tomllib.loads(payload["source"])
    except (RecursionError, MemoryError) as fault:
        return _gave_up(fault)
    except ValueError as fault:
        return _bad(fault)
    return _GOOD


def yaml_(payload: dict[str, Any]) -> dict[str, Any]:
    """YAML by libyaml: safe tags alone, no key twice, and aliases that expand to no more than a cap."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for node in yaml.compose_all(payload["source"], Loader=loader):
            if node is not None and _expanded(node, {}) > MAX_EXPANDED:
                return {"ok": None, "error": "aliases expand beyond the limit"}
        for _ in yaml.load_all(payload["source"], Loader=loader):
            pass
    except (RecursionError, MemoryError) as fault:
        return _gave_up(fault)
    except (yaml.YAMLError, ValueError) as fault:
        if "maximum nesting depth" in str(fault):
            return _gave_up(fault)
        mark = getattr(fault, "problem_mark", None)
        where = f" (line {mark.line + 1})" if mark else ""
        return _bad(f"{getattr(fault, 'problem', None) or fault}{where}")
    return _GOOD


def _expanded(node: Any, known: dict[int, int]) -> int:
    """Nodes after all aliases are replaced. Raises ValueError for a mapping with one key twice."""
    if id(node) in known:
        return known[id(node)]
    known[id(node)] = MAX_EXPANDED + 1  # while open: an alias to itself never ends
    total = 1
    if isinstance(node, yaml.MappingNode):
        keys = [(key.tag, key.value) for key, _ in node.value if isinstance(key, yaml.ScalarNode) and key.value != "<<"]
        if len(set(keys)) != len(keys):
            raise ValueError("a key stands twice in one mapping")
        total += sum(_expanded(part, known) for pair in node.value for part in pair)
    elif isinstance(node, yaml.SequenceNode):
        total += sum(_expanded(part, known) for part in node.value)
    known[id(node)] = total
    return total


def html_(payload: dict[str, Any]) -> dict[str, Any]:
    """The parse errors of the HTML standard; up to ``max_errors`` pass.

    Without doctype and ``<html>`` it is a fragment.
    """
    source = payload["source"]
    head = source.lstrip()[:200].lower()
    parser = html5lib.HTMLParser()
    try:
        if "<!doctype" in head or "<html" in head:
            parser.parse(source)
        else:
            parser.parseFragment(source)
    except (RecursionError, MemoryError) as fault:
        return _gave_up(fault)
    errors = parser.errors
    if len(errors) <= payload.get("max_errors", 0):
        return _GOOD
    (line, _), code, values = errors[0]
    try:
        text = HTML_ERRORS.get(code, code) % values
    except (KeyError, TypeError, ValueError):
        text = code
    return _bad(f"{text} (line {line}; {len(errors)} errors)")


def sql_(payload: dict[str, Any]) -> dict[str, Any]:
    """SQLite's parser and name resolution on the task's schema: definitions are carried out in memory, the rest
    explained.

    Without a schema a name that is not known is no error: nobody said what there is.
    """
    database = sqlite3.connect(":memory:")
    database.set_authorizer(_no_files)
    schema = payload.get("schema") or ""
    try:
        database.executescript(schema)
    except sqlite3.Error as fault:
        return {"ok": None, "error": f"the schema of the row is broken: {fault}"}
    statements = list(_statements(payload["source"]))
    if not statements:
        return _bad("no statement")
    for statement in statements:
        try:
            database.execute(statement if _defines(statement) else f"EXPLAIN {statement}")
        except sqlite3.Error as fault:
            unknown = not schema and "no such" in str(fault)
            if not unknown:
                return _bad(fault)
        except sqlite3.Warning as fault:
            return _bad(fault)
    return _GOOD


def _no_files(action: int, *_: Any) -> int:
    return sqlite3.SQLITE_DENY if action in (24, 25) else sqlite3.SQLITE_OK  # ATTACH, DETACH


def _statements(source: str) -> list[str]:
    """Split at the semicolons that end a statement for SQLite (not those in strings or triggers)."""
    found, part = [], ""
    for piece in source.split(";"):
        part += piece
        if sqlite3.complete_statement(f"{part};"):
            found.append(part)
            part = ""
        else:
            part += ";"
    found.append(part.rstrip(";") if part.strip(" \n\t\r;") else "")
    return [each.strip() for each in found if _without_comments(each)]


def _without_comments(statement: str) -> str:
    lines = [line.partition("--")[0] for line in statement.split("\n")]
    return "\n".join(lines).strip()


def _defines(statement: str) -> bool:
    words = _without_comments(statement).lower().split(None, 1)
    return words[0] in ("create", "alter", "drop", "begin", "commit", "rollback", "end", "explain", "pragma")
