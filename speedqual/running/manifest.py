"""The manifest: all that one must know to believe a run, and nothing that names its owner.

No host name, no user name, no absolute path, no key, no header value, no query of a URL.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from speedqual import __version__
from speedqual.clock import Clock
from speedqual.endpoints.access import bare_url
from speedqual.records import Candidate, EvalSet, Price
from speedqual.running.plan import Plan
from speedqual.running.route import Route
from speedqual.running.settings import Settings

__all__ = ["FORMAT", "HIDDEN", "candidates_of", "new_manifest", "new_session", "starts_ns"]

FORMAT = 1
HIDDEN = "[not kept]"
_PACKAGES = ("aiohttp", "datasets", "evaluate", "genai-prices", "numpy", "pandas", "pyarrow", "scipy", "xllamacpp")


def new_manifest(
    run: str, plan: Plan, settings: Settings, prices: Mapping[str, Price | None], clock: Clock
) -> dict[str, Any]:
    """The manifest of a run that begins."""
    return {
        "format": FORMAT,
        "run": run,
        "status": "running",
        "why": "",
        "created": _iso(clock.wall_ns()),
        "seed": settings.seed,
        "settings": settings.to_dict(),
        "n_trials": len(plan.trials),
        "candidates": [_candidate(candidate) for candidate in plan.candidates.values()],
        "evalsets": _evalsets(plan.evalsets.values()),
        "prices": {name: price.to_dict() if price else None for name, price in prices.items()},
        "speedqual": __version__,
        "versions": versions(),
        "machine": machine(),
        "clock": clock_facts(),
        "sessions": [],
        "served": {},
        "client": {},
        **({} if plan.load is None else {"load": dict(plan.load)}),
    }


def starts_ns(manifest: Mapping[str, Any]) -> dict[int, int]:
    """The start of the run on each session's monotonic clock; sessions are tied together by their wall anchors."""
    anchors = [session["anchor"] for session in manifest["sessions"]]
    return {
        number: anchor["monotonic_ns"] - (anchor["wall_ns"] - anchors[0]["wall_ns"])
        for number, anchor in enumerate(anchors)
    }


def new_session(clock: Clock, settings: Settings) -> dict[str, Any]:
    """One call of evaluate with its own limits. Its anchor ties the monotonic clock to the wall, once."""
    anchor = {"monotonic_ns": clock.now_ns(), "wall_ns": clock.wall_ns()}
    return {
        "started": _iso(anchor["wall_ns"]),
        "anchor": anchor,
        "settings": settings.to_dict(),
        "ended": None,
        "status": "running",
        "client": {},
    }


def _iso(wall_ns: int) -> str:
    return datetime.fromtimestamp(wall_ns / 1e9, UTC).isoformat(timespec="milliseconds")


def _candidate(candidate: Candidate) -> dict[str, Any]:
    """Of a route the lanes as well, so that the run can be read and resumed without the policy's file."""
    hidden = dict.fromkeys(candidate.headers, HIDDEN)
    url = bare_url(candidate.base_url) if candidate.base_url else ""
    kept = {**candidate.to_dict(), "id": candidate.id, "headers": hidden, "base_url": url}
    if isinstance(candidate, Route):
        kept |= {"fast": _candidate(candidate.fast), "strong": _candidate(candidate.strong)}
    return kept


def candidates_of(manifest: Mapping[str, Any]) -> tuple[Candidate, ...]:
    """The candidates of a run. Values of headers are not kept: those that had some cannot be asked again by these."""
    return tuple((Route if "policy" in data else Candidate).from_dict(data) for data in manifest["candidates"])


def _evalsets(sets: Iterable[EvalSet]) -> list[dict[str, Any]]:
    """Sets that differ in name, floor or repeats alone have one hash, and each its file."""
    seen: Counter[str] = Counter()
    kept = []
    for evalset in sets:
        seen[evalset.hash] += 1
        n = seen[evalset.hash]
        kept.append(_evalset(evalset, evalset.hash if n == 1 else f"{evalset.hash}-{n}"))
    return kept


def _evalset(evalset: EvalSet, file: str) -> dict[str, Any]:
    return {
        "name": evalset.name,
        "hash": evalset.hash,
        "file": file,
        "task": evalset.task,
        "version": evalset.version,
        "licence": evalset.licence,
        "n_items": len(evalset.items),
        "grader": evalset.grader.name,
    }


def versions() -> dict[str, str]:
    """The interpreter, and the libraries that figures rest on."""
    found = {"python": f"{platform.python_implementation()} {platform.python_version()}"}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def clock_facts() -> dict[str, Any]:
    """The clock that dates sends; what dated the arrivals stands with each stream."""
    info = time.get_clock_info("perf_counter")
    return {"name": "perf_counter_ns", "implementation": info.implementation, "resolution_s": info.resolution}


def machine() -> dict[str, Any]:
    """What kind of machine asked: no name of it or of its user."""
    return {
        "system": platform.system(),
        "release": platform.release().split("-")[0],
        "architecture": platform.machine(),
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "usable_cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gb": _memory_gb(),
        "byte_order": sys.byteorder,
    }


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())


def _memory_gb() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)
    except (AttributeError, ValueError, OSError):
        return None
