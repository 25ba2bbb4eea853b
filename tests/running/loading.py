"""What tests of load share: a level with few words, a load test on a scripted endpoint, its entries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from speedqual.records import Candidate
from speedqual.running import Retry, Run
from speedqual.running.load import Level, LoadPlan, health, load_test

from .conftest import toy_evalset

ONCE = Retry(attempts=1)


def on_a_quiet_host(patch: pytest.MonkeyPatch) -> None:
    """No busy machine decides what a test sees: the client is never the limit."""
    patch.setattr(health, "judge", lambda *seen: "")
    patch.setattr(health.LevelHealth, "_why_late", lambda *seen: "")


def level(arrivals: str = "users:1", **fields: Any) -> Level:
    layer, unit = ("concurrency", "users") if arrivals.startswith("users") else ("arrivals", "req/s")
    given = {"layer": layer, "unit": unit, "name": arrivals, "x": 1.0, "evalset": "toy", **fields}
    return Level(arrivals=arrivals, **given)


def someone(base_url: str, name: str = "a", model: str = "m", **fields: Any) -> Candidate:
    return Candidate(name=name, model=model, base_url=base_url, params={"seed": ord(name[0])}, **fields)


async def loaded(base_url: str, folder: Path, *levels: Level, candidates: Any = None, **given: Any) -> Run:
    """A load test of these levels, once in a folder of its own; ``plan`` holds what else the plan says."""
    plan = LoadPlan(levels=levels, **given.pop("plan", {}))
    how = {
        "evalsets": [toy_evalset(4)],
        "retry": ONCE,
        "preflight": False,
        "warm_up": False,
        "folder": folder,
        "environ": {},
        **given,
    }
    return await load_test(candidates or [someone(base_url)], plan, **how)


def entries(run: Run) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = run.manifest["load"]["levels"]
    return found
