"""The package is quick to import, and its public surface is what it says."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

import pytest

import speedqual

HEAVY = {
    "numpy",
    "pandas",
    "scipy",
    "aiohttp",
    "datasets",
    "evaluate",
    "matplotlib",
    "seaborn",
    "IPython",
    "statsmodels",
}


def _loaded(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(*sorted(m for m in sys.modules if '.' not in m))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "statement",
    ["import speedqual", "from speedqual.cli import main\ntry:\n main(['--help'])\nexcept SystemExit:\n pass"],
)
def test_importing_and_asking_for_help_load_nothing_heavy(statement: str) -> None:
    assert not _loaded(statement) & HEAVY


@pytest.mark.timing
@pytest.mark.parametrize("arguments", [["-c", "import speedqual"], ["-m", "speedqual", "--help"]])
def test_start_up_is_quick(arguments: list[str]) -> None:
    """The bar is 0.3 s on a quiet machine; a shared one gets three times that."""
    took = []
    for _ in range(5):
        begin = time.perf_counter()
        subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
        took.append(time.perf_counter() - begin)
    assert statistics.median(took) < 0.9


def test_the_public_surface_is_what_was_decided() -> None:
    assert speedqual.__all__ == [
        "__version__",
        "Candidate",
        "Cliffs",
        "EvalSet",
        "Frontier",
        "Limits",
        "LiveView",
        "Plane",
        "Race",
        "Retry",
        "Run",
        "Scoreboard",
        "SpeedqualError",
        "candidate",
        "evaluate",
        "from_table",
        "load_evalset",
        "load_test",
        "run_sync",
        "with_grader",
        "write_report",
    ]


def test_every_public_name_is_there_and_documented() -> None:
    for name in speedqual.__all__:
        value = getattr(speedqual, name)
        assert name == "__version__" or value.__doc__, name


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = speedqual.nothing
