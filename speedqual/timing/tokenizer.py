"""Counting tokens where the server does not: the whole text at once, never with special tokens."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sized
from dataclasses import dataclass
from typing import Any, Protocol

__all__ = ["Tokenizer", "Words", "tokenizer_from"]


class Tokenizer(Protocol):
    """Counts the tokens of a text; ``name`` is shown beside every number that rests on it."""

    @property
    def name(self) -> str: ...

    def count(self, text: str) -> int:
        """Tokens of ``text`` without any that an encoder adds on its own."""
        ...


@dataclass(frozen=True, slots=True)
class Words:
    """Words between white space: for tests and for rough comparisons of texts that have spaces."""

    name: str = "whitespace"

    def count(self, text: str) -> int:
        return len(text.split())


@dataclass(frozen=True, slots=True)
class _Encoder:
    name: str
    encode: Callable[[str], Sized]
    n_special: int

    def count(self, text: str) -> int:
        return max(0, len(self.encode(text)) - self.n_special)


def tokenizer_from(encoder: Any, name: str) -> Tokenizer:
    """Any object with ``encode``: of ``transformers``, ``tokenizers``, ``tiktoken``, or a test's own.

    Special tokens are switched off where the encoder can; else the number it adds to an empty text is taken off.
    """
    if hasattr(encoder, "encode_ordinary"):
        return _Encoder(name, encoder.encode_ordinary, 0)
    if "add_special_tokens" in inspect.signature(encoder.encode).parameters:
        return _Encoder(name, lambda text: encoder.encode(text, add_special_tokens=False), 0)
    return _Encoder(name, encoder.encode, len(encoder.encode("")))
