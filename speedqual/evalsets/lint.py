"""What reads well and is still probably not meant."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from speedqual.evalsets.card import Card
from speedqual.evalsets.loading import Loaded
from speedqual.evalsets.problems import Findings, quoted
from speedqual.evalsets.prompts import reference, turns
from speedqual.records import EvalSet, Item, content_hash

__all__ = ["lint"]

_PAIR_KINDS = ("counterfactual", "paraphrase")
_BRACES = re.compile(r"\{\{?\s*(\w+)([.\[!:][^{}]*)?\s*\}?\}")

Places = Mapping[str, str]  # id of an item → file and line


def lint(loaded: Loaded, findings: Findings) -> None:
    """Note twins, leaks, lonely pairs, rows without anything to check, half-given tiers and odd braces."""
    evalset, places = loaded.evalset, loaded.places()
    _check_braces(evalset, loaded.card, findings)
    _check_twins(evalset, places, findings)
    _check_examples(evalset, places, findings)
    _check_pairs(evalset, places, findings)
    tierless = [item for item in evalset.items if not item.difficulty]
    if len(tierless) < len(evalset.items):
        _say(tierless, places, "no tier, unlike the others", "Give every item one", findings)
    empty = [item for item in evalset.items if _has_nothing(evalset, item)]
    _say(empty, places, "nothing to be graded by", "Add tests, or facts, forbidden or unanswerable", findings)


def _say(items: list[Item], places: Places, lack: str, fix: str, findings: Findings) -> None:
    """One warning for all items that lack the same."""
    if items:
        more = f", as {len(items) - 1} others" if len(items) > 1 else ""
        findings.warn(places[items[0].id], f"item {items[0].id} has {lack}{more}", fix)


def _has_nothing(evalset: EvalSet, item: Item) -> bool:
    needed: dict[str, Iterable[str]] = {"code": ("tests",), "facts": ("facts", "forbidden", "unanswerable")}
    columns = needed.get(evalset.grader.name, ())
    return bool(columns) and not any(item.row.get(column) for column in columns)


def _check_braces(evalset: EvalSet, card: Card, findings: Findings) -> None:
    columns = {column for item in evalset.items for column in item.row}
    for template in (evalset.prompt, *(str(turn.content) for turn in evalset.messages)):
        for match in _BRACES.finditer(template):
            written, name = match[0], match[1]
            if name in columns and written != f"{{{name}}}":
                what = f"{written} is not replaced as a whole: only {{{name}}} is"
                fix = f"Write {{{name}}} if you mean the column"
                findings.warn(card.header.find(written, "speedqual"), what, fix)
    if any(f"{{{column}}}" in evalset.system for column in columns):
        what = "the system text names a column, and nothing is replaced there: it is the same for all items"
        findings.warn(card.at("system"), what, "Move the column to the prompt")


def _check_twins(evalset: EvalSet, places: Places, findings: Findings) -> None:
    """Items that ask the same, and examples that are also asked."""
    seen: dict[str, Item] = {}
    for item in evalset.items:
        twin = seen.setdefault(content_hash(turns(evalset, item)), item)
        if twin is not item:
            findings.warn(places[item.id], f"item {item.id} asks the same as {twin.id}", "Change or remove one of them")
    for example in evalset.fewshot:
        asked = seen.get(content_hash(turns(evalset, example)))
        if asked is not None:
            what = f"the example {example.id} is also asked as item {asked.id}, with its answer in the prompt"
            findings.warn(places[asked.id], what, "Remove one of them")


def _check_examples(evalset: EvalSet, places: Places, findings: Findings) -> None:
    for example in evalset.fewshot:
        if not reference(evalset, example):
            what = f"the example {example.id} has no answer to show"
            findings.error(places[example.id], what, "Add a column answer, reference or target")


def _check_pairs(evalset: EvalSet, places: Places, findings: Findings) -> None:
    paired = [(item, item.row["pair"]) for item in evalset.items if item.row.get("pair")]
    sizes = Counter(str(pair.get("id")) for _, pair in paired)
    for item, pair in paired:
        if pair.get("kind") not in _PAIR_KINDS:
            what = f"pair.kind is {pair.get('kind')!r}"
            findings.warn(places[item.id], what, f"Use one of: {quoted(_PAIR_KINDS)}")
        if sizes[str(pair.get("id"))] == 1:
            what = f"the pair {pair.get('id')!r} has only this one item"
            findings.warn(places[item.id], what, "Add the other item with the same pair.id")
