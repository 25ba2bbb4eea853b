"""Does it compile? One file a language front end; a front end that is not installed gives ``not_checked``."""

from __future__ import annotations

from speedqual.grading.checkers import python
from speedqual.grading.checkers.base import Check

__all__ = ["Check", "check", "python"]


def check(language: str, source: str) -> Check:
    """Check a program in any language but Python, which needs its interpreter chosen."""
    return Check(ok=None, failure="not_checked", why=f"no checker for {language}")
