"""The set ``reasoning``: twelve families of puzzles at three levels, in English and Chinese."""

from __future__ import annotations

from typing import Any

from speedqual.evalsets.generators import orders, quantities
from speedqual.evalsets.generators.words import Family, rng

__all__ = ["rows", "shipped_rows"]

_FAMILIES: dict[str, Family] = {
    "basket": quantities.basket,
    "stock": quantities.stock,
    "rates": quantities.rates,
    "share": quantities.share,
    "percent": quantities.percent,
    "journey": quantities.journey,
    "machine": quantities.machine,
    "ages": orders.ages,
    "race": orders.race,
    "weekday": orders.weekday,
    "cups": orders.cups,
    "count": orders.count,
}
_TIERS = ("easy", "medium", "hard")
_COPIES = 2
_ASK = {
    "en": "Work it out step by step. End with the answer on a line of its own, written as: Answer: ...",
    "zh": "请逐步推算，最后另起行写出结果，格式是：答案：……",
}


def rows(seed: int) -> list[dict[str, Any]]:
    """144 rows: 12 families x 3 levels x 2 languages x 2 copies."""
    return [
        _row(seed, lang, level, family, copy)
        for lang in ("en", "zh")
        for level in range(len(_TIERS))
        for family in _FAMILIES
        for copy in range(_COPIES)
    ]


shipped_rows = rows


def _row(seed: int, lang: str, level: int, family: str, copy: int) -> dict[str, Any]:
    puzzle = _FAMILIES[family](rng("reasoning", seed, lang, level, family, copy), level, lang)
    return {
        "id": f"{lang}-{_TIERS[level]}-{family}-{copy + 1}",
        "lang": lang,
        "tier": _TIERS[level],
        "cluster": f"{lang}-{family}",
        "tags": [family, lang],
        "question": puzzle.text,
        "ask": _ASK[lang],
        "aliases": list(puzzle.aliases),
        "target": {"answer": puzzle.answer},
    }
