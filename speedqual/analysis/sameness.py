"""What must be the same in two runs before they may be compared, and what is not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["KINDS", "Unlike", "differences"]

KINDS = ("set", "prompts", "graders", "params", "machine")
"""Kinds of difference that a gate refuses unless they are accepted."""

_MACHINE = ("system", "architecture", "cpu", "usable_cores")


@dataclass(frozen=True)
class Unlike:
    """``kind``: one of ``KINDS``; ``words`` name it."""

    kind: str
    words: str


def differences(base: Any, new: Any) -> list[Unlike]:
    """Differences that would mislead: eval sets, prompt settings, graders, params, machine.

    The candidate's model and endpoint and the server's version may differ: they are what is compared. Runs without a
    manifest (a bare ``df``) are compared by their items alone.
    """
    old, now = getattr(base, "manifest", None), getattr(new, "manifest", None)
    if not isinstance(old, Mapping) or not isinstance(now, Mapping):
        return []
    return [*_sets(old, now), *_graders(base, new, old, now), *_candidates(old, now), *_machines(old, now)]


def _sets(old: Mapping[str, Any], now: Mapping[str, Any]) -> list[Unlike]:
    before = {e["name"]: e.get("hash") for e in old.get("evalsets", [])}
    after = {e["name"]: e.get("hash") for e in now.get("evalsets", [])}
    if before.keys() != after.keys():
        return [Unlike("set", f"eval sets ({', '.join(before) or 'none'} / {', '.join(after) or 'none'})")]
    return [Unlike("set", f"the content of eval set {name}") for name in before if before[name] != after[name]]


def _graders(base: Any, new: Any, old: Mapping[str, Any], now: Mapping[str, Any]) -> list[Unlike]:
    before = {e["name"]: e.get("grader") for e in old.get("evalsets", [])}
    after = {e["name"]: e.get("grader") for e in now.get("evalsets", [])}
    names = [name for name in before if name in after and before[name] != after[name]]
    out = [Unlike("graders", f"the grader of {name} ({before[name]} / {after[name]})") for name in names]
    versions = _versions(base), _versions(new)
    if versions[0] and versions[1] and versions[0] != versions[1]:
        said = " / ".join(", ".join(sorted(v)) for v in versions)
        out.append(Unlike("graders", f"grader versions ({said})"))
    return out


def _versions(run: Any) -> set[str]:
    grades = [record.grade for record in getattr(run, "records", ()) or () if record.grade is not None]
    return {f"{grade.grader} {grade.version}" for grade in grades}


def _candidates(old: Mapping[str, Any], now: Mapping[str, Any]) -> list[Unlike]:
    before = {c["name"]: c for c in old.get("candidates", [])}
    after = {c["name"]: c for c in now.get("candidates", [])}
    pairs = [(before[name], after[name]) for name in before if name in after]
    if not pairs and len(before) == len(after) == 1:
        pairs = [(*before.values(), *after.values())]
    out = []
    for a, b in pairs:
        keys = sorted({*(a.get("params") or {}), *(b.get("params") or {})})
        unlike = [k for k in keys if (a.get("params") or {}).get(k) != (b.get("params") or {}).get(k)]
        if unlike:
            out.append(Unlike("params", f"params of {b['name']} ({', '.join(unlike)})"))
        prompts = [k for k in ("shots", "system", "cache") if a.get(k) != b.get(k)]
        if prompts:
            out.append(Unlike("prompts", f"prompt settings of {b['name']} ({', '.join(prompts)})"))
    return out


def _machines(old: Mapping[str, Any], now: Mapping[str, Any]) -> list[Unlike]:
    before, after = old.get("machine", {}), now.get("machine", {})
    unlike = [k for k in _MACHINE if before.get(k) != after.get(k)]
    said = ", ".join(f"{k}: {before.get(k)} / {after.get(k)}" for k in unlike)
    return [Unlike("machine", f"the machine ({said})")] if unlike else []
