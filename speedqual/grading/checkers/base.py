"""What a check says."""

from __future__ import annotations

from dataclasses import dataclass

from speedqual.records import Failure

__all__ = ["MAX_SOURCE_BYTES", "Check", "gave_up"]

MAX_SOURCE_BYTES = 256 << 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """``ok`` None = not known, with the reason in ``failure`` (``not_checked`` | ``checker_gave_up``)."""

    ok: bool | None
    failure: Failure = "none"
    why: str = ""
    checker: str = ""  # name and version of the front end
    warnings: tuple[str, ...] = ()


def gave_up(why: str, checker: str = "") -> Check:
    """The front end reached a limit: that says nothing of the program."""
    return Check(ok=None, failure="checker_gave_up", why=why, checker=checker)
