"""What follows from the numbers: frontiers, cliffs, deadlines, routes, costs, gates.

Each analysis is a frozen dataclass of parameters, called on a run, its ``df`` or ``from_table(…)``; it returns an
object with a table, a verdict in words, ``plot()`` and ``to_dict()``. Names are imported when first used.
"""

from __future__ import annotations

from typing import Any

from speedqual.lazy import found

_HOMES = {
    "Cliffs": "cliffs",
    "CliffsResult": "cliffs",
    "ColdStarts": "load.cold",
    "FirstUsable": "first_usable",
    "FirstUsableResult": "first_usable",
    "Frontier": "frontier",
    "FrontierResult": "frontier",
    "Interval": "intervals",
    "Knee": "load.knee",
    "LatencyByLoad": "load.latency",
    "Lengths": "load.lengths",
    "Levels": "load.levels",
    "LoadErrors": "load.errors",
    "Prefix": "load.prefix",
    "QualityUnderLoad": "load.quality",
    "RunTimeline": "load.timeline",
    "Saturation": "load.saturation",
    "Table": "tidy",
    "from_table": "brought",
    "judge_level": "load.judging",
    "mean_interval": "intervals",
    "quantile_interval": "intervals",
    "wilson": "intervals",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    return found(__name__, _HOMES, name)
