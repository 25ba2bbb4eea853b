"""How many tokens a text has, by rule of thumb, where no tokenizer can be asked."""

from __future__ import annotations

__all__ = ["text_tokens"]


def text_tokens(text: str) -> int:
    """4 ASCII or 1.25 other characters a token.

    >>> text_tokens("a" * 40), text_tokens("金额合计元")
    (10, 4)
    """
    n_ascii = len(text.encode("ascii", "ignore"))
    return round(n_ascii / 4 + (len(text) - n_ascii) * 0.8)
