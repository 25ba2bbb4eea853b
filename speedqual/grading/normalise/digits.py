"""Characters before numbers: one script of digits, one minus, one space."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["MAX_CHARS", "VULGAR", "ascii_digits"]

MAX_CHARS = 400
"""Longer texts are no numbers; keeps hostile input cheap."""

_SIGNS = str.maketrans(
    {
        **dict.fromkeys("\u2212\u2013\u2012\u2010\u2011\ufe63\uff0d", "-"),
        **dict.fromkeys("\u200b\u200e\u200f\u202a\u202c\u2066\u2069\ufeff", ""),
        "٫": ".",
        "٬": ",",
        "\u2019": "'",
    }
)
_SUPERSCRIPT = re.compile(r"[\u00b2\u00b3\u00b9\u2070-\u208e]")
VULGAR = {
    "½": "0.5",
    "¼": "0.25",
    "¾": "0.75",
    "⅕": "0.2",
    "⅖": "0.4",
    "⅗": "0.6",
    "⅘": "0.8",
    "⅛": "0.125",
    "⅜": "0.375",
    "⅝": "0.625",
    "⅞": "0.875",
}


def ascii_digits(text: str) -> str:
    """NFKC, every decimal digit as ASCII, one kind of minus, single spaces. Superscripts stay what they are."""
    if text.isascii():
        return " ".join(text.split())
    if _SUPERSCRIPT.search(text) or any(c in VULGAR for c in text):
        folded = "".join(c if _SUPERSCRIPT.match(c) or c in VULGAR else unicodedata.normalize("NFKC", c) for c in text)
    else:
        folded = unicodedata.normalize("NFKC", text)
    folded = folded.translate(_SIGNS)
    if not folded.isascii():
        folded = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in folded)
    return " ".join(folded.split())
