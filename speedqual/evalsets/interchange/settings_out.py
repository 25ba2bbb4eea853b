"""The settings of a loaded set as the card would say them: the way back from ``EvalSet`` to the keys of the card."""

from __future__ import annotations

from typing import Any

from speedqual.evalsets.template import show
from speedqual.records import EvalSet, Item

__all__ = ["settings_of"]

_DEFAULTS: dict[str, Any] = {"success_at": 1.0, "repeats": 1}


def settings_of(evalset: EvalSet) -> dict[str, Any]:
    """The keys under ``speedqual:`` that give this set again, apart from its rows."""
    options = {key: value for key, value in evalset.grader.options.items() if not key.startswith("_")}
    settings: dict[str, Any] = {
        "task": evalset.task,
        "system": evalset.system,
        "messages": [{"role": turn.role, "content": turn.content} for turn in evalset.messages],
        "prompt": evalset.prompt,
        "grader": {"name": evalset.grader.name, **options},
        "floor": evalset.floor,
        "success_at": evalset.success_at,
        "tiers": _tiers(evalset),
        "cluster": _column(evalset.items, "cluster", "cluster"),
        "fewshot": {"split": "fewshot", "n": evalset.shots} if evalset.fewshot else None,
        "max_tokens": evalset.max_tokens,
        "stop": list(evalset.stop),
        "repeats": evalset.repeats,
        "timeout": evalset.timeout_s,
        "version": evalset.version,
    }
    return {
        key: value for key, value in settings.items() if value not in (None, "", []) and _DEFAULTS.get(key) != value
    }


def _tiers(evalset: EvalSet) -> dict[str, Any] | None:
    by = _column(evalset.items, "difficulty", "tier")
    order = list(evalset.difficulty_order)
    if not by:
        return {"order": order} if order else None
    return {"by": by} | ({"order": order} if order else {})


def _column(items: tuple[Item, ...], attribute: str, usual: str) -> str:
    """The column that the attribute of every item was read from; empty when no item has it."""
    if not any(getattr(item, attribute) for item in items):
        return ""
    columns = dict.fromkeys([usual, *(column for item in items for column in item.row)])
    return next((column for column in columns if _is_from(items, attribute, column)), "")


def _is_from(items: tuple[Item, ...], attribute: str, column: str) -> bool:
    return all(show(item.row.get(column)) == getattr(item, attribute) for item in items)
