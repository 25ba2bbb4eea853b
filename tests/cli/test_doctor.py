"""``speedqual doctor``: each finding says what follows from it, and how to get what is missing."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from command import Call

from speedqual.cli import findings
from speedqual.grading.sandbox import Probe


def test_findings_stand_under_what_they_are_for(call: Call) -> None:
    lines = call("doctor").out.splitlines()
    rooms = [line for line in lines if not line.startswith(" ")]
    assert rooms == ["To measure", "To grade", "To show"]
    assert (
        lines.index("To grade")
        < next(i for i, line in enumerate(lines) if " sandbox " in line)
        < lines.index("To show")
    )


def test_a_missing_front_end_says_what_to_install() -> None:
    assert findings._checker("rust", "").says == "programs in it are not checked; install rustc"
    assert findings._checker("rust", "rustc 1.95.0").state == "good"


def test_a_missing_package_names_its_extra() -> None:
    found = findings._packages("notebooks", ("json", "no_such_package"), "lab", "live views")
    assert (found.state, found.says) == (
        "missing", "no no_such_package: pip install 'speedqual[lab]' (live views)",
    )  # fmt: skip


def test_a_sandbox_that_leaks_is_none_and_its_doors_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("speedqual.grading.sandbox.possible_backends", lambda: ("bubblewrap", "landlock"))
    probes = {"bubblewrap": Probe("bubblewrap", (), "no user namespaces"), "landlock": Probe("landlock", ("fork",))}
    monkeypatch.setattr("speedqual.grading.sandbox.probe", lambda backend: probes[backend])
    (found,) = findings._sandbox()
    assert found.state == "missing" and "bubblewrap: no user namespaces; landlock: open: fork" in found.says


def test_many_models_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    models = [SimpleNamespace(name=f"m{'x' * i}") for i in range(6)]
    monkeypatch.setattr("speedqual.endpoints.local.list_models", lambda: models)
    (found,) = findings._local()
    assert found.says == "m, mx, mxx and 3 more (speedqual local list)"


def test_little_room_is_bad_and_ends_with_1(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(findings.shutil, "disk_usage", lambda path: SimpleNamespace(free=200e6))
    said = call("doctor", "--json")
    disk = next(finding for finding in json.loads(said.out) if finding["what"] == "disk")
    assert said.code == 1 and disk["state"] == "bad" and "0.2 GB free" in disk["says"]


def test_no_path_is_shown(call: Call) -> None:
    assert str(Path.home()) not in call("doctor").out
