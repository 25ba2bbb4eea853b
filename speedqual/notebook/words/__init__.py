"""Every word that a live view or a widget says, one TOML file a language."""

from __future__ import annotations

from functools import cache
from typing import ClassVar

from speedqual.display import words

__all__ = ["NotebookWords", "notebook_words"]


class NotebookWords(words.Words):
    """The words of live views and widgets in one language."""

    package: ClassVar[str] = __name__

    def group(self, name: str) -> dict[str, str]:
        """All texts of one table by their last key, for a script that fills in its own blanks."""
        head = f"{name}."
        return {key.removeprefix(head): text for key, text in self.texts.items() if key.startswith(head)}


@cache
def notebook_words(lang: str) -> NotebookWords:
    """The catalogue of ``lang``, read once. Raises UsageError for a language without one."""
    return NotebookWords.load(lang)
