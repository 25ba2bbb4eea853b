"""Every notebook runs top to bottom on the scripted endpoint, and its two forms say the same."""

from __future__ import annotations

import os
from pathlib import Path

import jupytext
import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
SOURCES = sorted(NOTEBOOKS.glob("*.py"))


def test_there_are_notebooks() -> None:
    assert [path.stem for path in SOURCES][:1] == ["01_quickstart"]


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_both_forms_say_the_same_and_hold_no_output(source: Path) -> None:
    written, paired = jupytext.read(source), nbformat.read(source.with_suffix(".ipynb"), as_version=4)
    assert [(cell.cell_type, cell.source) for cell in written.cells] == [
        (cell.cell_type, cell.source) for cell in paired.cells
    ]
    assert not [cell for cell in paired.cells if cell.get("outputs") or cell.get("execution_count")]


@pytest.mark.slow
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_it_runs(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPEEDQUAL_SCRIPTED", "1")
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    notebook = jupytext.read(source)
    client = NotebookClient(
        notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute(env=dict(os.environ))
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    html = "".join(output.get("data", {}).get("text/html", "") for output in shown)
    assert "Traceback" not in html and "http://" not in html and "https://" not in html
    assert (tmp_path / "report.html").is_file()
