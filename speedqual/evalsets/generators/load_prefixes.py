"""Pairs of long prompts that begin alike: the first is new to every cache, the second may find its beginning there.

A pair is asked one after the other. Where they part, each has a code of its own, so that a reply taken from the wrong
prompt is a wrong answer. The column ``prefix`` names those that begin alike: with a line of their own put first, a cold
prompt stays cold for a cache that another run has filled.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from speedqual.evalsets.generators.load_texts import ANSWER, LANGS, load_set
from speedqual.evalsets.generators.prose import CHARS_PER_TOKEN, paragraphs
from speedqual.evalsets.generators.words import names, rng
from speedqual.records import EvalSet

__all__ = ["Differs", "prefix_pairs"]

Differs = Literal["rest", "line"]
"""What differs from the first difference on: all the rest, or that line alone."""


def prefix_pairs(
    tokens: int,
    share: float,
    seed: int = 0,
    *,
    differs: Differs = "rest",
    n: int = 6,
    langs: Sequence[str] = LANGS,
    max_tokens: int = 64,
) -> EvalSet:
    """``n`` pairs a language over about ``tokens`` tokens; the first difference stands after ``share`` of the text.

    Items alternate: ``…-cold``, ``…-warm``, which the column ``note`` says too. Share 1 asks the same prompt twice.
    """
    name = f"prefix-{tokens}-{round(share * 100)}{'-line' if differs == 'line' else ''}"
    pairs = (_Pair(seed, tokens, share, differs, lang, copy) for copy in range(n) for lang in langs)
    rows = (row for pair in pairs for row in pair.rows())
    return load_set(name, "load", rows, "{text}\n\n{question}", ANSWER, max_tokens)


@dataclass(frozen=True, slots=True)
class _Pair:
    """One cold and one warm prompt."""

    seed: int
    tokens: int
    share: float
    differs: Differs
    lang: str
    copy: int

    def rows(self) -> Iterator[dict[str, Any]]:
        r = rng("prefix", self.seed, self.tokens, self.share, self.differs, self.lang, self.copy)
        (who,) = names(r, self.lang, 1)
        codes = r.sample(range(100_000, 1_000_000), 2)
        shared, cold_rest, warm_rest = self._parts(r)
        cluster = f"{self.lang}-pair-{self.copy + 1}"
        for note, code, rest in (("cold", codes[0], cold_rest), ("warm", codes[1], warm_rest)):
            told = _CODE[self.lang].format(who=who, code=codes[0] if self.share == 1 else code)
            yield {
                "id": f"{cluster}-{note}",
                "lang": self.lang,
                "cluster": cluster,
                "note": note,
                "prefix": cluster if shared else f"{cluster}-{note}",
                "text": self._joined([*shared, told, *rest]),
                "question": _ASKED[self.lang].format(who=who),
                "target": {"answer": codes[0] if self.share == 1 else code},
            }

    def _parts(self, r: random.Random) -> tuple[list[str], list[str], list[str]]:
        """Sentences that both begin with, then those of the cold and of the warm prompt."""
        text = self._sentences(r)
        cut = _cut(text, self.share)
        if self.share == 1 or self.differs == "line":
            return text[:cut], text[cut:], text[cut:]
        other = self._sentences(r)
        return text[:cut], text[cut:], other[_cut(other, self.share) :]

    def _sentences(self, r: random.Random) -> list[str]:
        chars = int(self.tokens * CHARS_PER_TOKEN[self.lang])
        return [sentence for paragraph in paragraphs(r, self.lang, chars) for sentence in paragraph]

    def _joined(self, sentences: list[str]) -> str:
        return ("" if self.lang == "zh" else " ").join(sentences)


def _cut(sentences: list[str], share: float) -> int:
    """How many sentences make up ``share`` of the text."""
    wanted, length = share * sum(map(len, sentences)), 0
    for number, sentence in enumerate(sentences):
        if length >= wanted:
            return number
        length += len(sentence)
    return len(sentences)


_CODE = {"en": "The code of {who}'s locker is {code}.", "zh": "{who}储物柜的密码是{code}。"}
_ASKED = {
    "en": "What is the code of {who}'s locker? Reply with the number alone.",
    "zh": "{who}储物柜的密码是多少？只回答数字。",
}
