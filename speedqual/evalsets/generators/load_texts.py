"""What a load test asks: short questions, long inputs, long outputs. Each has a known answer or a plain check.

So that speed and quality under load come from the same requests. English and Chinese alternate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from speedqual.evalsets.generators import long_context, reasoning
from speedqual.evalsets.generators.words import names, rng
from speedqual.evalsets.hashing import hashed
from speedqual.records import EvalSet, GraderSpec, Item

__all__ = ["ANSWER", "LANGS", "load_set", "long_input", "long_output", "short_text"]

LANGS = ("en", "zh")
ANSWER = GraderSpec(name="exact", options={"final": True})
_SHORT_TOKENS = 256
_ANSWER_TOKENS = 200
_VERSION = "1.0"


def load_set(
    name: str, task: str, rows: Iterable[Mapping[str, Any]], prompt: str, grader: GraderSpec, max_tokens: int
) -> EvalSet:
    """The rows as a set in memory; each has ``id`` and ``lang``, and may have ``target`` and ``cluster``."""
    items = tuple(
        Item(id=row["id"], row=row, target=row.get("target"), cluster=row.get("cluster", ""), language=row["lang"])
        for row in rows
    )
    return hashed(
        EvalSet(
            name=name,
            task=task,
            items=items,
            grader=grader,
            prompt=prompt,
            max_tokens=max_tokens,
            version=_VERSION,
            licence="cc-by-4.0",
        )
    )


def short_text(seed: int = 0, *, langs: Sequence[str] = LANGS, max_tokens: int = _SHORT_TOKENS) -> EvalSet:
    """Questions of about 80 tokens that are answered in a few sentences: 24 easy puzzles a language."""
    easy = [row for row in reasoning.rows(seed) if row["tier"] == "easy"]
    by_lang = [[row for row in easy if row["lang"] == lang] for lang in langs]
    rows = [row for together in zip(*by_lang, strict=True) for row in together]
    return load_set("short-text", "load", rows, "{question}\n\n{ask}", ANSWER, max_tokens)


def long_input(
    tokens: int, seed: int = 0, *, langs: Sequence[str] = LANGS, max_tokens: int = _ANSWER_TOKENS
) -> EvalSet:
    """Prose of about ``tokens`` tokens that hides one code among four: 6 questions a language.

    Question and answer are the same for every length, and so is the id.
    """
    rows = (
        long_context.row(seed, str(tokens), tokens, lang, "needle", copy)
        for copy in range(long_context.COPIES)
        for lang in langs
    )
    named = ({**row, "id": row["cluster"]} for row in rows)
    return load_set(f"long-input-{tokens}", "load", named, "{text}\n\n{question}", ANSWER, max_tokens)


_STORY = {
    "en": (
        "Write a long story about {name}, who runs a small ferry on a wide river. Follow a whole year, week by week, "
        "with what is seen, said and repaired each time. Write at least {words} words, call {name} by name, "
        "and neither sum up nor stop early."
    ),
    "zh": (
        "写一个很长的故事，主人公叫{name}，在一条大河上撑渡船。按时间一周一周地写完整整一年，"
        "每次都写看到的、说过的和修好的东西。至少写{words}个字，文中要出现{name}的名字，不要概括，也不要提前结束。"
    ),
}


def long_output(tokens: int, seed: int = 0, *, n: int = 6, langs: Sequence[str] = LANGS) -> EvalSet:
    """A story of more than ``tokens`` tokens, which is the limit; right when it is told and names its hero."""
    rows = (_story_row(tokens, seed, lang, copy) for copy in range(n) for lang in langs)
    grader = GraderSpec(name="assertions")
    return load_set(f"long-output-{tokens}", "load", rows, "{task}", grader, tokens)


def _story_row(tokens: int, seed: int, lang: str, copy: int) -> dict[str, Any]:
    (name,) = names(rng("long_output", seed, lang, copy), lang, 1)
    return {
        "id": f"{lang}-story-{copy + 1}",
        "lang": lang,
        "cluster": f"{lang}-story",
        "task": _STORY[lang].format(name=name, words=2 * tokens),
        "assert": [{"type": "contains", "value": name}, {"type": "not-is-refusal"}],
    }
