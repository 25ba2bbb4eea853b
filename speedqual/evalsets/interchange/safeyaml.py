"""Read YAML that others wrote: no tags that make objects, no bombs of aliases, no YAML 1.1 surprises.

A tag such as ``!function`` names Python code. It is refused by name, with the line, and nothing is looked up.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from speedqual.errors import EvalSetError, RefusedError
from speedqual.evalsets.header import scalar

__all__ = ["MAX_NODES", "parse_yaml", "read_yaml"]

MAX_NODES = 200_000
"""Values after all aliases are written out; a file of a few lines can otherwise stand for billions."""

_MAX_BYTES = 16 * 1024 * 1024
_PLAIN = "tag:yaml.org,2002:"


def read_yaml(path: Path) -> Any:
    """The value in a YAML file. Raises EvalSetError for what cannot be read, RefusedError for tags that name code."""
    try:
        raw = path.read_bytes()
    except OSError as fault:
        raise EvalSetError(f"the file cannot be read ({fault.strerror})", where=path.name) from None
    if len(raw) > _MAX_BYTES:
        raise EvalSetError(f"the file is larger than {_MAX_BYTES // 2**20} MiB", where=path.name, fix="Make it shorter")
    try:
        return parse_yaml(raw.decode("utf-8-sig"), path.name)
    except UnicodeDecodeError:
        raise EvalSetError("the file is not UTF-8", where=path.name, fix="Save it as UTF-8") from None


def parse_yaml(text: str, where: str) -> Any:
    """The value of a YAML text; ``where`` names it in messages."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        if root is None:
            return None
        if _size(root, {}) > MAX_NODES:
            raise EvalSetError("its aliases stand for too many values", where=where, fix="Write the values out")
        return _value(root, where)
    except yaml.YAMLError as fault:
        mark = getattr(fault, "problem_mark", None)
        place = f"{where}:{mark.line + 1}:{mark.column + 1}" if mark else where
        what = getattr(fault, "problem", None) or "it cannot be read"
        raise EvalSetError(f"YAML slip: {what}", where=place, fix="Mend the YAML") from None
    except RecursionError:
        raise EvalSetError("the YAML is nested too deeply", where=where, fix="Make it simpler") from None


def _size(node: yaml.Node, known: dict[int, int]) -> int:
    """How many values ``node`` stands for. An alias to something around it would be endless: more than allowed."""
    if id(node) in known:
        return known[id(node)]
    known[id(node)] = MAX_NODES + 1
    size = 1 + sum(_size(below, known) for below in _below(node))
    known[id(node)] = size
    return size


def _below(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _value(node: yaml.Node, where: str) -> Any:
    if not node.tag.startswith(_PLAIN) or "python/" in node.tag:
        line = node.start_mark.line + 1
        what = f"{node.tag} {node.value if isinstance(node, yaml.ScalarNode) else ''}".strip()
        raise RefusedError(
            f"{what[:120]} names code, and no code of other tools is run",
            where=f"{where}:{line}",
            fix="Write its result into the data as a column, and name that column here",
        )
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, where)
    if isinstance(node, yaml.SequenceNode):
        return [_value(below, where) for below in node.value]
    return scalar(node)


def _mapping(node: yaml.MappingNode, where: str) -> dict[str, Any]:
    """A table with text keys; ``<<`` brings in another one, whose keys give way."""
    merged: dict[str, Any] = {}
    own: dict[str, Any] = {}
    for key, below in node.value:
        value = _value(below, where)
        if key.tag == f"{_PLAIN}merge":
            for one in value if isinstance(value, list) else [value]:
                merged = (one if isinstance(one, dict) else {}) | merged
        else:
            own[str(key.value) if isinstance(key, yaml.ScalarNode) else "?"] = value
    return merged | own
