"""A routing policy as a candidate, ``route:policy.json``: a fast lane with a strong one behind it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from speedqual.errors import ConfigError, UsageError
from speedqual.records import Candidate, EvalSet, Item, content_hash
from speedqual.running.policy import Policy

__all__ = ["ENDPOINT", "Route", "asked", "asked_by", "asked_of", "known_before", "with_lanes", "with_routes"]

ENDPOINT = "route"
"""What stands in the column ``endpoint`` for a route."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route(Candidate):
    """A candidate that asks others: ``fast`` or ``strong``, as ``policy`` says."""

    policy: Policy
    fast: Candidate
    strong: Candidate

    @property
    def id(self) -> str:
        """Content hash of the policy and of both lanes' own ids; their names do not matter."""
        return content_hash(
            {"endpoint": ENDPOINT, **self.policy.to_dict(), "fast": self.fast.id, "strong": self.strong.id}
        )


def with_routes(candidates: Sequence[Candidate], known: Iterable[Candidate] = ()) -> list[Candidate]:
    """The same, with each ``route:FILE`` read and joined to its lanes.

    Lanes are found by name among ``candidates`` and ``known``. Raises ConfigError naming one that is missing.
    """
    by_name = {one.name: one for one in (*known, *candidates)}
    return [_joined(one, by_name) if _is_unread(one) else one for one in candidates]


def _is_unread(candidate: Candidate) -> bool:
    return candidate.endpoint == ENDPOINT and not isinstance(candidate, Route)


def _joined(named: Candidate, by_name: Mapping[str, Candidate]) -> Route:
    policy = Policy.load(named.model)
    where = Path(named.model).name
    if policy.fast == policy.strong:
        raise ConfigError("fast and strong are the same candidate", where=where, fix="Name two")
    fast, strong = (_lane(name, by_name, where) for name in (policy.fast, policy.strong))
    return Route(
        name=named.name,
        endpoint=ENDPOINT,
        model=f"{fast.model} → {strong.model}",
        ladder=named.ladder,
        rung=named.rung,
        x=named.x,
        tags=named.tags,
        policy=policy,
        fast=fast,
        strong=strong,
    )


def _lane(name: str, by_name: Mapping[str, Candidate], where: str) -> Candidate:
    if name not in by_name:
        known = ", ".join(other for other, one in by_name.items() if one.endpoint != ENDPOINT)
        fix = f"Give it beside the route or in the settings file; known: {known or 'none'}"
        raise ConfigError(f"the policy needs a candidate {name!r} and there is none", where=where, fix=fix)
    if by_name[name].endpoint == ENDPOINT:
        raise ConfigError(f"the lane {name!r} is a route itself", where=where, fix="Name a candidate with a model")
    return by_name[name]


def with_lanes(route: Route, known: Mapping[str, Candidate]) -> Route:
    """The route with its lanes replaced by those of the same names in ``known``, which have their headers."""
    fast, strong = (known.get(lane.name, lane) for lane in (route.fast, route.strong))
    return replace(route, fast=fast, strong=strong)


def asked_by(candidate: Candidate) -> tuple[Candidate, ...]:
    """Those who get the requests: the lanes of a route, else the candidate itself."""
    return (candidate.fast, candidate.strong) if isinstance(candidate, Route) else (candidate,)


def asked_of(candidate: Candidate, evalset: EvalSet, item: Item) -> tuple[Candidate, ...]:
    """Those who may get this item: of a route only the strong lane where the policy passes the fast one by."""
    if isinstance(candidate, Route) and not candidate.policy.goes_fast(known_before(evalset, item)):
        return (candidate.strong,)
    return asked_by(candidate)


def asked(candidates: Iterable[Candidate]) -> dict[str, Candidate]:
    """By name all who get requests, each once. Raises UsageError when a name means two."""
    found: dict[str, Candidate] = {}
    for candidate in candidates:
        for one in asked_by(candidate):
            if found.setdefault(one.name, one) != one:
                raise UsageError(f"two candidates are named {one.name!r}", fix="Give each a name of its own")
    return found


def known_before(evalset: EvalSet, item: Item) -> dict[str, Any]:
    """What a policy may choose by: the item's columns, and what the table calls difficulty, cluster, language, task."""
    named = {"difficulty": item.difficulty, "cluster": item.cluster, "language": item.language}
    return {**item.row, **named, "task": evalset.task, "evalset": evalset.name}
