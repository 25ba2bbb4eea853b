"""Finding the program in an answer. Pure text: nothing is compiled or run here; time is linear in the answer."""

from __future__ import annotations

import re
from collections.abc import Sequence

from speedqual.grading.code.extraction_other import extract_other
from speedqual.grading.code.extraction_python import extract_python
from speedqual.grading.code.found import ALIASES, Extracted, canonical_language
from speedqual.grading.text import is_blank

__all__ = ["ALIASES", "Extracted", "canonical_language", "extract"]


_MARK = re.compile("^\ufeff+", re.MULTILINE)
_LINE_END = re.compile(r"\r\n?")


def extract(text: str, *, language: str, entry_point: str = "", prompts: Sequence[str] = ()) -> Extracted:
    """The program of ``language`` in an answer without its thinking.

    ``prompts``: texts of the item that may hold a signature.
    """
    if is_blank(text):
        return Extracted(failure="no_answer", how="the answer is empty")
    text = _MARK.sub("", _LINE_END.sub("\n", text).lstrip("\u200b\u2060"))
    if language == "python":
        return extract_python(text, entry_point, prompts)
    return extract_other(text, language, entry_point)
