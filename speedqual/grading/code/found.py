"""What extraction finds, and the names of languages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from speedqual.grading.code.fences import Fence
from speedqual.records import Failure

__all__ = ["ALIASES", "Extracted", "canonical_language", "nothing"]

ALIASES = {
    "python": "py python2 python3 pycon ipython ipython3 python-repl",
    "javascript": "js node mjs cjs jsx ecmascript",
    "typescript": "ts mts cts tsx",
    "json": "json5 jsonc",
    "yaml": "yml",
    "toml": "",
    "html": "html5 htm xhtml",
    "css": "",
    "glsl": "frag vert shader opengl",
    "sql": "sqlite sqlite3 postgresql mysql",
    "c": "h",
    "c++": "cpp cc cxx hpp",
    "rust": "rs",
    "go": "golang",
    "java": "",
    "bash": "sh shell zsh",
}
_CANONICAL = {alias: name for name, aliases in ALIASES.items() for alias in (name, *aliases.split())}
_INLINE = re.compile(r"`[^`\n]+`")


@dataclass(frozen=True, slots=True)
class Extracted:
    """The program, the rule that found it, and what to know about the choice. ``failure`` is set when there is none."""

    source: str = ""
    how: str = ""
    flags: tuple[str, ...] = ()
    failure: Failure = "none"
    cut: bool = False  # the block never ended, so a token limit may have cut it
    alone: str = ""  # the chosen block without those that were joined to it


def canonical_language(word: str) -> str:
    """``py3.11`` → python, ``cpp`` → c++, ``main.js`` → javascript; an unknown word as it is, in lower case."""
    word = word.strip().lower()
    if re.fullmatch(r"(?:python|py)[\d.]+", word):
        return "python"
    return _CANONICAL.get(word) or _CANONICAL.get(word.rpartition(".")[2] if "." in word else "", word)


def nothing(text: str, blocks: Sequence[Fence]) -> Extracted:
    """Why there is no program."""
    if blocks:
        tags = ", ".join(sorted({block.language or "no language" for block in blocks}))
        return Extracted(failure="wrong_format", how=f"no fence of the language asked for, only: {tags}")
    if _INLINE.search(text):
        return Extracted(failure="no_answer", how="prose that only quotes code")
    return Extracted(failure="no_code", how="no program in the answer")
