"""The address of an eval set: a hash of all that changes an answer or a grade."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from speedqual.records import EvalSet, Item, content_hash

__all__ = ["hashed", "with_hash"]

_LABELS = frozenset({"tags"})  # columns that only select


def hashed(evalset: EvalSet) -> EvalSet:
    """The set with its hash.

    Not in it: name, version, licence, floor, success_at, repeats, tags, the order of the items, and whether its code
    may run.
    """
    options = {key: value for key, value in evalset.grader.options.items() if key != "_allow_code"}
    content = {
        "task": evalset.task,
        "prompt": evalset.prompt,
        "messages": evalset.messages,
        "system": evalset.system,
        "examples": [_content(item) for item in evalset.fewshot],
        "shots": evalset.shots,
        "max_tokens": evalset.max_tokens,
        "stop": evalset.stop,
        "timeout_s": evalset.timeout_s,
        "grader": [evalset.grader.name, options],
        "items": [_content(item) for item in sorted(evalset.items, key=lambda item: item.id)],
    }
    return replace(evalset, hash=content_hash(content))


def with_hash(evalset: EvalSet) -> EvalSet:
    """A set that was made in memory gets its hash; one that has it stays as it is."""
    return evalset if evalset.hash else hashed(evalset)


def _content(item: Item) -> list[Any]:
    return [item.id, {column: value for column, value in item.row.items() if column not in _LABELS}]
