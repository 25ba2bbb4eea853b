"""Does it compile? Each language by its real front end; one that is not installed gives ``not_checked``, never
a verdict.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from speedqual.grading.checkers import compilers, libraries, python, scripts
from speedqual.grading.checkers.base import MAX_SOURCE_BYTES, Check, Checker, gave_up, not_checked

__all__ = ["Check", "Checker", "available_checkers", "check", "python"]

_CHECKERS: dict[str, Checker] = {
    checker.language: checker for checker in (*libraries.CHECKERS, *scripts.CHECKERS, *compilers.CHECKERS)
}


def check(language: str, source: str, context: Mapping[str, Any] | None = None) -> Check:
    """Whether a program compiles, in any language but Python (whose interpreter the grader chooses). Never
    raises for a source.

    ``context``: the row, for what bears on a check (``schema`` of SQL, ``prelude`` and ``stage`` of GLSL,
    ``max_errors``).
    """
    checker = _CHECKERS.get(language)
    if checker is None:
        return not_checked(f"no checker for {language}")
    name = checker.version()
    if not name:
        return not_checked(f"no front end for {language} is installed")
    if len(source.encode("utf-8", "surrogatepass")) > MAX_SOURCE_BYTES:
        return gave_up("the source is larger than 256 KB", name)
    return checker.check(source, context or {})


def available_checkers() -> dict[str, str]:
    """Every language with the front end found on this machine, ``name version``; empty text = not installed."""
    here = f"python {sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}"
    return {"python": here, **{language: checker.version() for language, checker in _CHECKERS.items()}}
