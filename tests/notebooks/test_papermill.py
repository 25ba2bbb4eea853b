"""Papermill sets the parameters of a notebook as it is committed, and keeps the outputs beside it."""

from __future__ import annotations

from pathlib import Path

import nbformat
import papermill
import pytest
from render import HERE, kernel_environment


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_papermill_runs_a_notebook_with_its_parameters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in kernel_environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    target = tmp_path / "done.ipynb"
    papermill.execute_notebook(
        str(HERE / "03_frontiers_and_cliffs.ipynb"),
        str(target),
        parameters={"ENGINE": "scripted", "ITEMS": 4},
        cwd=str(tmp_path),
        progress_bar=False,
    )
    done = nbformat.read(target, as_version=4)
    injected = next(cell for cell in done.cells if "injected-parameters" in cell.metadata.get("tags", []))
    assert 'ENGINE = "scripted"' in injected.source and "ITEMS = 4" in injected.source
    assert "20 trials" in "".join(str(cell.get("outputs")) for cell in done.cells)  # 4 tickets × 5 versions
