"""The string catalogue: every word that a report says, in each language, under one key.

A catalogue is a TOML file of this folder; ``{name}`` is replaced. A test holds the keys of all languages equal.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from speedqual.errors import UsageError

__all__ = ["LANGUAGES", "Words"]

LANGUAGES = ("en", "zh")


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one language: ``words("table.quality", n=3)``."""

    lang: str
    texts: Mapping[str, str]

    @classmethod
    def load(cls, lang: str) -> Words:
        """Raises UsageError for a language that has no catalogue."""
        if lang not in LANGUAGES:
            raise UsageError(f"no report language {lang!r}", where="--lang", fix=f"Use one of: {', '.join(LANGUAGES)}")
        tree = tomllib.loads(files(__package__).joinpath(f"{lang}.toml").read_text(encoding="utf-8"))
        return cls(lang, dict(_flat(tree)))

    def __call__(self, key: str, **values: object) -> str:
        """The text under ``key`` with its ``{name}``s filled in. Raises KeyError for a key that no catalogue has."""
        text = self.texts[key]
        for name, value in values.items():
            text = text.replace("{" + name + "}", str(value))
        return text

    def known(self, key: str, other: str) -> str:
        """The text under ``key``, or ``other`` for words that come from outside (a custom grader's failure)."""
        return self.texts.get(key, other)


def _flat(tree: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for key, value in tree.items():
        name = f"{prefix}{key}"
        rows += _flat(value, f"{name}.") if isinstance(value, dict) else [(name, value)]
    return rows
