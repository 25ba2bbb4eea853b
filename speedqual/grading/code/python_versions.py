"""Which Python a set asks for, which one is here, and which one a syntax would need."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from speedqual.errors import EvalSetError
from speedqual.grading.sandbox import Interpreter, interpreter

__all__ = ["interpreter_for", "needs"]

_NEWER = (
    (re.compile(r"^\s*except\s+[\w.]+\s*,\s*[\w.]+[^:()]*:", re.MULTILINE), "3.14"),
    (re.compile(r"(?<![\w\\])(?:t|rt|tr)[\"']", re.IGNORECASE), "3.14"),
    (re.compile(r"^\s*type\s+\w+(?:\[[^\n]*?\])?\s*=", re.MULTILINE), "3.12"),
    (re.compile(r"^\s*(?:async\s+)?(?:def|class)\s+\w+\s*\[", re.MULTILINE), "3.12"),
    (re.compile(r"\bf(?P<q>[\"'])(?:[^\"'{}\n\\]|\{\{|\}\})*\{[^{}\n]*(?P=q)[^{}\n]*(?P=q)[^{}\n]*\}"), "3.12"),
)
_CANDIDATES = tuple(f"python3.{minor}" for minor in range(11, 16))


def needs(source: str, version: str) -> str:
    """The first Python that knows a syntax of ``source`` that ``version`` does not; empty when none is seen."""
    here = _pair(version)
    found = [need for pattern, need in _NEWER if _pair(need) > here and pattern.search(source)]
    return min(found, key=_pair, default="")


def _pair(version: str) -> tuple[int, int]:
    major, minor, *_ = version.split(".")
    return int(major), int(minor)


def specifier(asked: str, where: str) -> SpecifierSet:
    """``3.11`` means any 3.11; else a version specifier such as ``>=3.11``. Raises EvalSetError for anything else."""
    asked = asked.strip()
    try:
        return SpecifierSet(f"=={asked}.*" if re.fullmatch(r"\d+\.\d+", asked) else asked)
    except InvalidSpecifier as fault:
        raise EvalSetError(f"python: {asked!r} is no version", where=where, fix='Write "3.11" or ">=3.11".') from fault


@cache
def interpreter_for(asked: str, where: str) -> Interpreter | None:
    """This process's Python when it fits, else one on the path that does, else None."""
    wanted = specifier(asked, where)
    paths = ["", *(found for name in _CANDIDATES if (found := shutil.which(name)))]
    for path in paths:
        try:
            here = interpreter(path)
        except (OSError, ValueError, subprocess.SubprocessError):
            continue
        if wanted.contains(here.version, prereleases=True) and _pair(here.version) >= (3, 11):
            return here
    return None
