"""One file a section; each offers ``section(context) -> Part | None``. ``ORDER`` is the order on the page."""

from __future__ import annotations

from collections.abc import Callable

from speedqual.report.context import Context
from speedqual.report.page import Part
from speedqual.report.sections.candidates import section as candidates
from speedqual.report.sections.deadlines import section as deadlines
from speedqual.report.sections.failures import section as failures
from speedqual.report.sections.frontier import section as frontier
from speedqual.report.sections.items import section as items
from speedqual.report.sections.ladders import section as ladders
from speedqual.report.sections.layers import section as layers
from speedqual.report.sections.load import section as load
from speedqual.report.sections.load_errors import section as load_errors
from speedqual.report.sections.load_quality import section as load_quality
from speedqual.report.sections.provenance import section as provenance
from speedqual.report.sections.routing import section as routing
from speedqual.report.sections.tails import section as tails
from speedqual.report.sections.tasks import section as tasks
from speedqual.report.sections.validity import section as validity
from speedqual.report.sections.verdict import section as verdict

__all__ = ["ORDER"]

ORDER: tuple[Callable[[Context], Part | None], ...] = (
    verdict,
    frontier,
    deadlines,
    ladders,
    tasks,
    routing,
    load,
    load_quality,
    tails,
    layers,
    load_errors,
    candidates,
    failures,
    items,
    validity,
    provenance,
)
