"""Every word that a report says, one TOML file a language."""

from __future__ import annotations

from typing import ClassVar

from speedqual.display import words
from speedqual.display.words import LANGUAGES

__all__ = ["LANGUAGES", "Words"]


class Words(words.Words):
    """The words of a report in one language."""

    package: ClassVar[str] = __name__
