"""A drawing made small: coordinates to a hundredth of a point and relative, outlines that are drawn twice kept once."""

from __future__ import annotations

import re
from collections import Counter

__all__ = ["compact"]

_PATH = re.compile(r'<path d="([^"]*)"((?: clip-path="[^"]*")?)((?: style="[^"]*")?)/>')
_D = re.compile(r' d="([^"]*)"')
_STEP = re.compile(r"([MLQCz])([^MLQCz]*)")
_SHARED = 150  # characters from which an outline is worth a definition


def compact(svg: str) -> str:
    """The same picture in fewer characters."""
    short = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    short = re.sub(r">\s+<", "><", re.sub(r"\s*\n\s*", " ", short))
    short = _D.sub(lambda found: f' d="{relative(found[1])}"', short)
    return _once(short)


def relative(path: str) -> str:
    """Absolute moves, lines and curves as relative ones, each rounded so that no error adds up.

    >>> relative("M 10 10 L 12.504 10 L 12.504 11 z")
    'M10 10l2.5 0l0 1z'
    """
    at = start = (0, 0)
    out = []
    for letter, numbers in _STEP.findall(path):
        points = [round(float(number) * 100) for number in numbers.split()]
        pairs = list(zip(points[::2], points[1::2], strict=True))
        origin = (0, 0) if letter == "M" else at
        out.append((letter if letter in "Mz" else letter.lower()) + " ".join(_apart(pair, origin) for pair in pairs))
        at = start if letter == "z" else pairs[-1]
        start = at if letter == "M" else start
    return "".join(out) or path


def _apart(pair: tuple[int, int], origin: tuple[int, int]) -> str:
    return " ".join(_number(value - base) for value, base in zip(pair, origin, strict=True))


def _number(hundredths: int) -> str:
    text = f"{hundredths / 100:.2f}".rstrip("0").rstrip(".")
    return re.sub(r"^(-?)0\.", r"\1.", text)


def _once(svg: str) -> str:
    """A long outline that comes again (a letter's halo and the letter) is defined at the top and used."""
    seen = Counter(found[1] for found in _PATH.finditer(svg) if len(found[1]) >= _SHARED)
    names = {d: f"o{i}" for i, d in enumerate(d for d, n in seen.items() if n > 1)}
    if not names:
        return svg

    def use(found: re.Match[str]) -> str:
        name = names.get(found[1])
        return found[0] if name is None else f'<use href="#{name}"{found[2]}{found[3]}/>'

    head, end, rest = _PATH.sub(use, svg).partition(">")
    outlines = "".join(f'<path id="{name}" d="{d}"/>' for d, name in names.items())
    return f"{head}{end}<defs>{outlines}</defs>{rest}"
