"""The YAML header of a dataset card, with the line and column of every value in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from speedqual.evalsets.problems import Findings

__all__ = ["Header", "read_header", "scalar"]

_MAX_CHARS = 64 * 1024
_FENCE = re.compile(r"^---[ \t]*$", re.MULTILINE)

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Header:
    """What stands between the two ``---`` lines. ``nodes`` maps the path of a value to its place in the file."""

    where: str
    text: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    nodes: dict[Path, yaml.Node] = field(default_factory=dict)
    keys: dict[Path, yaml.Node] = field(default_factory=dict)

    def at(self, *path: str | int) -> str:
        """``file:line:column`` of the key at ``path``, or of the nearest one above it that exists."""
        for length in range(len(path), 0, -1):
            node = self.keys.get(path[:length]) or self.nodes.get(path[:length])
            if node is not None:
                return self._place(node.start_mark.line, node.start_mark.column)
        return self.where

    def raw(self, *path: str | int) -> str:
        """The scalar as written, before YAML makes a number or a date of it."""
        node = self.nodes.get(path)
        return node.value if isinstance(node, yaml.ScalarNode) else ""

    def find(self, text: str, *path: str | int) -> str:
        """``file:line:column`` of the first ``text`` inside the value at ``path``."""
        node = self.nodes.get(path)
        if node is None:
            return self.at(*path)
        start = self.text.find(text, node.start_mark.index, node.end_mark.index)
        if start < 0:
            return self.at(*path)
        line = self.text.count("\n", 0, start)
        return self._place(line, start - (self.text.rfind("\n", 0, start) + 1))

    def _place(self, line: int, column: int) -> str:
        return f"{self.where}:{line + 1}:{column + 1}"


def read_header(text: str, where: str, findings: Findings) -> Header | None:
    """The header of a README.md; None when there is none or it is not valid YAML."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    block = _cut(text, where, findings)
    if block is None:
        return None
    root = _compose(block, where, findings)
    if root is None:
        return None
    if not isinstance(root, yaml.MappingNode):
        findings.error(
            f"{where}:2", "the header is not a table of keys", "Write `key: value` lines between the --- lines"
        )
        return None
    header = Header(where, block)
    for path, key, node in _walk(root, ()):
        if path in header.nodes:
            place = header._place(key.start_mark.line, key.start_mark.column)
            findings.error(place, f"the key {path[-1]!r} stands twice", "Keep one of them")
            return None
        header.nodes[path] = node
        if key is not node:
            header.keys[path] = key
    header.data.update(_construct(root))
    if not _is_text(header.data):
        findings.error(
            where, "the header has half of a surrogate pair (\\ud800 to \\udfff)", "Write the character itself"
        )
        return None
    return header


def _is_text(data: dict[str, Any]) -> bool:
    """Whether all of it can be sent as UTF-8."""
    try:
        json.dumps(data, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _cut(text: str, where: str, findings: Findings) -> str | None:
    """The text up to the closing ``---``; the opening one becomes an empty line, so that lines keep their numbers."""
    first, _, rest = text.partition("\n")
    if first.rstrip() != "---":
        fix = "Begin the file with a line ---, then `speedqual: {task: …}`, then another line ---"
        findings.error(f"{where}:1", "the card has no YAML header", fix)
        return None
    end = _FENCE.search(rest)
    if end is None:
        findings.error(f"{where}:1", "the YAML header is not closed", "Put a line --- after it")
        return None
    if end.start() > _MAX_CHARS:
        findings.error(f"{where}:1", f"the YAML header is longer than {_MAX_CHARS // 1024} KiB", "Move text below it")
        return None
    return "\n" + rest[: end.start()]


def _compose(block: str, where: str, findings: Findings) -> yaml.Node | None:
    try:
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(block, Loader=yaml.SafeLoader)):
            findings.error(where, "the header uses a YAML alias (*name)", "Write the value out")
            return None
        root = yaml.compose(block, Loader=yaml.SafeLoader)
    except yaml.YAMLError as fault:
        findings.error(*_explain(fault, block, where))
        return None
    except RecursionError:
        findings.error(where, "the header is nested too deeply", "Make it simpler")
        return None
    if root is None:
        findings.error(f"{where}:2", "the YAML header is empty", "Add `speedqual: {task: …, prompt: …}`")
    return root


def _explain(fault: yaml.YAMLError, block: str, where: str) -> tuple[str, str, str]:
    if isinstance(fault, yaml.reader.ReaderError):
        line = block.count("\n", 0, fault.position) + 1
        column = fault.position - block.rfind("\n", 0, fault.position)
        return f"{where}:{line}:{column}", "the header has a character that YAML forbids", "Remove it"
    mark = getattr(fault, "problem_mark", None)
    problem = getattr(fault, "problem", None) or "it cannot be read"
    if "end of stream" in problem or "<stream end>" in problem:
        mark = getattr(fault, "context_mark", None) or mark  # what is not closed, rather than where the file ends
        problem = "this is not closed"
    place = f"{where}:{mark.line + 1}:{mark.column + 1}" if mark else where
    return place, f"YAML slip: {problem}", _advice(problem, block, mark.line if mark else 0)


def _advice(problem: str, block: str, line: int) -> str:
    lines = block.split("\n")
    written = lines[line] if line < len(lines) else ""
    if "\\t" in problem or written.startswith("\t"):
        return "Indent with spaces, not tabs"
    if "mapping values are not allowed" in problem:
        return "Quote a value that contains `: `, or write long text under `key: |`"
    if "expected ',' or" in problem:
        return "Close the bracket or brace, or quote the value before this place"
    if "cannot start any token" in problem:
        return "Quote the value"
    if "expected <block end>" in problem:
        return "Indent the keys of one table alike"
    if problem == "this is not closed":
        return "Add the closing quote, bracket or brace"
    return "Quote values that contain special characters, and indent with spaces"


def _walk(node: yaml.Node, path: Path) -> Iterator[tuple[Path, yaml.Node, yaml.Node]]:
    """Every value below ``node``: its path, the node of its key (of itself inside a list), its node."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            below = (*path, _name(key))
            yield below, key, value
            yield from _walk(value, below)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield (*path, index), value, value
            yield from _walk(value, (*path, index))


def _name(key: yaml.Node) -> str:
    return key.value if isinstance(key, yaml.ScalarNode) else "?"


def _construct(node: yaml.Node) -> Any:
    """Plain values: unlike YAML 1.1, dates stay text and only true and false are booleans; keys are text."""
    if isinstance(node, yaml.MappingNode):
        return {_name(key): _construct(v) for key, v in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_construct(value) for value in node.value]
    return scalar(node)


def scalar(node: Any) -> Any:
    """A plain value of YAML 1.2: dates stay text, only true and false are booleans."""
    text: str = node.value
    kind = node.tag.rpartition(":")[2]
    if kind == "bool" and text.lower() in {"true", "false"}:
        return text.lower() == "true"
    if kind == "null":
        return None
    try:
        if kind == "int":
            return int(text.replace("_", ""), 10)
        if kind == "float":
            return float(text.replace("_", ""))
    except ValueError:
        return text
    return text
