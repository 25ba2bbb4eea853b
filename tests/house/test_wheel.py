"""The wheel holds all that a run needs, and nothing heavy."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(command, check=True)
    return next(folder.glob("speedqual-*.whl"))


@pytest.mark.slow
def test_it_is_small_and_whole(wheel: Path) -> None:
    assert wheel.stat().st_size < 2_000_000
    names = set(zipfile.ZipFile(wheel).namelist())
    sources = {path.relative_to(ROOT).as_posix() for path in (ROOT / "speedqual").rglob("*") if path.is_file()}
    wanted = {name for name in sources if "__pycache__" not in name}
    assert wanted <= names
    for evalset in ("code", "extraction", "facts"):
        assert {f"speedqual/_builtin_evalsets/{evalset}/{file}" for file in ("README.md", "test.jsonl")} <= names
    assert not [name for name in names if name.startswith(("tests/", "evalsets/", "notebooks/", "benchmarks/"))]


@pytest.mark.slow
def test_the_built_in_sets_load_from_the_wheel_alone(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    code = "import speedqual.evalsets as e; print(speedqual.__file__, *(len(s.items) for s in e.minimal_sets()))"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r}); import speedqual; {code}"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    assert str(tmp_path) in done.stdout
    assert done.stdout.split()[1:] == ["8", "8", "8"]
