"""One file a section; each offers ``section(context) -> Part | None``. ``ORDER`` is the order on the page."""

from __future__ import annotations

from collections.abc import Callable

from speedqual.report.context import Context
from speedqual.report.page import Part
from speedqual.report.sections import candidates, failures, frontier, ladders, provenance, tasks, verdict

__all__ = ["ORDER"]

ORDER: tuple[Callable[[Context], Part | None], ...] = (
    verdict.section,
    frontier.section,
    ladders.section,
    tasks.section,
    candidates.section,
    failures.section,
    provenance.section,
)
