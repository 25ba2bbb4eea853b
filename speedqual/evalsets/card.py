"""The card of an eval set: README.md, whose YAML header holds all settings under the key ``speedqual``."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from speedqual.evalsets.header import Header, read_header
from speedqual.evalsets.problems import Findings, nearest
from speedqual.evalsets.settings import KEYS, Fewshot, GraderKey, Tiers, Wrong, suggest
from speedqual.evalsets.textfiles import read_text
from speedqual.records import Message

__all__ = ["Card", "read_card"]

_KEY = "speedqual"


@dataclass(frozen=True, kw_only=True)
class Card:
    """The settings, read and checked; what the card does not say has its default."""

    header: Header
    task: str = ""
    prompt: str = ""
    messages: tuple[Message, ...] = ()
    system: str = ""
    grader: GraderKey = field(default_factory=GraderKey)
    floor: float | None = None
    success_at: float = 1.0
    tiers: Tiers = field(default_factory=Tiers)
    cluster: str = "cluster"
    fewshot: Fewshot = field(default_factory=Fewshot)
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    repeats: int = 1
    timeout: float | None = None
    version: str = ""
    languages: tuple[str, ...] = ()
    generator: str = ""
    licence: str = ""
    found: bool = False
    top: dict[str, Any] = field(default_factory=dict)  # the whole header: configs, dataset_info, …

    @classmethod
    def empty(cls, where: str) -> Card:
        """The card of a set that has none; what would be wrong with it is said of the file ``where``."""
        return cls(header=Header(where))

    def at(self, *path: str | int) -> str:
        """``file:line:column`` of a key under ``speedqual:``."""
        return self.header.at(_KEY, *path)


def read_card(path: Path | None, where: str, findings: Findings) -> Card:
    """The card in the file at ``path``; all defaults when there is no file (None: it lies outside the folder)."""
    if path is None:
        findings.error(where, "the card lies outside the folder of the set", "Put a copy into the folder")
    if path is None or not path.is_file():
        return Card(header=Header(where))
    text = read_text(path, where, findings)
    header = None if text is None else read_header(text, where, findings)
    return _read(header, findings) if header else Card(header=Header(where))


def _read(header: Header, findings: Findings) -> Card:
    licence = header.data.get("license")
    common: dict[str, Any] = {
        "header": header,
        "top": header.data,
        "licence": licence if isinstance(licence, str) else "",
    }
    if _KEY not in header.data:
        _say_no_settings(header, findings)
        return Card(**common)
    table = header.data[_KEY]
    if not isinstance(table, dict):
        findings.error(header.at(_KEY), f"{_KEY} is not a table of keys", "Write speedqual: {task: …, prompt: …}")
        return Card(**common)
    settings = {key: _value(header, key, value, findings) for key, value in table.items()}
    known = {key: value for key, value in settings.items() if value is not None}
    if "prompt" in known and "messages" in known:
        findings.error(header.at(_KEY, "messages"), "prompt and messages exclude each other", "Keep one of them")
    return Card(**common, **known, found=True)


def _say_no_settings(header: Header, findings: Findings) -> None:
    near = nearest(_KEY, header.data)
    if near:
        findings.error(header.at(near), f"unknown key {near!r}", f"Write {_KEY}")
    else:
        findings.warn(header.where, f"the header has no key {_KEY}, so that all settings are guessed", f"Add {_KEY}:")


def _value(header: Header, key: str, value: Any, findings: Findings) -> Any:
    """The value as its reader gives it; None when it is wrong (noted) or not given."""
    if key not in KEYS:
        findings.error(header.at(_KEY, key), f"unknown key {key!r}", suggest(key, KEYS))
        return None
    if value is None:
        findings.error(header.at(_KEY, key), f"{key} is empty", "Give it a value or remove it")
        return None
    if key == "version":
        value = header.raw(_KEY, key) or value  # 1.10 stays 1.10
    try:
        return KEYS[key](value)
    except Wrong as wrong:
        name = ".".join(str(part) for part in (key, *wrong.path))
        findings.error(header.at(_KEY, key, *wrong.path), f"{name} {wrong.what}", wrong.fix)
        return None
