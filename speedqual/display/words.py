"""The string catalogue: what a page or a figure says, in each language, under one key.

A catalogue is a TOML file ``<lang>.toml`` in the package that uses it; ``{name}`` is replaced. Tests hold the keys of
all languages equal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from speedqual.errors import UsageError

__all__ = ["LANGUAGES", "Words"]

LANGUAGES = ("en", "zh")
_BLANK = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one language: ``words("table.quality", n=3)``; a subclass names the ``package`` that has them."""

    lang: str
    texts: Mapping[str, str]
    package: ClassVar[str] = ""

    @classmethod
    def load(cls, lang: str) -> Self:
        """Raises UsageError for a language that has no catalogue."""
        import tomllib
        from importlib.resources import files

        if lang not in LANGUAGES:
            raise UsageError(f"no language {lang!r}", where="lang", fix=f"Use one of: {', '.join(LANGUAGES)}")
        tree = tomllib.loads(files(cls.package).joinpath(f"{lang}.toml").read_text(encoding="utf-8"))
        return cls(lang, dict(_flat(tree)))

    def __call__(self, key: str, **values: object) -> str:
        """The text under ``key`` with its ``{name}``s filled in. Raises KeyError for a key that no catalogue has."""
        return _BLANK.sub(lambda blank: str(values.get(blank[1], blank[0])), self.texts[key])

    def known(self, key: str, other: str) -> str:
        """The text under ``key``, or ``other`` for words that come from outside (a custom grader's failure)."""
        return self.texts.get(key, other)


def _flat(tree: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for key, value in tree.items():
        name = f"{prefix}{key}"
        rows += _flat(value, f"{name}.") if isinstance(value, dict) else [(name, value)]
    return rows
