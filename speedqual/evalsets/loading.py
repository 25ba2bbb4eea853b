"""Read an eval set: find its files, read card and rows, check them, give back one frozen ``EvalSet``.

Nothing of the set is executed here.
"""

from __future__ import annotations

import logging
import random
from dataclasses import dataclass, replace
from pathlib import Path

from speedqual.errors import EvalSetError
from speedqual.evalsets import generators
from speedqual.evalsets.card import Card, read_card
from speedqual.evalsets.columncheck import check_columns
from speedqual.evalsets.graders import grader_of
from speedqual.evalsets.guesses import guess_prompt
from speedqual.evalsets.hashing import hashed
from speedqual.evalsets.jsonl import Row
from speedqual.evalsets.jsonl import read as read_jsonl
from speedqual.evalsets.problems import Findings, quoted
from speedqual.evalsets.rows import Reading, items_of
from speedqual.evalsets.sources import Source, find, with_seed
from speedqual.records import EvalSet, GraderSpec, Item, Message

__all__ = ["Loaded", "load", "read"]

_log = logging.getLogger("speedqual.evalsets")


def load(name_or_path: str | Path, *, seed: int | None = None, allow_code: bool = False) -> EvalSet:
    """The eval set in a folder, in a bare .jsonl file, or built in under that name.

    ``NAME@minimal`` keeps only the items whose ``tags`` contain "minimal"; ``NAME#7``, or ``seed=7``, makes the items
    of a generated set anew from that seed, which becomes part of the name. Code that the set brings along (grader.py)
    runs only with ``allow_code``. Raises EvalSetError at the first thing that is wrong, with file, line and fix.
    """
    source = find(name_or_path)
    if seed is not None:
        source = with_seed(source, seed)
    findings = Findings()
    try:
        evalset = read(source, findings, allow_code=allow_code).evalset
    except OSError as fault:
        raise EvalSetError(f"it cannot be read ({fault.strerror})", where=source.name, fix="Check its rights") from None
    findings.raise_first()
    for problem in findings.problems:
        _log.warning("%s", problem)
    return select(evalset, source.tag)


def select(evalset: EvalSet, tag: str) -> EvalSet:
    """Only the items with this tag; all of them when ``tag`` is empty."""
    if not tag:
        return evalset
    items = tuple(item for item in evalset.items if tag in item.tags)
    if not items:
        tags = sorted({one for item in evalset.items for one in item.tags})
        fix = f"Use one of: {quoted(tags)}" if tags else "Give rows a column tags"
        raise EvalSetError(f"no item has the tag {tag!r}", where=f"eval set {evalset.name}", fix=fix)
    return hashed(replace(evalset, name=f"{evalset.name}@{tag}", items=items))


@dataclass(frozen=True, slots=True)
class Loaded:
    """An eval set with the card and rows that it was read from, for whoever looks for faults in them."""

    source: Source
    card: Card
    evalset: EvalSet
    rows: dict[str, list[Row]]  # split → rows in the order of the file

    def places(self) -> dict[str, str]:
        """``folder/file:line`` of every item and example, by id."""
        places: dict[str, str] = {}
        for split, items in (("test", self.evalset.items), (self.card.fewshot.split, self.evalset.fewshot)):
            lines = {id(row.data): row.line for row in self.rows.get(split, [])}
            file = self.source.where(self.source.rows.name if split == "test" else f"{split}.jsonl")
            places |= {item.id: f"{file}:{lines[id(item.row)]}" for item in items}
        return places


def read(source: Source, findings: Findings, *, allow_code: bool = False) -> Loaded:
    """The set as far as it can be read; all that is wrong goes to ``findings``."""
    card = Card.empty(source.where(source.rows.name))
    if not source.bare:
        card = read_card(source.inside("README.md"), source.where("README.md"), findings)
    rows = {"test": _test_rows(source, card, findings)}
    grader = grader_of(source, card, rows["test"], findings, allow_code=allow_code)
    shots = _read_shots(source, card, findings)
    if shots is not None:
        rows[card.fewshot.split] = shots
    reader = _Reader(source, card, grader, findings)
    evalset = reader.evalset(rows["test"], shots or [])
    check_columns(evalset, card, rows, source, findings)
    return Loaded(source, card, hashed(evalset), rows)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Turns card and rows into the record."""

    source: Source
    card: Card
    grader: GraderSpec
    findings: Findings

    def evalset(self, rows: list[Row], shots: list[Row]) -> EvalSet:
        card = self.card
        system, messages, prompt = self._asked(rows)
        items, fewshot = self._items(rows, self.source.rows.name), self._fewshot(shots)
        return EvalSet(
            name=self.source.title,
            task=card.task or self.grader.name,
            items=items,
            grader=self.grader,
            prompt=prompt,
            messages=messages,
            system=system,
            fewshot=fewshot,
            shots=min(card.fewshot.n, len(fewshot)),
            floor=card.floor,
            success_at=card.success_at,
            difficulty_order=card.tiers.order,
            max_tokens=card.max_tokens,
            stop=card.stop,
            repeats=card.repeats,
            timeout_s=card.timeout,
            version=card.version,
            licence=card.licence,
        )

    def _items(self, rows: list[Row], file: str) -> tuple[Item, ...]:
        reading = Reading(
            card=self.card,
            where=self.source.where(file),
            findings=self.findings,
            needs_target=self.grader.name in {"extraction", "exact"},
            may_lack_id=not self.card.found,
        )
        return items_of(rows, reading)

    def _fewshot(self, shots: list[Row]) -> tuple[Item, ...]:
        """All examples in the order in which they are taken."""
        fewshot = self.card.fewshot
        items = self._items(shots, f"{fewshot.split}.jsonl")
        if fewshot.n > len(items) and items:
            what = f"fewshot.n is {fewshot.n}, and {fewshot.split}.jsonl has {len(items)} rows"
            self.findings.error(self.card.at("fewshot", "n"), what, "Lower n or add rows")
        return items if fewshot.seed is None else tuple(random.Random(fewshot.seed).sample(items, len(items)))

    def _asked(self, rows: list[Row]) -> tuple[str, tuple[Message, ...], str]:
        """System text, messages and prompt, from the card or guessed from the columns."""
        card, findings = self.card, self.findings
        system, messages, prompt = card.system, card.messages, card.prompt
        if messages and messages[0].role == "system":
            if system:
                findings.error(card.at("system"), "system stands here and in messages", "Keep one of them")
            system, messages = str(messages[0].content), messages[1:]
        if card.messages and (not messages or messages[-1].role != "user"):
            findings.error(card.at("messages"), "the last turn is not the user's", "End with {role: user, content: …}")
        if not prompt and not messages and not all(row.data.get("messages") for row in rows):
            prompt = guess_prompt([row.data for row in rows], self.grader.name)
            if not prompt:
                by_card = '`prompt: "… {column} …"` to the card, or ' if card.found else ""
                fix = f"Add {by_card}a column prompt, question, text or messages"
                findings.error(card.at(), "there is no prompt, and no column that could be one", fix)
        return system, messages, prompt


def _test_rows(source: Source, card: Card, findings: Findings) -> list[Row]:
    """The rows of ``test.jsonl``, or made anew from the seed that was asked for."""
    if source.seed is None:
        return _read_rows(source, source.rows.name, findings)
    if not card.generator:
        fix = f"Write {source.name} without #{source.seed}; sets with a seed name a generator in their card"
        findings.error(card.at(), "the items of this set are not made from a seed", fix)
        return []
    made = generators.rows(card.generator, source.seed)
    return [Row(number, row) for number, row in enumerate(made, 1)]


def _read_rows(source: Source, file: str, findings: Findings) -> list[Row]:
    path, where = source.rows if source.bare else source.inside(file), source.where(file)
    if path is None:
        findings.error(where, "the file lies outside the folder of the set", "Put a copy into the folder")
        return []
    if not path.is_file():
        fix = _other_rows(source) if path.name == "test.jsonl" else "Write the examples into it, or remove fewshot"
        findings.error(where, "there is no such file", fix)
        return []
    return read_jsonl(path, where, findings)


def _other_rows(source: Source) -> str:
    suffixes = {".jsonl", ".ndjson", ".json", ".csv", ".parquet"}
    others = sorted(path.name for path in source.folder.glob("*") if path.suffix in suffixes)
    return f"Rename or convert one of: {quoted(others)}" if others else "Write one JSON object a line into it"


def _read_shots(source: Source, card: Card, findings: Findings) -> list[Row] | None:
    """The rows of the examples; None when the set has none."""
    fewshot, file = card.fewshot, f"{card.fewshot.split}.jsonl"
    if fewshot.split == "test":
        what = "the examples would be the items that are asked"
        findings.error(card.at("fewshot", "split"), what, "Put them in fewshot.jsonl")
        return None
    if source.bare or (fewshot.n == 0 and not (source.folder / file).is_file()):
        return None
    return _read_rows(source, file, findings)
