"""One prompt from an eval set, an item and a candidate.

The order is: system, examples, item. All that does not depend on the item comes first and is the same for every item,
so that a prefix cache can keep it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from speedqual.errors import EvalSetError
from speedqual.evalsets.template import fill, show
from speedqual.records import Candidate, EvalSet, Item, Message, Prompt

__all__ = ["build_prompt", "reference", "turns"]


def build_prompt(evalset: EvalSet, item: Item, candidate: Candidate) -> Prompt:
    """What the candidate is asked. Its ``shots`` and ``system`` win over those of the set.

    Raises EvalSetError when it wants more examples than the set has.
    """
    shots = evalset.shots if candidate.shots is None else candidate.shots
    system = evalset.system if candidate.system is None else candidate.system
    examples = [turn for example in _examples(evalset, shots, candidate) for turn in _example(evalset, example)]
    own, asked = _split_system(turns(evalset, item))
    head = "\n\n".join(text for text in (system, own) if text)
    messages = (*([Message("system", head)] if head else ()), *examples, *asked)
    return Prompt(messages=messages, max_tokens=evalset.max_tokens, stop=evalset.stop, tools=_tools(item))


def _tools(item: Item) -> tuple[dict[str, Any], ...]:
    """The functions that the item offers: its column ``tools``, each ``{"type": "function", "function": {…}}``."""
    offered = item.row.get("tools")
    if not isinstance(offered, list) or not all(isinstance(one, dict) and "function" in one for one in offered):
        return ()
    return tuple(offered)


def turns(evalset: EvalSet, item: Item) -> list[Message]:
    """The turns of one item: its own column ``messages``, else the card's messages or prompt, filled."""
    own = item.row.get("messages")
    if own and "{messages}" not in evalset.prompt:
        return [Message(turn["role"], turn["content"]) for turn in own]
    if evalset.messages:
        return [Message(turn.role, fill(str(turn.content), item.row)) for turn in evalset.messages]
    return [Message("user", fill(evalset.prompt, item.row))]


def reference(evalset: EvalSet, item: Item) -> str:
    """The right answer as an example shows it; empty when the item has none.

    The column ``answer`` as it is, else ``reference`` (code in a fence), else the target as JSON. A target that holds
    only ``answer`` is shown bare, unless the task is to extract.
    """
    row, target = item.row, item.target
    if isinstance(row.get("answer"), str):
        return str(row["answer"])
    if isinstance(row.get("reference"), str):
        return _fenced(evalset, row) if evalset.grader.name == "code" else str(row["reference"])
    if target is None:
        return ""
    if evalset.grader.name != "extraction" and isinstance(target, Mapping) and set(target) == {"answer"}:
        target = target["answer"]
    return show(target)


def _fenced(evalset: EvalSet, row: Mapping[str, Any]) -> str:
    language = row.get("language") or evalset.grader.options.get("language") or "python"
    return f"```{language}\n{str(row['reference']).rstrip()}\n```"


def _examples(evalset: EvalSet, shots: int, candidate: Candidate) -> tuple[Item, ...]:
    if not 0 <= shots <= len(evalset.fewshot):
        raise EvalSetError(
            f"{candidate.name} asks for {shots} examples and the set has {len(evalset.fewshot)}",
            where=f"eval set {evalset.name}",
            fix="Lower `shots`, or add rows to fewshot.jsonl",
        )
    return evalset.fewshot[:shots]


def _example(evalset: EvalSet, example: Item) -> list[Message]:
    _, asked = _split_system(turns(evalset, example))
    return [*asked, Message("assistant", reference(evalset, example))]


def _split_system(messages: list[Message]) -> tuple[str, list[Message]]:
    """The text of a leading system turn, and the rest: few protocols take a system turn further down."""
    first = messages[0]
    if first.role == "system" and isinstance(first.content, str):
        return first.content, messages[1:]
    return "", messages
