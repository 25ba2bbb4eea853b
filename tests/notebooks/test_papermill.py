"""Papermill sets the parameters of a notebook as it is committed, and keeps the outputs beside it."""

from __future__ import annotations

from pathlib import Path

import nbformat
import papermill
import pytest
from render import HERE, kernel_environment


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.filterwarnings("ignore::DeprecationWarning:papermill")
def test_papermill_runs_the_quickstart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in kernel_environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    target = tmp_path / "done.ipynb"
    papermill.execute_notebook(
        str(HERE / "01_quickstart.ipynb"),
        str(target),
        parameters={"ENGINE": "scripted", "ITEMS": 2},
        cwd=str(tmp_path),
        progress_bar=False,
    )
    done = nbformat.read(target, as_version=4)
    injected = next(cell for cell in done.cells if "injected-parameters" in cell.metadata.get("tags", []))
    assert 'ENGINE = "scripted"' in injected.source and "ITEMS = 2" in injected.source
    assert (tmp_path / "report.html").is_file()
    assert "36 trials" in "".join(str(cell.get("outputs")) for cell in done.cells)  # 3 sets × 2 items × 6 candidates
