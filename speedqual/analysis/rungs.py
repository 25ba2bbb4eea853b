"""Where rungs stand: from names such as "fp16", "Q4_K_M", "L32k" or "hard" to an order and a coordinate.

A ladder runs from easy to hard: more bits, shorter inputs, fewer users, easier tiers come first.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

__all__ = ["bits", "coordinates", "magnitude", "order_of"]

_BITS = (
    re.compile(r"(\d+(?:\.\d+)?)[ _-]?(?:bits?|bpw)(?![a-z])", re.I),
    re.compile(r"(?<![a-z0-9])(?:i?q|int|uint|fp|nf|bf|float|f|w|mxfp|nvfp)(\d{1,2})(?![0-9])", re.I),
)
_MAGNITUDE = re.compile(r"^[^\d.]*?(\d[\d,]*(?:\.\d+)?)\s*([kKmM]?)[^\d]*$")
_WORDS = (
    (
        "trivial",
        "very easy",
        "easy",
        "low",
        "simple",
        "medium",
        "moderate",
        "normal",
        "hard",
        "high",
        "very hard",
        "expert",
    ),
    ("非常简单", "简单", "容易", "低", "中", "中等", "难", "困难", "高", "很难", "非常困难"),
    ("short", "middle", "long", "very long"),
    ("short", "medium", "long", "very long"),
)
_FEWER_IS_HARDER = re.compile(r"bit|quant|precision|shot|max.?token|param|budget|layer", re.I)


def bits(name: str) -> float | None:
    """Nominal bits a weight in a quantisation's name.

    >>> [bits(n) for n in ("Ollama: fp16", "Q4_K_M", "hf-2.65bpw-h6", "w4-g128-awq", "Llama-3-8B")]
    [16.0, 4.0, 2.65, 4.0, None]
    """
    for pattern in _BITS:
        found = pattern.search(name)
        if found:
            return float(found.group(1))
    return None


def magnitude(name: str) -> float | None:
    """The number in a rung such as a length or a load; k is 1024 and m its square.

    >>> [magnitude(n) for n in ("L4k", "128K", "16", "8 users", "fast")]
    [4096.0, 131072.0, 16.0, 8.0, None]
    """
    found = _MAGNITUDE.match(name.strip())
    if not found:
        return None
    factor = {"": 1, "k": 1024, "m": 1024**2}[found.group(2).lower()]
    return float(found.group(1).replace(",", "")) * factor


def order_of(names: Sequence[str], ladder: str = "", x: Sequence[float | None] | None = None) -> list[int]:
    """Positions of ``names`` from easy to hard; the order given when nothing is known.

    >>> order_of(["hard", "easy", "medium"]), order_of(["q4", "fp16", "q8"])
    ([1, 2, 0], [1, 2, 0])
    """
    if x is not None and all(v is not None and math.isfinite(v) for v in x):
        return _sorted([float(v) for v in x if v is not None], reverse=False)
    words = _as_words(names)
    if words is not None:
        return _sorted(words, reverse=False)
    found = [bits(name) for name in names]
    if all(b is not None for b in found):
        return _sorted([b for b in found if b is not None], reverse=True)
    sizes = [magnitude(name) for name in names]
    if all(s is not None for s in sizes):
        return _sorted([s for s in sizes if s is not None], reverse=bool(_FEWER_IS_HARDER.search(ladder)))
    return list(range(len(names)))


def _sorted(values: Sequence[float], *, reverse: bool) -> list[int]:
    return sorted(range(len(values)), key=lambda i: -values[i] if reverse else values[i])


def _as_words(names: Sequence[str]) -> list[float] | None:
    low = [name.strip().lower() for name in names]
    for words in _WORDS:
        if all(name in words for name in low):
            return [float(words.index(name)) for name in low]
    return None


def coordinates(names: Sequence[str], x: Sequence[float | None] | None = None) -> tuple[list[float], str]:
    """Coordinate of each rung, in ladder order, and what it is; increasing, so that steps have positive width.

    Given x, else bits, else log2 of a magnitude that spans a factor of 4, else rank.

    >>> coordinates(["fp16", "q8", "q4"])
    ([-16.0, -8.0, -4.0], 'bits')
    >>> coordinates(["4k", "8k", "16k"])[1]
    'log2'
    """
    for values, what in _candidates(names, x):
        step = np.diff(values)
        if (step > 0).all() or (step < 0).all():
            return [float(v) for v in (values if step[0] > 0 else -values)], what
    return [float(i) for i in range(len(names))], "rank"


def _candidates(names: Sequence[str], x: Sequence[float | None] | None) -> list[tuple[np.ndarray, str]]:
    options: list[tuple[np.ndarray, str]] = []
    if x is not None and all(v is not None and math.isfinite(v) for v in x):
        options.append((np.array(x, float), "x"))
    if len(names) < 2:
        return options
    found = [bits(name) for name in names]
    if all(b is not None for b in found):
        options.append((np.array(found, float), "bits"))
    sizes = [magnitude(name) for name in names]
    if all(s is not None and s > 0 for s in sizes):
        values = np.array(sizes, float)
        if values.max() / values.min() >= 4:
            options.append((np.log2(values), "log2"))
    return options
