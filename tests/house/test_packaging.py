"""What the files at the top level promise of each other."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _name(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9_.-]+", requirement)
    assert found
    return found.group().lower().replace("_", "-")


def _wanted() -> dict[str, str]:
    extras = PROJECT["optional-dependencies"]
    return {_name(r): r.replace(" ", "") for r in PROJECT["dependencies"] + extras["lab"] + extras["local"]}


def test_the_conda_environment_asks_for_what_the_package_asks_for() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    conda = [entry for entry in environment["dependencies"] if isinstance(entry, str)]
    pip = next(entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict))
    asked = {_name(r): r.replace(" ", "") for r in [*conda, *pip] if not r.startswith(("python ", "pip", "-e "))}
    assert asked == _wanted()
    assert f"python {PROJECT['requires-python']}" in conda
    assert "-e ." in pip


def test_every_dependency_is_pinned_without_an_address() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    pinned = {_name(line) for line in lines}
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==[A-Za-z0-9_.!+-]+", line) for line in lines)
    extras = PROJECT["optional-dependencies"]
    needed = set(_wanted()) | {_name(r) for r in extras["test"] + extras["docs"]}
    assert needed <= pinned


def test_the_base_install_has_no_heavy_framework() -> None:
    assert not {_name(r) for r in PROJECT["dependencies"]} & {"torch", "transformers", "jax", "tensorflow"}
